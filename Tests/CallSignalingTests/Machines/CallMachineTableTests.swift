import CallSignaling
import Testing
import VoiceCore

/// What a call does with every event in every phase, on every link and with every state of media.
@Suite struct CallMachineTableTests {
  static let failure = VoiceFailure(.callMediaFailed)
  static let refused = CallMachine.Outcome.refused(RPCError(code: .sessionError, message: "no"))
  static let callID = CallID("c")

  static let events: [(name: String, event: CallMachine.Event)] = [
    ("dialed", .dialed),
    ("answerRequested", .answerRequested),
    ("hangupRequested", .hangupRequested),
    ("holdRequested", .holdRequested(.held)),
    ("tonesRequested", .tonesRequested("1")),
    ("offerMade", .offerMade("offer")),
    ("offerFailed", .offerFailed(failure)),
    ("answerMade", .answerMade("answer")),
    ("answerFailed", .answerFailed(failure)),
    ("restartOfferMade", .restartOfferMade("restart")),
    ("restartFailed", .restartFailed(failure)),
    ("remoteRejected", .remoteRejected(failure)),
    ("mediaConnected", .mediaConnected),
    ("mediaInterrupted", .mediaInterrupted),
    ("mediaFailed", .mediaFailed),
    ("invite accepted", .inviteSettled(.accepted(.sent))),
    ("invite refused", .inviteSettled(refused)),
    ("invite timedOut", .inviteSettled(.timedOut)),
    ("invite interrupted", .inviteSettled(.interrupted)),
    ("answer accepted", .answerSettled(.accepted(.sent))),
    ("answer refused", .answerSettled(refused)),
    ("answer timedOut", .answerSettled(.timedOut)),
    ("answer interrupted", .answerSettled(.interrupted)),
    ("attach accepted", .attachSettled(.accepted(.sent))),
    ("attach refused", .attachSettled(refused)),
    ("attach timedOut", .attachSettled(.timedOut)),
    ("attach interrupted", .attachSettled(.interrupted)),
    ("hold accepted", .holdSettled(.held, .accepted(.sent))),
    ("hold refused", .holdSettled(.held, refused)),
    ("hold timedOut", .holdSettled(.held, .timedOut)),
    (
      "restart accepted",
      .restartSettled(.accepted(.modify(ModifyResult(callID: callID, action: .updateMedia, sdp: "a"))))
    ),
    ("restart without SDP", .restartSettled(.accepted(.sent))),
    ("restart refused", .restartSettled(refused)),
    ("restart interrupted", .restartSettled(.interrupted)),
    ("invitedAgain", .invitedAgain("offer 2")),
    ("ringingReceived", .ringingReceived),
    ("mediaReceived", .mediaReceived("early")),
    ("answerReceived", .answerReceived("answer")),
    ("answerReceived, no SDP", .answerReceived(nil)),
    ("attachReceived", .attachReceived("offer 3")),
    ("byeReceived", .byeReceived(ByeMessage(callID: callID))),
    ("linkLost", .linkLost(.networkLost)),
    ("linkRestored, known", .linkRestored(isKnown: true)),
    ("linkRestored, unknown", .linkRestored(isKnown: false)),
    ("linkRestored, not said", .linkRestored(isKnown: nil)),
    ("linkAbandoned", .linkAbandoned(failure)),
    ("punted", .punted),
    ("timePassed", .timePassed),
  ]

  static func machine(_ events: [CallMachine.Event], inbound: Bool = false) -> CallMachine {
    var machine = inbound ? CallMachine(inbound: "offer", at: at(0)) : CallMachine()
    for event in events { _ = machine.handle(event, at: at(0)) }
    return machine
  }

  static let ringing: [CallMachine.Event] = [
    .dialed, .offerMade("o"), .inviteSettled(.accepted(.sent)), .ringingReceived,
  ]
  static let talking = ringing + [.answerReceived("a"), .mediaConnected]

  static let phases: [(name: String, state: CallMachine)] = [
    ("idle", machine([])),
    ("prep", machine([.dialed])),
    ("inv", machine([.dialed, .offerMade("o")])),
    ("try", machine([.dialed, .offerMade("o"), .inviteSettled(.accepted(.sent))])),
    ("ring", machine(ringing)),
    ("inc", machine([], inbound: true)),
    ("prepA", machine([.answerRequested], inbound: true)),
    ("ansg", machine([.answerRequested, .answerMade("a")], inbound: true)),
    ("est", machine(talking)),
    ("end", machine([.hangupRequested])),
  ]

