import CallMedia
import CallSignaling
import Calls
import Foundation
import RealtimeMedia
import VoiceAudio
import VoiceCore
import VoicePlatform
import VoiceServer
import VoiceTesting

/// The act in which two clients call each other.
extension DemoStage {
  /// The two who talk; passwords are made for the one server of the demonstration.
  static func callers() -> [ServerConfiguration.Calls.User] {
    ["alice", "bob"].map { .init(name: $0, password: UUID().uuidString) }
  }

  /// What is said in the call.
  struct CallLine: Hashable, Sendable {
    var recording: DemoRecording
    /// What the app should understand; `nil` for a recording that is no command of its.
    var command: SpokenCommand?
  }

  /// What became of the call.
  struct CallOutcome: Sendable {
    var understood = 0
    var reconnected = false
    /// How many ways the audio took after its own was taken away.
    var newWays = 0
    var report: CallReport?
    var summary = CallSummary()
  }

  /// Lets alice call bob and speak to him, takes her connection to the gateway away in the middle and then the way of her audio, and
  /// tells how it went.
  func phoneCall(
    _ addresses: ListenAddresses, _ callers: [ServerConfiguration.Calls.User], folder: String
  ) async -> CommandStatus {
    let lines = await self.callLines(folder: folder)
    self.act(
      6, "Call",
      "alice calls bob through the server: real audio from app to app, and the app understands what bob hears"
    )
    let outcome = await withTaskGroup(of: Result<CallOutcome, VoiceFailure>?.self) { group in
      group.addTask { await self.outcome(of: lines, addresses, callers) }
      group.addTask { [clock = self.context.clock] in
        try? await clock.sleep(until: clock.now.advanced(by: .seconds(120)), tolerance: nil)
        return nil
      }
      defer { group.cancelAll() }
      return await group.next() ?? nil
    }
    if Task.isCancelled { return .interrupted }
    switch outcome {
    case .success(let outcome): return self.judge(outcome, of: lines.count)
    case .failure(let failure): return self.context.fail(failure, json: self.json)
    case nil:
      return self.context.fail(
        VoiceFailure(.callNotConnected, message: "The call did not get on within two minutes."),
        json: self.json)
    }
  }

  /// Sentences of a voice; without one, a recording says the same each time.
  private func callLines(folder: String) async -> [CallLine] {
    guard let voice = await self.synthesizer.voices().voices.first else {
      return Array(repeating: CallLine(recording: .command), count: 3)
    }
    var lines: [CallLine] = []
    for (index, command) in SpokenCommand.inCall.enumerated() {
      let path = "\(folder)/call-\(index + 1).wav"
      do throws(VoiceFailure) {
        try await self.synthesizer.speak(command.text, with: voice, to: path)
        lines.append(
          CallLine(
            recording: DemoRecording(path: path, raw: nil, title: command.remark, reference: command.text),
            command: command))
      } catch {
        lines.append(CallLine(recording: .command))
      }
    }
    return lines
  }

  // MARK: The call

  /// A network that takes everything and delivers nothing in time: the client's next connection opens once it is over.
  private static let outage = LinkPlan(
    everyConnection: LinkPlan.Connection(toTarget: LinkPlan.Shape(delay: .seconds(4))))

  /// The network of the two: this machine alone.
  private static let here = NetworkPath(interfaces: [.init(name: "here", addresses: ["127.0.0.1"])])
  /// A network in which no address can be used (RFC 5737).
  private static let nowhere = NetworkPath(interfaces: [.init(name: "nowhere", addresses: ["198.51.100.1"])])
  /// How long alice is nowhere.
  private static let absence = Duration.milliseconds(1500)

  private func outcome(
    of lines: [CallLine], _ addresses: ListenAddresses, _ callers: [ServerConfiguration.Calls.User]
  ) async -> Result<CallOutcome, VoiceFailure> {
    do {
      return .success(
        try await withImpairedLink(port: addresses.http.port) { link in
          let paths = ManualNetworkPathMonitor(path: Self.here)
          let alice = try await self.client(callers.first, paths, port: link.port)
          let bob = try await self.client(
            callers.last, ManualNetworkPathMonitor(path: Self.here), port: addresses.http.port)
          let outcome = try await self.talk(
            lines, from: alice, to: bob, link, paths, "grpc://\(addresses.grpc)")
          await alice.disconnected()
          await bob.disconnected()
          return outcome
        })
    } catch {
      return .failure(error as? VoiceFailure ?? VoiceFailure(.unexpected, cause: error))
    }
  }

