import CallSignaling
import Foundation
import Testing
import VoiceCore

/// Random sequences of events: never two ends, nothing after the end, no stuck state, queues bounded.
///
/// 400,000 events per machine by default; `VOICE_RANDOM_SEQUENCES=1000000` runs as many sequences, best in release.
@Suite struct MachineRandomTests {
  static let sequences = Int(ProcessInfo.processInfo.environment["VOICE_RANDOM_SEQUENCES"] ?? "") ?? 10_000
  static let seed =
    UInt64(ProcessInfo.processInfo.environment["VOICE_RANDOM_SEED"] ?? "")
    ?? UInt64(Date().timeIntervalSince1970 * 1000)

  static let failure = VoiceFailure(.serverUnreachable)

  /// Runs sequences of up to `length` events; the body gets a generator for each, and says what is wrong, if anything.
  static func run(
    _ name: String, length: Int, _ body: (inout Splitmix, Int) -> String?
  ) {
    var random = Splitmix(state: Self.seed)
    for index in 0..<Self.sequences {
      var own = Splitmix(state: random.next())
      if let problem = body(&own, length) {
        Issue.record("\(name), sequence \(index), seed \(Self.seed): \(problem)")
        return
      }
    }
    print("\(name): \(Self.sequences) sequences of up to \(length) events, seed \(Self.seed)")
  }

  @Test func callsEndOnceAndAreNeverStuck() {
    let events = CallMachineTableTests.events.map(\.event)
    Self.run("calls", length: 40) { random, length in
      var machine =
        Bool.random(using: &random)
        ? CallMachine(outbound: .init(), isLinkUp: Bool.random(using: &random))
        : CallMachine(inbound: "o", at: at(0))
      if machine.direction == .outbound { _ = machine.handle(.dialed, at: at(0)) }
      var now = at(0)
      var ends = 0
      func check(_ actions: [CallMachine.Action], _ machine: CallMachine, wasEnded: Bool) -> String? {
        for action in actions {
          if case .reportState(.DONE) = action { ends += 1 }
        }
        if ends > 1 { return "two ends" }
        if (ends == 1) != machine.isEnded { return "the end was not reported, or too soon" }
        if wasEnded, actions != [.ignore(.ended)] { return "\(actions) after the end" }
        let isWhole = machine.phase == .established && machine.link == .up && machine.media == .connected
        if !machine.isEnded, !isWhole, machine.deadline == nil {
          return "stuck in \(machine.phase) \(machine.link) \(machine.media)"
        }
        return nil
      }
      for _ in 0..<length {
        // Half of the time what is likely next, so that sequences get beyond the first phases.
        let event =
          Bool.random(using: &random) ? Self.likely(machine) : events.randomElement(using: &random) ?? .dialed
        now = now.advanced(by: .milliseconds(Int64(random.next() % 4000)))
        let wasEnded = machine.isEnded
        let actions = machine.handle(event, at: now)
        if let problem = check(actions, machine, wasEnded: wasEnded) { return problem + " after \(event)" }
      }
      // Left alone, a call that is not whole ends by itself.
      var steps = 0
      while let deadline = machine.deadline {
        now = max(now, deadline)
        let actions = machine.handle(.timePassed, at: now)
        if let problem = check(actions, machine, wasEnded: false) { return problem + " when left alone" }
        steps += 1
        if steps > 20 {
          return "time alone does not settle it: \(machine.phase) \(machine.link) \(machine.media)"
        }
      }
      return nil
    }
  }

  /// What a good gateway and peer would do next.
  static func likely(_ machine: CallMachine) -> CallMachine.Event {
    switch machine.link {
    case .down: return .linkRestored(isKnown: true)
    case .awaitingAttach: return .attachReceived("o")
    case .makingAttach: return .answerMade("a")
    case .attaching: return .attachSettled(.accepted(.sent))
    case .up: break
    }
    switch machine.phase {
    case .idle: return .dialed
    case .preparing: return .offerMade("o")
    case .readyToInvite, .readyToAnswer, .ended: return .linkRestored(isKnown: nil)
    case .inviting: return .inviteSettled(.accepted(.sent))
    case .trying: return .ringingReceived
    case .ringing: return .answerReceived("a")
    case .incoming: return .answerRequested
    case .preparingAnswer: return .answerMade("a")
    case .answering: return .answerSettled(.accepted(.sent))
    case .established: return machine.media == .connected ? .mediaInterrupted : .mediaConnected
    }
  }

  @Test func legsEndOnceAnswerOnceAndAreNeverStuck() {
    let events = LegMachineTableTests.events.map(\.event)
    Self.run("legs", length: 40) { random, length in
      let role: LegMachine.Role = Bool.random(using: &random) ? .caller : .callee
      var machine = LegMachine(role: role)
      _ = machine.handle(role == .caller ? .inviteReceived : .placed(offer: "o"), at: at(0))
      var now = at(0)
      var ends = 0
      for _ in 0..<length {
        let likely: LegMachine.Event =
          switch machine.link {
          case .detached: .socketRestored
          case .attaching: .attachReceived("a")
          case .attached: role == .caller ? .peerAnswered("a") : .answerReceived("a")
          }
        let event = random.next() % 4 == 0 ? likely : events.randomElement(using: &random) ?? .timePassed
        now = now.advanced(by: .milliseconds(Int64(random.next() % 4000)))
        let wasEnded = machine.isEnded
        let actions = machine.handle(event, at: now)
        ends += actions.count { if case .end = $0 { true } else { false } }
        if ends > 1 { return "two ends" }
        if (ends == 1) != machine.isEnded { return "the end was not told" }
        if LegMachineTableTests.responses(in: actions) != (LegMachineTableTests.isRequest(event) ? 1 : 0) {
          return "\(event) has not one response: \(actions)"
        }
        if wasEnded, actions.contains(where: { if case .send = $0 { true } else { false } }) {
          return "sent after the end"
        }
        let isWhole = machine.phase == .established && machine.link == .attached
        if !machine.isEnded, !isWhole, machine.deadline == nil {
          return "stuck in \(machine.phase) \(machine.link)"
        }
      }
      return nil
    }
  }