  static func name(of machine: CallMachine) -> String {
    switch machine.phase {
    case .idle: "idle"
    case .preparing: "prep"
    case .readyToInvite: "rdyI"
    case .inviting: "inv"
    case .trying: "try"
    case .ringing: "ring"
    case .incoming: "inc"
    case .preparingAnswer: "prepA"
    case .readyToAnswer: "rdyA"
    case .answering: "ansg"
    case .established: "est"
    case .ended: "end"
    }
  }

  static func linkName(of machine: CallMachine) -> String {
    if machine.isEnded { return "end" }
    return switch machine.link {
    case .up: "up"
    case .down(.networkLost): "lost"
    case .down: "down"
    case .awaitingAttach: "await"
    case .makingAttach: "make"
    case .attaching: "attach"
    }
  }

  static func mediaName(of machine: CallMachine) -> String {
    if machine.isEnded { return "end" }
    return switch machine.media {
    case .idle: "idle"
    case .connecting: "connecting"
    case .connected: "connected"
    case .interrupted: "interrupted"
    case .restarting: "restarting"
    case .failed: "failed"
    }
  }

  static func table(
    _ states: [(name: String, state: CallMachine)], _ name: @escaping (CallMachine) -> String
  ) -> String {
    TransitionTable(states: states, events: events) { state, event in
      var machine = state
      let actions = machine.handle(event, at: lateInstant)
      let ignored = actions.contains { if case .ignore = $0 { true } else { false } }
      let name = name(machine)
      // A goodbye for the gateway is as important as the end itself.
      let bye = actions.contains { if case .sendBye = $0 { true } else { false } }
      return (bye ? name + "!" : name, ignored, !actions.isEmpty || machine.deadline != state.deadline)
    }.text
  }

  @Test func everyPhaseDecidesEveryEvent() {
    let text = Self.table(Self.phases, Self.name)
    #expect(text == Self.phaseTable, "\n\(text)\n")
  }

  @Test func everyLinkDecidesEveryEvent() {
    let lost = Self.talking + [.linkLost(.networkSwitch)]
    let attached = lost + [.linkRestored(isKnown: true)]
    let states: [(name: String, state: CallMachine)] = [
      ("up", Self.machine(Self.talking)),
      ("lost", Self.machine(Self.talking + [.linkLost(.networkLost)])),
      ("down", Self.machine(lost)),
      ("await", Self.machine(attached)),
      ("make", Self.machine(attached + [.attachReceived("o")])),
      ("attach", Self.machine(attached + [.attachReceived("o"), .answerMade("a")])),
    ]
    let text = Self.table(states, Self.linkName)
    #expect(text == Self.linkTable, "\n\(text)\n")
  }

  @Test func everyStateOfMediaDecidesEveryEvent() {
    let broken = Self.talking + [.mediaFailed]
    let states: [(name: String, state: CallMachine)] = [
      ("connecting", Self.machine(Self.ringing + [.answerReceived("a")])),
      ("connected", Self.machine(Self.talking)),
      ("interrupted", Self.machine(Self.talking + [.mediaInterrupted])),
      ("restarting", Self.machine(broken)),
      ("failed", Self.machine(broken + [.restartSettled(Self.refused)])),
    ]
    let text = Self.table(states, Self.mediaName)
    #expect(text == Self.mediaTable, "\n\(text)\n")
  }