  private func client(
    _ user: ServerConfiguration.Calls.User?, _ paths: ManualNetworkPathMonitor, port: Int
  ) async throws -> TxClient {
    let media = self.context.callMedia ?? WebRTCMedia(engine: MediaEngine(paths: paths))
    let client = TxClient(media: media, clock: self.context.clock)
    guard let user, let url = URL(string: "ws://127.0.0.1:\(port)/calls") else {
      throw VoiceFailure(.unexpected)
    }
    try client.connect(
      txConfig: TxConfig(
        sipUser: user.name, password: user.password ?? "", debug: true, callReportInterval: 1),
      serverConfiguration: TxServerConfiguration(signalingServer: url))
    try await client.ready()
    return client
  }

  private func talk(
    _ lines: [CallLine], from alice: TxClient, to bob: TxClient, _ link: ImpairedLink,
    _ paths: ManualNetworkPathMonitor, _ speech: String
  ) async throws -> CallOutcome {
    let arrivals = bob.events
    let call = try await alice.call("bob", callerName: "Alice")
    let states = call.events
    guard let taken = await Self.incomingCall(in: arrivals) else { throw VoiceFailure(.callNotConnected) }
    taken.answer()
    try await call.answered()
    self.showState(of: call, "bob has answered, and both hear each other")
    var outcome = CallOutcome()
    var ways = 0
    var comesBack: Task<Void, any Error>?
    defer { comesBack?.cancel() }
    for (index, line) in lines.enumerated() {
      if index == 1 {
        await link.setPlan(Self.outage)
        await link.cutAll(.reset)
        await Self.wait(in: states) { $0.getReason() != nil }
        self.showState(
          of: call,
          "alice's connection is cut, and for now nothing she sends reaches the server; the audio goes on")
      } else if index == 2 {
        await link.setPlan(LinkPlan())
        outcome.reconnected = await Self.wait(in: states) { $0.isConsideredActive }
        self.showState(of: call, "alice is back, in the same call")
        ways = await call.statistics()?.ice.selections ?? 0
        paths.change(to: Self.nowhere)
        self.showState(
          of: call, "now the way of her audio is gone too; what she says waits until there is another one")
        comesBack = Task { [clock = self.context.clock] in
          // The news has reached the call when nothing is selected any more.
          while await call.statistics()?.pair != nil {
            try await clock.sleep(until: clock.now.advanced(by: .milliseconds(20)), tolerance: nil)
          }
          try await clock.sleep(until: clock.now.advanced(by: Self.absence), tolerance: nil)
          paths.change(to: Self.here)
        }
      }
      if try await self.say(line, in: call, to: taken, speech) { outcome.understood += 1 }
    }
    let statistics = await call.statistics()
    outcome.newWays = (statistics?.ice.selections ?? 0) - ways
    let end = call.events
    call.hangup()
    for await _ in end {}
    outcome.report = call.report
    for measurement in call.report?.measurements ?? [] {
      outcome.summary.note(CallQualitySample(measurement.metrics, statistics))
    }
    outcome.summary.talked = call.report.flatMap { report in
      report.answeredAfter.map { report.duration - $0 }
    }
    outcome.summary.outages = call.report?.outages ?? 0
    return outcome
  }

  private static func incomingCall(in events: EventBroadcaster<ClientEvent>.Subscription) async -> Call? {
    for await event in events { if case .incomingCall(let call) = event { return call } }
    return nil
  }

  /// Reads events until a state is reached; whether it was before the call ended.
  @discardableResult
  private static func wait(
    in events: EventBroadcaster<CallEvent>.Subscription, for isReached: (CallState) -> Bool
  ) async -> Bool {
    for await event in events {
      if case .stateUpdated(let state) = event, isReached(state) { return true }
    }
    return false
  }

  /// Says a sentence on one side, and understands it on the other.
  private func say(
    _ line: CallLine, in call: Call, to taken: Call, _ speech: String
  ) async throws -> Bool {
    self.say()
    self.say(StyledText("   alice says “\(line.recording.reference)”; bob's app hears", .dim), indent: 3)
    let segments = try await self.hear(taken, speech: speech) {
      let clock = self.context.clock
      try await call.audio.play(line.recording.source)
      // The last word is still on its way.
      try await clock.sleep(until: clock.now.advanced(by: .milliseconds(700)), tolerance: nil)
    }
    if let command = line.command {
      return self.judge(command, EvaluationHearing(segments: segments), line.recording.path)
    }
    let words = segments.flatMap { $0.words.map(\.text) }.joined(separator: " ").lowercased()
    return words == line.recording.reference
  }

