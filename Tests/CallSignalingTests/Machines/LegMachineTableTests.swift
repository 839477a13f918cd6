import CallSignaling
import Testing
import VoiceCore

/// What a leg of the gateway does with every event in every phase.
@Suite struct LegMachineTableTests {
  typealias Machine = LegMachine
  static let callID = CallID("c")
  static let busy = CallTerminationReason(sipStatus: 486)

  static let events: [(name: String, event: Machine.Event)] = [
    ("inviteReceived", .inviteReceived), ("answerReceived", .answerReceived("a")),
    ("attachReceived", .attachReceived("a")), ("byeReceived", .byeReceived(ByeMessage(callID: callID))),
    ("modify hold", .modifyReceived(.hold, nil)), ("modify unhold", .modifyReceived(.unhold, nil)),
    ("modify toggleHold", .modifyReceived(.toggleHold, nil)),
    ("modify updateMedia", .modifyReceived(.updateMedia, "o")),
    ("modify, no SDP", .modifyReceived(.updateMedia, nil)),
    ("modify novel", .modifyReceived(.unknown("x"), nil)),
    ("infoReceived", .infoReceived(InfoMessage(callID: callID, dtmf: "1"))), ("placed", .placed(offer: "o")),
    ("peerRang", .peerRang), ("peerSentMedia", .peerSentMedia("e")), ("peerAnswered", .peerAnswered("a")),
    ("peerAnswered, no SDP", .peerAnswered(nil)), ("peerEnded", .peerEnded(busy)),
    ("attachOfferMade", .attachOfferMade("o")), ("endRequested", .endRequested(busy)),
    ("socketLost", .socketLost),
    ("socketRestored", .socketRestored), ("timePassed", .timePassed),
  ]

  static func machine(_ role: Machine.Role, _ events: [Machine.Event]) -> Machine {
    var machine = Machine(role: role)
    for event in events { _ = machine.handle(event, at: at(0)) }
    return machine
  }

  static let states: [(name: String, state: Machine)] = [
    ("new", machine(.caller, [])),
    ("newB", machine(.callee, [])),
    ("rout", machine(.caller, [.inviteReceived])),
    ("ring", machine(.caller, [.inviteReceived, .peerRang])),
    ("ring-", machine(.caller, [.inviteReceived, .peerRang, .socketLost])),
    ("offr", machine(.callee, [.placed(offer: "o")])),
    ("offr-", machine(.callee, [.placed(offer: "o"), .socketLost])),
    ("est", machine(.caller, [.inviteReceived, .peerAnswered("a")])),
    ("est-", machine(.caller, [.inviteReceived, .peerAnswered("a"), .socketLost])),
    ("est~", machine(.caller, [.inviteReceived, .peerAnswered("a"), .socketLost, .socketRestored])),
    ("end", machine(.callee, [.placed(offer: "o"), .peerEnded(busy)])),
  ]

  static func name(of machine: Machine) -> String {
    let phase =
      switch machine.phase {
      case .new: machine.role == .caller ? "new" : "newB"
      case .routing: "rout"
      case .ringing: "ring"
      case .offering: "offr"
      case .established: "est"
      case .ended: "end"
      }
    guard !machine.isEnded else { return phase }
    return switch machine.link {
    case .attached: phase
    case .detached: phase + "-"
    case .attaching: phase + "~"
    }
  }

  static func isRequest(_ event: Machine.Event) -> Bool {
    switch event {
    case .inviteReceived, .answerReceived, .attachReceived, .byeReceived, .modifyReceived, .infoReceived: true
    case .placed, .peerRang, .peerSentMedia, .peerAnswered, .peerEnded, .attachOfferMade, .endRequested,
      .socketLost, .socketRestored, .timePassed:
      false
    }
  }

  static func responses(in actions: [Machine.Action]) -> Int {
    actions.count { action in
      switch action {
      case .accept, .refuse, .renegotiate: true
      case .route, .makeAttachOffer, .send, .tellPeer, .end, .ignore: false
      }
    }
  }

  @Test func everyRequestHasExactlyOneResponse() {
    for (stateName, state) in Self.states {
      for (name, event) in Self.events {
        var machine = state
        let actions = machine.handle(event, at: lateInstant)
        #expect(Self.responses(in: actions) == (Self.isRequest(event) ? 1 : 0), "\(name) in \(stateName)")
      }
    }
  }

  /// `x`: refused.
  @Test func everyPhaseDecidesEveryEvent() {
    let table = TransitionTable(states: Self.states, events: Self.events) { state, event in
      var machine = state
      let actions = machine.handle(event, at: lateInstant)
      let refused = actions.contains { if case .refuse = $0 { true } else { false } }
      return (
        refused ? "x" : Self.name(of: machine),
        actions.contains { if case .ignore = $0 { true } else { false } },
        !actions.isEmpty
      )
    }
    #expect(table.text == Self.table, "\n\(table.text)\n")
  }

  static let table = """
                          new   newB  rout   ring   ring-  offr   offr-  est   est-  est~  end
    inviteReceived        rout  x     =      =      =      x      x      =     =     =     x
    answerReceived        x     x     x      x      x      est    est-   x     x     x     x
    attachReceived        x     x     x      x      x      x      x      x     x     est   x
    byeReceived           x     x     end    end    end    end    end    end   end   end   x
    modify hold           x     x     x      x      x      x      x      =     =     =     x
    modify unhold         x     x     x      x      x      x      x      =     =     =     x
    modify toggleHold     x     x     x      x      x      x      x      =     =     =     x
    modify updateMedia    x     x     x      x      x      x      x      =     =     =     x
    modify, no SDP        x     x     x      x      x      x      x      x     x     x     x
    modify novel          x     x     x      x      x      x      x      x     x     x     x
    infoReceived          x     x     =      =      =      x      x      =     =     =     x
    placed                .     offr  .      .      .      .      .      .     .     .     .
    peerRang              .     .     ring   .      .      .      .      .     .     .     .
    peerSentMedia         .     .     =      =      -      .      .      .     .     .     .
    peerAnswered          .     .     est    est    est-   .      .      .     .     .     .
    peerAnswered, no SDP  .     .     end    end    end    .      .      .     .     .     .
    peerEnded             end   end   end    end    end    end    end    end   end   end   .
    attachOfferMade       .     .     .      .      .      .      .      .     .     =     .
    endRequested          end   end   end    end    end    end    end    end   end   end   .
    socketLost            end   end   rout-  ring-  .      offr-  .      est-  .     est-  .
    socketRestored        .     .     .      .      ring   .      offr   .     est~  .     .
    timePassed            -     -     end    end    end    end    end    -     end   end   -
    """
}
