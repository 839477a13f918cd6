import Foundation
import Logging
import SpeechPipeline
import SpeechStreaming
import VoiceAudio
import VoiceCore
import VoiceServer
import VoiceTesting

/// The acts of the demonstration.
struct DemoStage: Sendable {
  let recording: DemoRecording
  let context: CommandContext
  let json: Bool

  /// What one pass over the recording gave.
  struct Pass: Hashable, Sendable {
    var status: ExitStatus
    var words: [String]
    var recoveries: [SpeechRecovery]
    var losses: [VoiceFailure]
    var failures: [VoiceFailure]
  }

  private var output: Console.Stream { self.context.console.output }
  private var symbols: Console.Symbols { self.context.console.symbols }

  /// Starts the server, runs both passes and compares them.
  func perform(engine: any RecognitionEngine, dataFolder: String) async throws(VoiceFailure) -> ExitStatus {
    self.say(StyledText("voice demo", .bold) + StyledText("  speech recognition with a server of your own", .dim))
    self.say()
    let server = VoiceServer(
      configuration: ServerConfiguration(grpcPort: 0, httpPort: 0, dataFolder: dataFolder), engine: engine,
      clock: self.context.clock, logger: Logger(label: "voice.demo") { _ in SwiftLogNoOpLogHandler() })
    do {
      return try await withThrowingTaskGroup(of: Void.self) { group in
        group.addTask { try await server.run() }
        defer { group.cancelAll() }
        let start = self.context.clock.now
        let addresses = try await server.addresses
        self.act(
          1, "Server",
          "ready at \(addresses.grpc) with \(engine.name), after \(Phrases.duration(start.duration(to: self.context.clock.now)))")
        let status = try await self.passes(addresses)
        server.beginGracefulShutdown()
        return status
      }
    } catch {
      throw error as? VoiceFailure ?? VoiceFailure(.unexpected, cause: error)
    }
  }

  private func passes(_ addresses: ListenAddresses) async throws -> ExitStatus {
    let length = try await AudioFileSource(path: self.recording.path).information().duration ?? .zero
    self.act(2, "Live", "a recording of \(Phrases.duration(length)) from LibriVox, sent as fast as it was read")
    let identity = "grpc://\(addresses.grpc)"
    let first = await self.pass(speech: identity, identity: identity)
    guard first.status == .done else { return first.status }
    self.compare(first.words)

    self.act(3, "Broken", "the same again; the connection is reset in the middle, and the next two tries fail")
    let second = try await withImpairedLink(port: addresses.grpc.port, plan: Self.plan(for: length)) { link in
      await self.pass(speech: "grpc://127.0.0.1:\(link.port)", identity: identity)
    }
    guard second.status == .done else { return second.status }
    let status = self.judge(first, second)
    if status == .done { self.goodbye() }
    return status
  }

  /// Resets the stream's connection when half of the audio has passed, and the two that follow at once.
  static func plan(for length: Duration) -> LinkPlan {
    // 16-bit samples at 16 kHz; what HTTP/2 adds does not matter for the middle.
    let bytes = Int(length / .seconds(1) * 32_000)
    var plan = LinkPlan()
    plan.connections[0] = LinkPlan.Connection(cut: LinkPlan.Cut(.toTarget, afterBytes: bytes / 2, .reset))
    plan.connections[1] = LinkPlan.Connection(isRejected: true)
    plan.connections[2] = LinkPlan.Connection(isRejected: true)
    return plan
  }

  private func pass(speech: String, identity: String) async -> Pass {
    var configuration = SpeechClient.Configuration(app: .app(ServerConfiguration.App.demo.id))
    configuration.speechAddress = speech
    configuration.identityAddress = identity
    configuration.cache = ForgetfulCache()
    configuration.deviceId = UUID()
    let backend = ServerBackend(configuration: configuration)
    let input = RecognitionInput.file(self.recording.path, raw: nil, pacing: .realTime, clock: self.context.clock)
    let console = self.context.console
    if self.json { return await self.run(backend, input, JSONPresenter(console: console)) }
    if console.output.movesCursor {
      let presenter = LivePresenter(console: console, namesSources: false, margin: 3, hasLiveInput: false)
      return await self.run(backend, input, presenter)
    }
    return await self.run(backend, input, PlainPresenter(console: console, prefix: .margin(3)))
  }