  /// Understands what a call hears while somebody speaks.
  private func hear(
    _ call: Call, speech: String, while speak: @escaping @Sendable () async throws -> Void
  ) async throws -> [TranscriptSegment] {
    let backend = ServerBackend(configuration: Self.configuration(speech: speech, identity: speech))
    let source = call.audio.source
    let console = self.context.console
    if self.json {
      return try await Self.hear(source, backend, JSONPresenter(console: console), while: speak)
    }
    if console.output.movesCursor {
      let presenter = LivePresenter(console: console, namesSources: false, margin: 3, hasLiveInput: false)
      return try await Self.hear(source, backend, presenter, while: speak)
    }
    return try await Self.hear(
      source, backend, PlainPresenter(console: console, prefix: .margin(3)), while: speak)
  }

  private static func hear(
    _ source: any AudioSource, _ backend: ServerBackend, _ presenter: some RecognitionPresenter,
    while speak: @escaping @Sendable () async throws -> Void
  ) async throws -> [TranscriptSegment] {
    let (updates, continuation) = AsyncStream.makeStream(of: RecognitionUpdate.self)
    let request = StopRequest()
    return try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask {
        await backend.recognize(source, until: request) { continuation.yield($0) }
        continuation.finish()
      }
      var presenter = RecordingPresenter(presenter)
      presenter.began(.call("bob"))
      var hasBegun = false
      for await update in updates {
        if case .recordingStarted = update, !hasBegun {
          hasBegun = true
          group.addTask {
            defer { request.make() }
            try await speak()
          }
        }
        presenter.show(update)
      }
      presenter.ended()
      try await group.waitForAll()
      return presenter.segments
    }
  }

  // MARK: Words for the person

  private func showState(of call: Call, _ text: String) {
    let state = call.callState
    if self.json {
      let id = call.callInfo?.callId.uuidString.lowercased() ?? ""
      self.output.write(EventObject.call(state, id: id).text + "\n")
      return
    }
    let style: TextStyle = state.isConsideredActive ? .green : .yellow
    self.say()
    self.say(StyledText("   \(state.value)  ", [style, .bold]) + StyledText(text), indent: 5)
  }

  /// Prints the report, and says whether the call came back.
  ///
  /// A sentence that is not understood is shown and counted, but is no failure of the demonstration.
  func judge(_ outcome: CallOutcome, of count: Int) -> CommandStatus {
    let isWhole = outcome.reconnected && outcome.newWays > 0 && outcome.report?.reason.failure == nil
    let steps = outcome.report?.states ?? []
    if self.json {
      let id = outcome.report?.callID ?? ""
      self.output.write(
        JSONValue.object([
          "event": .string("verdict"), "reconnected": .bool(outcome.reconnected),
          "newWays": .integer(outcome.newWays),
          "understood": .integer(outcome.understood), "spoken": .integer(count),
          "states": .array(
            steps.map { step in
              .object(["state": .string(step.state.value), "after": .decimal(step.after / .seconds(1))])
            }),
        ]).text + "\n")
      self.output.write(EventObject.report(outcome.summary, id: id).text + "\n")
      return isWhole ? .done : .call
    }
    self.say()
    var way = StyledText("   ")
    for (index, step) in steps.enumerated() {
      if index > 0 { way.append(" \(self.symbols.arrow) ", .dim) }
      way.append(step.state.value, .bold)
      way.append(" \(Phrases.duration(step.after))", .dim)
    }
    self.say(way, indent: 3)
    if let line = CallLines(symbols: self.symbols).summary(outcome.summary) {
      self.say(StyledText("   ") + line, indent: 3)
    }
    self.verdict(
      isWhole,
      isWhole
        ? "One call, cut twice and never over: \(outcome.understood) of \(count) sentences understood, one while the server was out of reach, one spoken while its audio had no way."
        : outcome.reconnected
          ? "The audio of the call found no other way." : "The call did not come back after the cut.")
    return isWhole ? .done : .call
  }
}

extension DemoRecording {
  /// Plays it as fast as somebody takes it.
  fileprivate var source: any AudioSource {
    if let raw { PipeSource(path: self.path, rawFormat: raw) } else { AudioFileSource(path: self.path) }
  }
}
