import Foundation
import SpeechProtocol
import SwiftProtobuf
import Testing
import VoiceCore
import VoiceTesting

@testable import SpeechStreaming

/// Random sequences of events, possible and impossible ones, with what must hold after each.
@Suite struct SessionMachineRandomTests {
  /// Together 20,000 sequences, or 100,000 with `VOICE_LONG_TESTS=1`; each block is a test of its own, so that they run
  /// side by side.
  static let blocks = 8
  static let sequencesPerBlock =
    ProcessInfo.processInfo.environment["VOICE_LONG_TESTS"] == "1" ? 12_500 : 2500

  @Test(arguments: 0..<blocks)
  func invariantsHoldInRandomSequences(block: Int) throws {
    for number in 0..<Self.sequencesPerBlock {
      let seed = UInt64(block) << 32 | UInt64(number)
      var play = RandomPlay(seed: seed)
      if let broken = play.run(steps: 10 + number % 40) {
        Issue.record("seed \(seed): \(broken)")
        return
      }
    }
  }
}

/// One random sequence.
private struct RandomPlay {
  private var generator: SeededGenerator
  private var world: SessionWorld
  private var seenActions = 0
  private var accepted = 0
  private var serverContexts: [String] = []
  private var stoppedContexts: Set<String> = []
  private var lastContext = 0
  private var openStream: Int?
  private var startedIds: Set<String> = []
  private var finishedIds: Set<String> = []
  private var finishedCount = 0
  private var terminations = 0
  private let capacity: Int64

  init(seed: UInt64) {
    self.generator = SeededGenerator(seed: seed)
    var configuration = SessionMachine.Configuration.forTests
    configuration.window = .milliseconds(Int64.random(in: 200...2000, using: &self.generator))
    configuration.postRoll = Bool.random(using: &self.generator) ? .zero : .milliseconds(500)
    configuration.legLimit = .milliseconds(Int64.random(in: 300...5000, using: &self.generator))
    configuration.retry = RetryPolicy(
      base: .milliseconds(100), cap: .seconds(1), attempts: Int.random(in: 0...5, using: &self.generator),
      budget: .seconds(30))
    configuration.hasEngine = Int.random(in: 0..<3, using: &self.generator) == 0
    configuration.hasServer = !configuration.hasEngine || Bool.random(using: &self.generator)
    self.capacity = max(1, configuration.samples(configuration.window))
    self.world = SessionWorld(configuration: configuration, random: SeededGenerator(seed: seed &+ 1))
  }

  /// Plays; the result is what was broken, or `nil`.
  mutating func run(steps: Int) -> String? {
    for _ in 0..<steps {
      self.step()
      if let broken = self.check() { return broken }
    }
    return self.drain()
  }

  private mutating func pick(_ range: Range<Int>) -> Int { Int.random(in: range, using: &self.generator) }

  private mutating func step() {
    switch self.pick(0..<26) {
    case 0, 1:
      if !self.world.machine.isSuspended, !self.world.machine.isClosing, !self.world.machine.isClosed {
        self.accepted += 1
      }
      self.world.start()
    case 2: self.world.feed(.stopRequested)
    case 3: if self.pick(0..<6) == 0 { self.world.feed(.suspendRequested) }
    case 4: self.world.feed(.resumeRequested)
    case 5, 6: if self.world.isCapturing { self.world.captureStarted() }
    case 7, 8, 9, 10:
      if self.world.isCapturing { self.world.audio(Int16(self.pick(1..<100)), samples: self.pick(1..<2000)) }
    case 11: if self.world.isCapturing { self.world.captureEnded() }
    case 12:
      if self.world.isCapturing, self.pick(0..<4) == 0 {
        self.world.feed(.captureFailed(VoiceFailure(.inputDeviceLost)))
      }
    case 13, 14: self.world.token()
    case 15: self.world.feed(.tokenFailed(self.failure(), pushBack: nil))
    case 16, 17: if let stream = self.world.stream { self.world.feed(.requestAccepted(stream: stream)) }
    case 18, 19, 20, 21: self.serverSpeaks()
    case 22: self.world.cut(self.pick(0..<3) == 0 ? nil : self.failure())
    case 23:
      let timers = self.world.timers.keys.sorted { "\($0)" < "\($1)" }
      if !timers.isEmpty { self.world.fire(timers[self.pick(0..<timers.count)]) }
    case 24: self.world.feed(.pathChanged)
    default:
      // Something late or out of nowhere.
      self.world.feed(
        .timerFired(SessionMachine.Timer.allCases[self.pick(0..<SessionMachine.Timer.allCases.count)]))
      self.world.feed(.streamEnded(stream: 9999, SpeechStreamEnd()))
      self.world.feed(.requestAccepted(stream: 9999))
    }
  }

  private mutating func failure() -> VoiceFailure {
    let codes: [VoiceFailure.Code] = [
      .connectionLost, .serverUnreachable, .serverOverloaded, .tokenExpired, .credentialsRejected,
      .unknownApp,
      .contextTooLong, .serverTimedOut, .engineFailed, .modelMissing,
    ]
    return VoiceFailure(codes[self.pick(0..<codes.count)])
  }