  private func run(
    _ backend: ServerBackend, _ input: RecognitionInput, _ presenter: some RecognitionPresenter
  ) async -> Pass {
    var run = RecognitionRun(
      backend: backend, inputs: [input], presenter: RecordingPresenter(presenter),
      stopSignals: { AsyncStream { $0.finish() } })
    let status = await run.run()
    return Pass(
      status: status, words: run.presenter.words, recoveries: run.presenter.recoveries,
      losses: run.presenter.losses, failures: run.presenter.failures)
  }

  // MARK: Words for the person

  private func compare(_ words: [String]) {
    let alignment = Alignment(reference: Alignment.words(of: self.recording.reference), hypothesis: words)
    if self.json {
      self.output.write(
        JSONValue.object([
          "event": .string("comparison"), "reference": .string(self.recording.reference),
          "heard": .string(words.joined(separator: " ")), "wordErrorRate": .decimal(alignment.errorRate),
        ]).text + "\n")
      return
    }
    self.say()
    self.output.line(StyledText("   read   ", .dim) + StyledText(self.recording.reference), indent: 10)
    self.output.line(StyledText("   heard  ", .dim) + alignment.marked, indent: 10)
    let percent = Int((alignment.errorRate * 100).rounded())
    self.output.line(
      StyledText("   word error rate ", .dim) + StyledText("\(percent) %", .bold)
        + StyledText("  \(alignment.summary)", .dim), indent: 10)
  }

  /// Says whether the cut did any harm.
  func judge(_ first: Pass, _ second: Pass) -> ExitStatus {
    let isSame = first.words == second.words && !first.words.isEmpty
    let status: ExitStatus = isSame && !second.recoveries.isEmpty ? .done : .network
    if self.json {
      self.output.write(
        JSONValue.object([
          "event": .string("verdict"), "sameWords": .bool(isSame), "recovered": .bool(!second.recoveries.isEmpty),
          "lost": .integer(second.losses.count),
        ]).text + "\n")
      return status
    }
    self.say()
    if second.recoveries.isEmpty {
      self.verdict(false, "The connection was not cut, or the client did not recover: nothing was shown.")
    } else if isSame {
      self.verdict(true, "The same \(first.words.count) words: none lost, none twice.")
    } else {
      self.verdict(false, "Other words than without the cut:")
      let difference = Alignment(reference: first.words, hypothesis: second.words)
      self.output.line(StyledText("     ") + difference.marked, indent: 5)
    }
    return status
  }

  private func verdict(_ isGood: Bool, _ text: String) {
    let style: TextStyle = isGood ? .green : .red
    self.output.line(
      StyledText("   \(isGood ? self.symbols.good : self.symbols.bad) ", [style, .bold]) + StyledText(text, [style, .bold]),
      indent: 5)
  }

  private func goodbye() {
    guard !self.json else { return }
    let name = self.context.programName
    self.say()
    self.say(StyledText("Next", .bold))
    for (command, purpose) in [
      ("\(name) recognize \(Self.quoted(self.recording.path, on: self.output))", ""),
      ("\(name) recognize --mic", "talk to it"),
      ("\(name) serve", "a server for your apps"),
      ("\(name) failures", "what can fail, and what happens then"),
    ] {
      self.output.line(StyledText("  \(command)", .bold) + StyledText(purpose.isEmpty ? "" : "   \(purpose)", .dim), indent: 4)
    }
  }

  /// The path, or a word in its place where it would not fit on a line.
  private static func quoted(_ path: String, on output: Console.Stream) -> String {
    output.isTerminal && path.count + 30 > output.size.width ? "FILE" : path
  }

  private func act(_ number: Int, _ title: String, _ text: String) {
    if number > 1 { self.say() }
    let padding = String(repeating: " ", count: max(1, 8 - title.count))
    self.say(StyledText("\(number)  ", .dim) + StyledText(title + padding, .bold) + StyledText(text), indent: 11)
  }

  private func say(_ line: StyledText = "", indent: Int = 0) {
    guard !self.json else { return }
    self.output.line(line, indent: indent)
  }
}

/// Keeps nothing: the demonstration leaves no token behind.
private struct ForgetfulCache: CacheProtocol {
  func setValue(_ value: String, forKey key: String) {}
  func getValue(forKey key: String) -> String? { nil }
}
