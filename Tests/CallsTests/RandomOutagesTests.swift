import CallSignaling
import Foundation
import Synchronization
import Testing
import VoiceCore
import VoiceTesting

@testable import Calls

/// Seeded cuts, half-open links and path changes on the client as a value: no call is stuck, every end has its reason in time.
@Suite(.timeLimit(.minutes(5))) struct RandomOutagesTests {
  @Test func noCallIsStuckAfter500Outages() throws {
    var outages = 0
    var ended = 0
    var kept = 0
    for seed in 0..<100 as Range<UInt64> {
      var run = OutageRun(seed: seed)
      for _ in 0..<5 { run.outage() }
      outages += 5
      let result = run.finish()
      #expect(result.stuck == 0, "seed \(seed)")
      #expect(result.late == 0, "seed \(seed)")
      #expect(result.untyped == 0, "seed \(seed)")
      #expect(result.doubleEnds == 0, "seed \(seed)")
      ended += result.ended
      kept += result.kept
    }
    print("\(outages) outages (seeds 0–99): 0 stuck calls, \(kept) kept, \(ended) ended by name")
  }
}

/// One client against a scripted gateway, in virtual time and on one thread.
private struct OutageRun {
  struct Result {
    var stuck = 0
    var late = 0
    var untyped = 0
    var doubleEnds = 0
    var ended = 0
    var kept = 0
  }

  private final class Inbox: Sendable {
    let events = Mutex<[(Int, SignalingTransportEvent)]>([])
  }

  private var machine: ClientMachine
  private let clock = TestClock()
  private let gateway: ScriptedGateway
  private let inbox = Inbox()
  private var connections: [Int: any SignalingConnection] = [:]
  private var random: SeededGenerator
  private var number = 0
  private var troubledSince: [CallID: VoiceInstant] = [:]
  private var ends: [CallID: Int] = [:]
  private var result = Result()

  init(seed: UInt64) {
    self.random = SeededGenerator(seed: seed)
    self.gateway = ScriptedGateway(.init(), clock: self.clock)
    self.machine = ClientMachine(random: SeededGenerator(seed: seed &+ 1_000))
    self.handle(
      .connectRequested(
        ClientSession(
          server: CallsWorld.server, identity: .credentials(.password(user: "a", password: "b")),
          userVariables: JSONObject(), pushVariables: JSONObject(), userAgent: "test", dialect: .telnyx,
          sessionID: "session")))
    for _ in 0..<3 { self.dial() }
    self.run(for: .seconds(3))
  }

  private mutating func dial() {
    let id = CallID(self.machine.makeID())
    var dialog = DialogParams(callID: id)
    dialog.destinationNumber = "bob"
    self.handle(.dialed(id, CallSetup(dialog: dialog, measuresQuality: false, preferredCodecs: [])))
  }

  mutating func outage() {
    let kind = self.random.next() % 6
    switch kind {
    case 0: self.gateway.cut()
    case 1: self.gateway.goSilent()
    case 2: self.handle(.pathChanged(isSatisfied: true))
    case 3:
      self.handle(.pathChanged(isSatisfied: false))
      self.run(for: .milliseconds(Int(self.random.next() % 70_000)))
      self.handle(.pathChanged(isSatisfied: true))
    case 4:
      var script = self.gateway.script
      script.refusals = (0..<(self.random.next() % 12)).map { _ in
        self.random.next() % 2 == 0 ? .unreachable : .silent
      }
      self.gateway.script = script
      self.gateway.cut()
    default:
      if self.random.next() % 4 == 0 { self.gateway.forgetCalls() }
      self.gateway.close(1012)
    }
    self.drain()
    if self.random.next() % 3 == 0, let id = self.machine.sortedCalls.first {
      self.handle(.call(id, .holdRequested(nil)))
    }
    if self.random.next() % 5 == 0, let id = self.machine.sortedCalls.last {
      self.handle(.call(id, .hangupRequested))
    }
    self.run(for: .milliseconds(Int(self.random.next() % 40_000)))
    while self.machine.calls.count < 3, self.machine.isConnected { self.dial() }
  }

