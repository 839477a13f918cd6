import CallSignaling
import Foundation
import Testing
import VoiceCore
import VoiceTesting

@testable import VoiceServer

/// Clients that do anything at any time.
@Suite struct CallSwitchRandomTests {
  /// What must hold for each leg of each client, from its first message to its end.
  private struct Watch {
    var ended: Set<String> = []
    var created = 0

    private static func leg(_ key: SessionKey, _ callID: CallID) -> String {
      "\(key.user) \(key.sessionID) \(callID.text.lowercased())"
    }

    mutating func look(_ actions: [CallSwitch.Action], _ sessions: [ConnectionID: SessionKey]) {
      for action in actions {
        // A client may choose an id again once its call has ended.
        if case .reply(let connection, _, .success(.call(let result))) = action,
          result.message == "CALL CREATED",
          let key = sessions[connection], let callID = result.callID
        {
          self.ended.remove(Self.leg(key, callID))
          self.created += 1
        }
        guard case .send(let connection, let request) = action, let callID = request.callID else { continue }
        // A connection that was just taken over has no session any more; its last message is the punt.
        guard let key = sessions[connection] else {
          Issue.record("\(request) is sent to a socket that nobody is logged in at")
          continue
        }
        let leg = Self.leg(key, callID)
        let isOver = self.ended.contains(leg)
        #expect(!isOver, "\(request) comes after the end")
        if case .bye = request { self.ended.insert(leg) }
      }
    }
  }

