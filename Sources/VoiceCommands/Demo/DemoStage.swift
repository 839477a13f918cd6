import Foundation
import Logging
import SpeechPipeline
import SpeechStreaming
import VoiceAudio
import VoiceCore
import VoicePlatform
import VoiceServer
import VoiceTesting

/// The acts of the demonstration.
struct DemoStage: Sendable {
  /// What is streamed; the last one also with a broken connection.
  let recordings: [DemoRecording]
  /// What is said to the demo app.
  let commands: [SpokenCommand]
  /// Who says it.
  let synthesizer: any SpeechSynthesizer
  let context: CommandContext
  let json: Bool

  /// What one pass over the recording gave.
  struct Pass: Hashable, Sendable {
    var status = CommandStatus.done
    var words: [String] = []
    var segments: [TranscriptSegment] = []
    var recoveries: [SpeechRecovery] = []
    var losses: [VoiceFailure] = []
    var degradations: [SpeechDegradation] = []
  }

  var output: Console.Stream { self.context.console.output }
  var symbols: Console.Symbols { self.context.console.symbols }

  /// Starts the server, runs both passes and compares them, speaks the commands, and places a call.
  func perform(engine: any RecognitionEngine, folder: String) async throws(VoiceFailure) -> CommandStatus {
    self.say(
      StyledText("voice demo", .bold) + StyledText("  speech recognition and calls with a server of your own", .dim))
    self.say()
    var configuration = ServerConfiguration(grpcPort: 0, httpPort: 0, dataFolder: folder + "/server")
    let callers = Self.callers()
    configuration.calls.users = callers
    let server = VoiceServer(
      configuration: configuration, engine: engine,
      clock: self.context.clock, logger: Logger(label: "voice.demo") { _ in SwiftLogNoOpLogHandler() })
    do {
      return try await withThrowingTaskGroup(of: Void.self) { group in
        group.addTask { try await server.run() }
        defer { group.cancelAll() }
        let start = self.context.clock.now
        let addresses = try await server.addresses
        self.act(
          1, "Server",
          "ready at \(addresses.grpc) with \(engine.name), after \(Phrases.duration(start.duration(to: self.context.clock.now)))"
        )
        let broken = try await self.passes(addresses, engine: engine)
        guard broken != .interrupted else { return broken }
        let address = "grpc://\(addresses.grpc)"
        let commands = await self.commands(address, folder: folder + "/voices")
        guard commands != .interrupted else { return commands }
        let call = await self.phoneCall(addresses, callers, folder: folder + "/voices")
        let status = broken.combined(with: commands).combined(with: call)
        if status == .done { self.goodbye() }
        server.beginGracefulShutdown()
        return status
      }
    } catch {
      throw error as? VoiceFailure ?? VoiceFailure(.unexpected, cause: error)
    }
  }

  private func passes(
    _ addresses: ListenAddresses, engine: any RecognitionEngine
  ) async throws -> CommandStatus {
    let address = "grpc://\(addresses.grpc)"
    self.act(2, "Live", "recordings sent as fast as they were spoken, through the client that apps use")
    var whole = Pass()
    var first: Pass?
    for recording in self.recordings {
      self.title(recording)
      whole = await self.pass(recording, speech: address, identity: address)
      if Task.isCancelled { return .interrupted }
      guard whole.status == .done else { return whole.status }
      self.compare(recording, whole.words)
      first = first ?? whole
    }
    guard let recording = self.recordings.last else { return .done }

    self.act(
      3, "Broken",
      "the last one again: its connection is reset half-way, and the server stays away for \(Phrases.duration(Self.absence))"
    )
    let plan = try await Self.plan(for: recording)
    let broken = try await withImpairedLink(port: addresses.grpc.port, plan: plan) { link in
      async let isBack: Void = self.endAbsence(of: link)
      let pass = await self.pass(recording, speech: "grpc://127.0.0.1:\(link.port)", identity: address)
      try? await isBack
      return pass
    }
    if Task.isCancelled { return .interrupted }
    guard broken.status == .done else { return broken.status }
    let status = self.judge(whole, broken)
    guard let short = self.recordings.first, let first else { return status }
    return status.combined(
      with: try await self.losesServer(short, heard: first.words, addresses: addresses, engine: engine))
  }

  /// How long the server cannot be reached after the cut.
  private static let absence = Duration.milliseconds(1200)

  /// Resets the first connection when half of the audio has passed, and all others at once.
  static func plan(for recording: DemoRecording) async throws -> LinkPlan {
    let samples = try await recording.sampleCount()
    var plan = LinkPlan(everyConnection: LinkPlan.Connection(isRejected: true))
    // What the protocol adds to the samples does not matter for the middle.
    plan.connections[0] = LinkPlan.Connection(cut: LinkPlan.Cut(.toTarget, afterBytes: samples, .reset))
    return plan
  }

  private func endAbsence(of link: ImpairedLink) async throws {
    guard await link.waitUntil({ $0.contains { $0.ending != nil } }) else { return }
    let clock = self.context.clock
    try await clock.sleep(until: clock.now.advanced(by: Self.absence), tolerance: nil)
    await link.setPlan(LinkPlan())
  }