  @Test func readyPhasesWaitForTheLink() {
    let down: CallMachine.Event = .linkLost(.networkLost)
    let up: CallMachine.Event = .linkRestored(isKnown: nil)
    var invite = Self.machine([.dialed, down, .offerMade("o")])
    #expect(invite.phase == .readyToInvite("o"))
    for (name, event) in Self.events where !["linkRestored, known", "hangupRequested"].contains(name) {
      var machine = invite
      _ = machine.handle(event, at: at(1))
      #expect([.readyToInvite("o"), .inviting].contains(machine.phase) || machine.isEnded, "\(name)")
    }
    #expect(invite.handle(up, at: at(1)) == [.sendInvite("o")])
    var answer = Self.machine([down, .answerRequested, .answerMade("a")], inbound: true)
    #expect(answer.phase == .readyToAnswer(offer: "offer", answer: "a"))
    #expect(
      answer.handle(up, at: at(1)) == [.sendAnswer("a"), .reportState(.CONNECTING)])
  }

  static let phaseTable = """
                            idle  prep  inv   try   ring  inc    prepA  ansg   est   end
    dialed                  prep  .     .     .     .     .      .      .      .     .
    answerRequested         .     .     .     .     .     prepA  .      .      .     .
    hangupRequested         end   end   end!  end!  end!  end!   end!   end!   end!  .
    holdRequested           =     =     =     =     =     =      =      =      =     .
    tonesRequested          =     =     =     =     =     =      =      =      =     .
    offerMade               .     inv   .     .     .     .      .      .      .     .
    offerFailed             .     end   .     .     .     .      .      .      .     .
    answerMade              .     .     .     .     .     .      ansg   .      .     .
    answerFailed            .     .     .     .     .     .      end!   .      .     .
    restartOfferMade        .     .     .     .     .     .      .      .      .     .
    restartFailed           .     .     .     .     .     .      .      .      .     .
    remoteRejected          end   end   end!  end!  end!  end!   end!   end!   end!  .
    mediaConnected          -     -     -     -     -     -      -      -      -     .
    mediaInterrupted        .     .     .     .     .     .      .      .      =     .
    mediaFailed             -     -     -     -     -     -      -      -      =     .
    invite accepted         .     .     try   .     .     .      .      .      .     .
    invite refused          .     .     end   .     .     .      .      .      .     .
    invite timedOut         .     .     end!  .     .     .      .      .      .     .
    invite interrupted      .     .     -     .     .     .      .      .      .     .
    answer accepted         .     .     .     .     .     .      .      est    .     .
    answer refused          .     .     .     .     .     .      .      end    .     .
    answer timedOut         .     .     .     .     .     .      .      end!   .     .
    answer interrupted      .     .     .     .     .     .      .      -      .     .
    attach accepted         .     .     .     .     .     .      .      .      .     .
    attach refused          .     .     .     .     .     .      .      .      .     .
    attach timedOut         .     .     .     .     .     .      .      .      .     .
    attach interrupted      .     .     .     .     .     .      .      .      .     .
    hold accepted           .     .     .     .     .     .      .      .      =     .
    hold refused            .     .     .     .     .     .      .      .      =     .
    hold timedOut           .     .     .     .     .     .      .      .      =     .
    restart accepted        .     .     .     .     .     .      .      .      .     .
    restart without SDP     .     .     .     .     .     .      .      .      .     .
    restart refused         .     .     .     .     .     .      .      .      .     .
    restart interrupted     .     .     .     .     .     .      .      .      .     .
    invitedAgain            .     .     .     .     .     -      =      prepA  .     .
    ringingReceived         .     .     ring  ring  -     .      .      .      .     .
    mediaReceived           .     .     =     =     =     .      .      .      .     .
    answerReceived          .     .     est   est   est   .      .      .      .     .
    answerReceived, no SDP  .     .     end!  end!  end!  .      .      .      .     .
    attachReceived          .     .     .     =     =     -      =      =      =     .
    byeReceived             end   end   end   end   end   end    end    end    end   .
    linkLost                -     -     =     =     =     =      =      =      =     .
    linkRestored, known     .     .     .     .     .     .      .      .      .     .
    linkRestored, unknown   .     .     .     .     .     .      .      .      .     .
    linkRestored, not said  .     .     .     .     .     .      .      .      .     .
    linkAbandoned           end   end   end!  end!  end!  end!   end!   end!   end!  .
    punted                  end   end   end   end   end   end    end    end    end   .
    timePassed              -     end   end!  end!  end!  end!   end!   end!   -     .
    """
  static let linkTable = """
                            up    lost   down   await  make    attach
    dialed                  .     .      .      .      .       .
    answerRequested         .     .      .      .      .       .
    hangupRequested         end!  end!   end!   end!   end!    end!
    holdRequested           =     =      =      =      =       =
    tonesRequested          =     =      =      =      =       =
    offerMade               .     .      .      .      .       .
    offerFailed             .     .      .      .      .       .
    answerMade              .     .      .      .      attach  .
    answerFailed            .     .      .      .      end!    .
    restartOfferMade        .     .      .      .      .       .
    restartFailed           .     .      .      .      .       .
    remoteRejected          end!  end!   end!   end!   end!    end!
    mediaConnected          -     -      -      -      -       -
    mediaInterrupted        =     -      -      -      -       -
    mediaFailed             =     -      -      -      -       -
    invite accepted         .     .      .      .      .       .
    invite refused          .     .      .      .      .       .
    invite timedOut         .     .      .      .      .       .
    invite interrupted      .     .      .      .      .       .
    answer accepted         .     .      .      .      .       .
    answer refused          .     .      .      .      .       .
    answer timedOut         .     .      .      .      .       .
    answer interrupted      .     .      .      .      .       .
    attach accepted         .     .      .      .      .       up
    attach refused          .     .      .      .      .       end
    attach timedOut         .     .      .      .      .       await
    attach interrupted      .     .      .      .      .       -
    hold accepted           =     =      =      =      =       =
    hold refused            =     =      =      =      =       =
    hold timedOut           =     =      =      =      =       =
    restart accepted        .     .      .      .      .       .
    restart without SDP     .     .      .      .      .       .
    restart refused         .     .      .      .      .       .
    restart interrupted     .     .      .      .      .       .
    invitedAgain            .     .      .      .      .       .
    ringingReceived         .     .      .      .      .       .
    mediaReceived           .     .      .      .      .       .
    answerReceived          .     .      .      .      .       .
    answerReceived, no SDP  .     .      .      .      .       .
    attachReceived          make  -      -      make   =       make
    byeReceived             end   end    end    end    end     end
    linkLost                lost  -      lost   lost   lost    lost
    linkRestored, known     .     await  await  .      .       .
    linkRestored, unknown   .     end    end    .      .       .
    linkRestored, not said  .     await  await  .      .       .
    linkAbandoned           end!  end!   end!   end!   end!    end!
    punted                  end   end    end    end    end     end
    timePassed              -     end!   end!   end!   end!    end!
    """
  static let mediaTable = """
                            connecting  connected    interrupted  restarting  failed
    dialed                  .           .            .            .           .
    answerRequested         .           .            .            .           .
    hangupRequested         end!        end!         end!         end!        end!
    holdRequested           =           =            =            =           =
    tonesRequested          =           =            =            =           =
    offerMade               .           .            .            .           .
    offerFailed             .           .            .            .           .
    answerMade              .           .            .            .           .
    answerFailed            .           .            .            .           .
    restartOfferMade        .           .            .            =           .
    restartFailed           .           .            .            failed      .
    remoteRejected          end!        end!         end!         failed      .
    mediaConnected          connected   -            connected    connected   connected
    mediaInterrupted        .           interrupted  .            .           .
    mediaFailed             restarting  restarting   restarting   failed      .
    invite accepted         .           .            .            .           .
    invite refused          .           .            .            .           .
    invite timedOut         .           .            .            .           .
    invite interrupted      .           .            .            .           .
    answer accepted         .           .            .            .           .
    answer refused          .           .            .            .           .
    answer timedOut         .           .            .            .           .
    answer interrupted      .           .            .            .           .
    attach accepted         .           .            .            .           .
    attach refused          .           .            .            .           .
    attach timedOut         .           .            .            .           .
    attach interrupted      .           .            .            .           .
    hold accepted           =           =            =            =           =
    hold refused            =           =            =            =           =
    hold timedOut           =           =            =            =           =
    restart accepted        .           .            .            =           .
    restart without SDP     .           .            .            failed      .
    restart refused         .           .            .            failed      .
    restart interrupted     .           .            .            -           .
    invitedAgain            .           .            .            .           .
    ringingReceived         .           .            .            .           .
    mediaReceived           .           .            .            .           .
    answerReceived          .           .            .            .           .
    answerReceived, no SDP  .           .            .            .           .
    attachReceived          =           =            =            =           =
    byeReceived             end         end          end          end         end
    linkLost                =           =            =            =           =
    linkRestored, known     .           .            .            .           .
    linkRestored, unknown   .           .            .            .           .
    linkRestored, not said  .           .            .            .           .
    linkAbandoned           end!        end!         end!         end!        end!
    punted                  end         end          end          end         end
    timePassed              restarting  -            restarting   end!        end!
    """
}