  /// Lets everything settle: all calls are active or over then.
  mutating func finish() -> Result {
    self.run(for: .seconds(200))
    for record in self.machine.calls.values {
      switch record.machine.callState {
      case .ACTIVE, .HELD: self.result.kept += 1
      case .NEW, .CONNECTING, .RINGING, .DONE, .RECONNECTING, .DROPPED: self.result.stuck += 1
      }
    }
    self.result.doubleEnds = self.ends.values.count { $0 > 1 }
    return self.result
  }

  private mutating func run(for duration: Duration) {
    let end = self.clock.now.advanced(by: duration)
    self.drain()
    while let deadline = self.machine.deadline, deadline <= end {
      self.clock.advance(to: max(deadline, self.clock.now))
      self.handle(.timePassed)
    }
    self.clock.advance(to: end)
    self.drain()
  }

  private mutating func drain() {
    while true {
      let batch = self.inbox.events.withLock { events in
        defer { events = [] }
        return events
      }
      guard !batch.isEmpty else { return }
      for (generation, event) in batch { self.step(.socket(generation: generation, event)) }
    }
  }

  private mutating func handle(_ event: ClientMachine.Event) {
    self.step(event)
    self.drain()
  }

  private mutating func step(_ event: ClientMachine.Event) {
    for effect in self.machine.handle(event, at: self.clock.now) { self.perform(effect) }
  }

  private mutating func perform(_ effect: ClientMachine.Effect) {
    switch effect {
    case .open(let generation, let url):
      let inbox = self.inbox
      self.connections[generation] = self.gateway.transport.open(url) { event in
        inbox.events.withLock { $0.append((generation, event)) }
      }
    case .send(let generation, let frame): self.connections[generation]?.send(frame)
    case .ping(let generation): self.connections[generation]?.ping()
    case .close(let generation): self.connections[generation]?.close()
    case .abandon(let generation): self.connections.removeValue(forKey: generation)?.abort()
    case .media(let id, let command): self.media(command, of: id)
    case .notify, .log: break
    case .notifyCall(let id, let notice): self.noted(notice, of: id)
    }
  }

  private mutating func media(_ command: ClientMachine.MediaCommand, of id: CallID) {
    self.number += 1
    let sdp = SDP.scripted(number: self.number)
    switch command {
    case .makeOffer: self.step(.call(id, .offerMade(sdp)))
    case .makeAnswer:
      self.step(.call(id, .answerMade(sdp)))
      self.step(.call(id, .mediaConnected))
    case .makeRestartOffer: self.step(.call(id, .restartOfferMade(sdp)))
    case .makeUpdateAnswer(_, let request): self.step(.updateAnswered(id, request: request, .success(sdp)))
    case .applyRemote(_, let isFinal): if isFinal { self.step(.call(id, .mediaConnected)) }
    case .candidate, .setMuted, .setHeld, .stop: break
    }
  }

  private mutating func noted(_ notice: ClientMachine.CallNotice, of id: CallID) {
    switch notice {
    case .stateChanged(let state):
      switch state {
      case .RECONNECTING, .DROPPED: self.troubledSince[id] = self.troubledSince[id] ?? self.clock.now
      case .NEW, .CONNECTING, .RINGING, .ACTIVE, .HELD: self.troubledSince[id] = nil
      case .DONE: break
      }
    case .ended(let reason, _):
      self.ends[id, default: 0] += 1
      self.result.ended += 1
      if let since = self.troubledSince[id], since.duration(to: self.clock.now) > .seconds(60) {
        self.result.late += 1
      }
      if reason.origin != .local, reason.failure == nil { self.result.untyped += 1 }
    case .incoming, .holdChanged, .otherSideHeld, .earlyMedia, .info, .tonesDelivered, .failed: break
    }
  }
}