  @Test(arguments: [UInt64](1...8))
  func keepsItsPromisesWhateverClientsDo(seed: UInt64) throws {
    // A million events with VOICE_LONG_TESTS=1; the seed is the argument.
    let total = ProcessInfo.processInfo.environment["VOICE_LONG_TESTS"] == "1" ? 125_000 : 5_000
    var random = SeededGenerator(seed: seed)
    var configuration = CallSwitch.Configuration()
    configuration.callsPerUser = 6
    configuration.calls = 12
    configuration.registrationsPerUser = 4
    var harness = SwitchHarness(configuration, seed: seed)
    var watch = Watch()
    var sockets: [ConnectionID: SessionKey] = [:]
    var lastSocket = 100
    // The latest of each client: among all that there ever were hardly one would still be a call.
    var known: [SessionKey: [CallID]] = [:]
    func learn(_ id: CallID, of key: SessionKey) {
      let others = known[key, default: []].filter { $0 != id }
      known[key] = others.suffix(11) + [id]
    }
    var requests = 0
    var invites = 0

    func pick<Value>(_ values: [Value]) -> Value? { values.randomElement(using: &random) }

    for _ in 0..<total {
      harness.now = harness.now.advanced(by: .milliseconds(Int.random(in: 0...4000, using: &random)))
      let event: CallSwitch.Event
      let socket = pick(Array(sockets.keys).sorted())
      switch Int.random(in: 0..<100, using: &random) {
      case 0..<8:
        lastSocket += 1
        let key = SessionKey(
          user: pick(["alice", "bob", "carol"]) ?? "", sessionID: pick(["1", "2", "3"]) ?? "")
        event = .loggedIn(ConnectionID(number: lastSocket), key, request: .integer(1), isAnonymous: false)
      case 8..<12: event = .disconnected(socket ?? ConnectionID(number: 1))
      case 12..<19: event = .timePassed
      case 19:
        event = .usersChanged(
          pick([["alice", "bob", "carol"], ["alice", "bob", "carol", "erin"], ["alice"]]) ?? [])
      case 20..<28:
        guard let media = pick(Array(harness.machine.mediaCalls.keys).sorted { $0.number < $1.number }) else {
          continue
        }
        let question = pick(Array(harness.machine.questions.keys).sorted()) ?? 0
        event = .media(
          media,
          pick([
            .rang, .early(SwitchHarness.answer), .answered(nil), .answered(SwitchHarness.answer),
            .renegotiated(SwitchHarness.answer, question: question),
            .renegotiationRefused(question: question), .answerRefused, .offered(SwitchHarness.offer),
            .connected, .failed,
          ]) ?? .rang)
      case 28..<32:
        guard let number = pick(Array(harness.machine.questions.keys).sorted()) else { continue }
        event = .responded(
          socket ?? ConnectionID(number: 1), number: number,
          pick([.refused, .accepted(nil), .accepted(SwitchHarness.answer)]) ?? .refused)
      default:
        guard let socket, let key = sockets[socket] else { continue }
        requests += 1
        let callID = pick((known[key] ?? []) + [CallID("unknown")]) ?? CallID("none")
        let request: ClientRequest
        switch Int.random(in: 0..<10, using: &random) {
        case 0..<3:
          var dialog = DialogParams(callID: pick([callID, CallID("call-\(requests)")]) ?? callID)
          dialog.destinationNumber = pick(["alice", "bob", "carol", "echo", "silence", "fail-486", "nobody"])
          request = .invite(ClientDescription(sdp: SwitchHarness.offer, dialog: dialog))
          invites += 1
          learn(dialog.callID, of: key)
        case 3, 4:
          request = .answer(
            ClientDescription(sdp: SwitchHarness.answer, dialog: DialogParams(callID: callID)))
        case 5:
          request = .attach(
            ClientDescription(sdp: SwitchHarness.answer, dialog: DialogParams(callID: callID)))
        case 6:
          request = .bye(
            ByeMessage(callID: callID, cause: pick([.normalClearing, .userBusy, .callRejected])))
        case 7:
          request = .modify(
            ModifyRequest(
              callID: callID, action: pick([.hold, .unhold, .toggleHold, .updateMedia]) ?? .hold,
              sdp: SwitchHarness.offer))
        case 8: request = .candidate(CandidateMessage(callID: callID, candidate: "candidate:1"))
        default:
          request =
            pick([
              .info(InfoMessage(callID: callID, dtmf: "1")), .attachCalls(AttachCallsRequest()),
            ]) ?? .attachCalls(AttachCallsRequest())
        }
        event = .requested(socket, request, id: .integer(requests))
      }

      if case .loggedIn(let socket, let key, _, _) = event { sockets[socket] = key }
      let before = sockets
      let actions = harness.step(event)
      sockets = harness.machine.connections
      // Whoever was logged in before or is now may be told something.
      watch.look(actions, before.merging(sockets) { $1 })
      for action in actions {
        if case .send(let connection, .invite(let message)) = action, let key = sockets[connection] {
          learn(message.callID, of: key)
        }
      }
      if case .requested(_, let request, let id) = event {
        let replies = actions.count { action in
          if case .reply(_, id, _) = action { true } else { false }
        }
        let mayWait = request.method == .modify
        #expect(replies == 1 || mayWait && replies == 0, "\(request) got \(replies) responses")
      }
      if case .loggedIn(let socket, _, _, _) = event, harness.machine.connections[socket] == nil {
        sockets[socket] = nil
      }
      #expect(harness.machine.questions.count <= harness.machine.legCount)
    }

    // Everybody goes away: nothing stays.
    for socket in harness.machine.connections.keys { _ = harness.step(.disconnected(socket)) }
    _ = harness.pass(.seconds(200))
    _ = harness.pass(.seconds(200))
    #expect(harness.machine.legCount == 0, "legs are stuck")
    #expect(harness.machine.callCount == 0, "calls are stuck")
    #expect(harness.machine.sessions.isEmpty && harness.machine.mediaCalls.isEmpty)
    #expect(harness.machine.questions.isEmpty)
    print("\(total) events with seed \(seed): \(invites) invites, \(harness.records.count) calls")
    #expect(invites > 0 && watch.created > 0 && !harness.records.isEmpty)
    #expect(Set(harness.records.map(\.id)).count == harness.records.count, "a call was recorded twice")
  }
}