  /// A server that mostly keeps to the protocol.
  private mutating func serverSpeaks() {
    if self.world.stream != self.openStream {
      self.openStream = self.world.stream
      self.serverContexts = []
      self.stoppedContexts = []
    }
    let starts = self.world.kinds.filter { $0 == "start" }.count
    if self.serverContexts.count < starts {
      self.lastContext += 1
      let id = "c\(self.lastContext)"
      self.serverContexts.append(id)
      self.world.started(id)
      return
    }
    guard let context = self.serverContexts.last else { return }
    let segment = self.pick(0..<3)
    switch self.pick(0..<9) {
    case 0: self.world.tentative(["a", "b"], segment: segment, from: self.pick(0..<3), context)
    case 1:
      self.world.word(
        "w\(self.pick(0..<3))", self.pick(0..<4), segment: segment, end: self.pick(0..<2000), context)
    case 2:
      let nextSample = self.pick(0..<8) == 0 ? Int64.max : Int64(self.pick(0..<30_000))
      self.world.segmentEnd(segment: segment, nextSample: nextSample, context)
    case 3, 4:
      let stops = self.world.kinds.filter { $0 == "stop" }.count
      if stops >= self.serverContexts.count { self.world.finished(context) }
    case 5: self.world.respond("nonsense", segment: -5) { $0.transcript.index = -1 }
    case 6: self.world.respond(context, segment: Int(Int32.max)) { $0.transcript.endTime = Int32.min }
    case 7: self.world.respond(context) { $0.rttRequest.id = 7 }
    default: if self.pick(0..<10) == 0 { self.world.finished(context) }
    }
  }

  /// What must hold after every step.
  private mutating func check() -> String? {
    let fresh = self.world.actions[self.seenActions...]
    self.seenActions = self.world.actions.count
    for action in fresh {
      if self.terminations > 0 { return "an action after the end" }
      switch action {
      case .emit(let event):
        if let broken = self.check(event) { return broken }
      case .terminate: self.terminations += 1
      default: break
      }
    }
    for context in self.world.machine.contexts {
      if context.window.count > self.capacity {
        return "the window holds \(context.window.count) of \(self.capacity)"
      }
      if let leg = context.leg, leg.sent > context.window.end { return "more sent than recorded" }
      if context.resumeSample > context.window.end { return "the resume point is in the future" }
    }
    switch self.world.machine.capture {
    case .starting, .running:
      if self.world.machine.contexts.isEmpty { return "a capture that nobody wants" }
    case .idle, .stopping: break
    }
    if let stream = self.world.machine.connection.stream, stream.inFlight > 64 {
      return "too much in flight"
    }
    if !self.world.machine.configuration.hasServer, !self.world.tokenRequests.isEmpty {
      return "a login without a server"
    }
    if !self.world.machine.configuration.hasEngine, !self.world.engineStreams.isEmpty {
      return "an engine out of nowhere"
    }
    if self.finishedCount > self.accepted { return "more contexts finished than started" }
    return nil
  }

  private mutating func check(_ event: SpeechEvent) -> String? {
    func late(_ id: String) -> String? {
      self.finishedIds.contains(id) ? "an event after \(id) was finished" : nil
    }
    switch event {
    case .started(let id):
      if !self.startedIds.insert(id).inserted { return "\(id) was acknowledged twice" }
      return late(id)
    case .transcript(let id, _, _), .entity(let id, _, _), .intent(let id, _, _): return late(id)
    case .segmentUpdated(let segment): return late(segment.contextId)
    case .recovered(let recovery): return late(recovery.contextId)
    case .degraded(let degradation): return degradation.contextId.flatMap(late)
    case .finished(let context):
      self.finishedCount += 1
      if let id = context?.id, !self.finishedIds.insert(id).inserted { return "\(id) was finished twice" }
      return nil
    case .stateChanged, .recordingStarted, .failed: return nil
    }
  }

  /// Closes, plays a device, a login and a server that work, and expects everything to come to an end.
  private mutating func drain() -> String? {
    self.world.feed(.closeRequested(isAbrupt: false))
    for _ in 0..<2000 {
      if let broken = self.check() { return broken }
      if self.world.isTerminated { break }
      if self.world.isCapturing { self.world.captureEnded() }
      switch self.world.machine.connection {
      case .authenticating: self.world.token()
      case .waiting: self.world.fire(.retry)
      case .streaming, .engine:
        self.world.acceptAll()
        let starts = self.world.kinds.filter { $0 == "start" }.count
        let stops = self.world.kinds.filter { $0 == "stop" }.count
        if self.world.stream != self.openStream {
          self.openStream = self.world.stream
          self.serverContexts = []
        }
        if self.serverContexts.count < starts {
          self.lastContext += 1
          self.serverContexts.append("c\(self.lastContext)")
          self.world.started("c\(self.lastContext)")
        } else if let context = self.serverContexts.last, stops >= starts {
          self.world.finished(context)
        } else if self.world.timers[.reason] != nil {
          self.world.fire(.reason)
        } else {
          self.world.fire(.progress)
        }
      case .idle: self.world.fire(.captureDrain)
      }
    }
    if !self.world.isTerminated {
      let machine = self.world.machine
      let contexts = machine.contexts.map { context in
        "\(context.audio) \(context.window.start)-\(context.window.end) leg "
          + (context.leg.map {
            "\($0.serverContextId ?? "?") sent \($0.sent) limit \($0.limit ?? -1) stop \($0.stopSent)"
          } ?? "none")
      }
      return
        "stuck: \(machine.state), \(machine.connection), \(machine.capture), \(contexts), \(self.world.kinds), \(self.serverContexts)"
    }
    if self.finishedCount != self.accepted {
      return "\(self.accepted) contexts started, \(self.finishedCount) finished"
    }
    return nil
  }
}