  func pass(
    _ recording: DemoRecording, speech: String, identity: String, onDevice: OnDeviceRecognition? = nil
  ) async -> Pass {
    var configuration = Self.configuration(speech: speech, identity: identity)
    configuration.onDevice = onDevice
    let backend = ServerBackend(configuration: configuration)
    let input = RecognitionInput.file(
      recording.path, raw: recording.raw, pacing: .realTime, clock: self.context.clock)
    let console = self.context.console
    if self.json { return await self.run(backend, input, JSONPresenter(console: console)) }
    if console.output.movesCursor {
      let presenter = LivePresenter(console: console, namesSources: false, margin: 3, hasLiveInput: false)
      return await self.run(backend, input, presenter)
    }
    return await self.run(backend, input, PlainPresenter(console: console, prefix: .margin(3)))
  }

  /// A client of the demo app that keeps nothing.
  static func configuration(speech: String, identity: String) -> SpeechClient.Configuration {
    var configuration = SpeechClient.Configuration(app: .app(ServerConfiguration.App.demo.id))
    configuration.speechAddress = speech
    configuration.identityAddress = identity
    configuration.store = MemorySecureStore()
    configuration.deviceId = UUID()
    return configuration
  }

  private func run(
    _ backend: ServerBackend, _ input: RecognitionInput, _ presenter: some RecognitionPresenter
  ) async -> Pass {
    var run = RecognitionRun(
      backend: backend, inputs: [input], presenter: RecordingPresenter(presenter),
      stopSignals: { AsyncStream { $0.finish() } })
    let status = await run.run()
    return Pass(
      status: status, words: run.presenter.words, segments: run.presenter.segments,
      recoveries: run.presenter.recoveries,
      losses: run.presenter.losses, degradations: run.presenter.degradations)
  }

  // MARK: Words for the person

  private func title(_ recording: DemoRecording) {
    self.say()
    self.say(StyledText("   \(recording.title)", .dim))
  }

  private func compare(_ recording: DemoRecording, _ words: [String]) {
    let alignment = Alignment(
      reference: Alignment.words(of: recording.reference),
      hypothesis: Alignment.words(of: words.joined(separator: " ")))
    if self.json {
      self.output.write(
        JSONValue.object([
          "event": .string("comparison"), "reference": .string(recording.reference),
          "heard": .string(words.joined(separator: " ")), "wordErrorRate": .decimal(alignment.errorRate),
        ]).text + "\n")
      return
    }
    guard alignment.errors > 0 else {
      self.output.line(
        StyledText("   \(self.symbols.good) ", [.green, .bold]) + StyledText("every word is right", .green))
      return
    }
    self.output.line(StyledText("   said   ", .dim) + StyledText(recording.reference), indent: 10)
    self.output.line(StyledText("   heard  ", .dim) + alignment.marked, indent: 10)
    let percent = Int((alignment.errorRate * 100).rounded())
    self.output.line(
      StyledText("   word error rate ", .dim) + StyledText("\(percent) %", .bold)
        + StyledText("  \(alignment.summary); free dictation with this small model is rough", .dim),
      indent: 10)
  }

  /// Says whether the cut did any harm.
  func judge(_ first: Pass, _ second: Pass) -> CommandStatus {
    let isSame = first.words == second.words && !first.words.isEmpty
    let status: CommandStatus = isSame && !second.recoveries.isEmpty ? .done : .network
    if self.json {
      self.output.write(
        JSONValue.object([
          "event": .string("verdict"), "sameWords": .bool(isSame),
          "recovered": .bool(!second.recoveries.isEmpty),
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

  func verdict(_ isGood: Bool, _ text: String) {
    let style: TextStyle = isGood ? .green : .red
    self.output.line(
      StyledText("   \(isGood ? self.symbols.good : self.symbols.bad) ", [style, .bold])
        + StyledText(text, [style, .bold]),
      indent: 5)
  }

  private func goodbye() {
    guard !self.json else { return }
    let name = self.context.programName
    self.say()
    self.say(StyledText("Next", .bold))
    let commands = [
      ("recognize FILE", "a recording: wav, flac, ogg, opus, mp3"),
      ("recognize --mic", "talk to it"),
      ("call echo --local", "hear yourself over a call"),
      ("serve", "a server for your apps"), ("failures", "what can fail, and what happens then"),
    ]
    let width = commands.map(\.0.count).max() ?? 0
    for (command, purpose) in commands {
      let padding = String(repeating: " ", count: width - command.count + 3)
      self.output.line(
        StyledText("  \(name) \(command)\(padding)", .bold) + StyledText(purpose, .dim), indent: 4)
    }
  }

  func act(_ number: Int, _ title: String, _ text: String) {
    if number > 1 { self.say() }
    let padding = String(repeating: " ", count: max(1, 8 - title.count))
    self.say(
      StyledText("\(number)  ", .dim) + StyledText(title + padding, .bold) + StyledText(text), indent: 11)
  }

  func say(_ line: StyledText = "", indent: Int = 0) {
    guard !self.json else { return }
    self.output.line(line, indent: indent)
  }
}