  @Test func connectionsAreNeverStuckAndEachSocketEndsOnce() {
    let refused = RPCError(code: .authenticationFailed, message: "no")
    Self.run("connections", length: 40) { random, length in
      var machine = ConnectionMachine(dialect: random.next() % 8 == 0 ? .verto : .telnyx)
      var now = at(0)
      var open = 0
      var isLinkUp = false
      for _ in 0..<length {
        let generation = machine.socket.generation - (random.next() % 8 == 0 ? 1 : 0)
        let events: [ConnectionMachine.Event] = [
          .connectRequested, .disconnectRequested, .reattachRequested,
          .callsChanged(inCall: Bool.random(using: &random)),
          .pathChanged(isSatisfied: Bool.random(using: &random)),
          .socketOpened(generation: generation), .socketOpened(generation: generation),
          .socketFailed(generation: generation, Self.failure),
          .socketClosedByPeer(generation: generation, code: nil),
          .heard(generation: generation), .loginAccepted(LoginResult(sessionID: "s")),
          .loginAccepted(LoginResult(sessionID: "s")), .loginRefused(refused),
          .clientReadyReceived(ClientReady()), .gatewayStateReceived(.registered),
          .gatewayStateReceived(.registered), .gatewayStateReceived(.failed), .gatewayStateRefused(refused),
          .authenticationRequired, .refreshRequested, .punted, .timePassed, .timePassed,
        ]
        let event = events.randomElement(using: &random) ?? .timePassed
        now = now.advanced(by: .milliseconds(Int64(random.next() % 4000)))
        for action in machine.handle(event, at: now, using: &random) {
          switch action {
          case .reportSocketOpened: open += 1
          case .reportSocketClosed: open -= 1
          case .linkRestored:
            if isLinkUp { return "restored twice after \(event)" }
            isLinkUp = true
          case .linkLost, .linkAbandoned: isLinkUp = false
          case .open, .probe, .close, .abandon, .sendLogin, .askGatewayState, .reportLoggedIn, .reportReady,
            .reportRefreshed, .report, .ignore:
            break
          }
          if !(0...1).contains(open) { return "\(open) sockets are open after \(event)" }
        }
        if event == .disconnectRequested { isLinkUp = false }
        switch machine.recovery.state {
        case .offline, .gaveUp: break
        case .connecting, .up, .waiting, .noPath:
          if machine.deadline == nil { return "stuck in \(machine.recovery.state) after \(event)" }
        }
        if machine.recovery.state == .up, !isLinkUp { return "up, but the calls were not told" }
      }
      return nil
    }
  }

  @Test func theOutboxIsBoundedAndLosesNothing() {
    Self.run("outboxes", length: 40) { random, length in
      var configuration = Outbox.Configuration()
      configuration.capacity = 6
      var outbox = Outbox(configuration: configuration, isUp: Bool.random(using: &random))
      var now = at(0)
      var offered = 0
      var settled: Set<Int> = []
      func take(_ actions: [Outbox.Action]) -> String? {
        for action in actions {
          switch action {
          case .send(let item): if settled.contains(item.id) { return "sent after its end" }
          case .delivered(let item), .fail(let item, _), .drop(let item):
            if !settled.insert(item.id).inserted { return "settled twice" }
          }
        }
        return nil
      }
      for _ in 0..<length {
        now = now.advanced(by: .milliseconds(Int64(random.next() % 4000)))
        let call = CallID(["a", "b", "c"][Int(random.next() % 3)])
        let actions: [Outbox.Action]
        switch random.next() % 10 {
        case 0, 1, 2:
          offered += 1
          actions = outbox.offered(.tones("1"), of: call, at: now)
        case 3:
          offered += 1
          actions = outbox.offered(.hold(.held), of: call, at: now)
        case 4:
          offered += 1
          actions = outbox.offered(.bye(.userBusy), of: call, at: now)
        case 5: actions = outbox.linkLost()
        case 6: actions = outbox.linkRestored(known: Bool.random(using: &random) ? nil : [call], at: now)
        case 7: actions = outbox.answered(Int(random.next() % UInt64(offered + 1)), .accepted)
        case 8: actions = outbox.timePassed(at: now)
        default: actions = outbox.callEnded(call)
        }
        if let problem = take(actions) { return problem }
        if outbox.count > 6 { return "\(outbox.count) items" }
        if outbox.count + settled.count != offered { return "an item was lost" }
      }
      return take(outbox.abandoned()) ?? (settled.count == offered ? nil : "an item was left")
    }
  }
}
