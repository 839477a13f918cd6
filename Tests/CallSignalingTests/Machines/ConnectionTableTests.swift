import CallSignaling
import Testing
import VoiceCore

/// What the machines of a connection do with every event in every state.
@Suite struct ConnectionTableTests {
  static let failure = VoiceFailure(.serverUnreachable)

  @Test func everyStateOfASocketDecidesEveryEvent() {
    typealias Machine = SocketMachine
    func machine(_ events: [Machine.Event], time: Double = 0) -> Machine {
      var machine = Machine()
      for event in events { _ = machine.handle(event, at: at(time)) }
      return machine
    }
    var probing = machine([.connectRequested, .opened(generation: 1)])
    _ = probing.handle(.timePassed, at: at(50))
    let table = TransitionTable(
      states: [
        ("idle", machine([])), ("connecting", machine([.connectRequested])),
        ("open", machine([.connectRequested, .opened(generation: 1)])), ("probing", probing),
        ("closing", machine([.connectRequested, .opened(generation: 1), .closeRequested])),
      ],
      events: [
        ("connectRequested", .connectRequested), ("opened", .opened(generation: 1)),
        ("heard", .heard(generation: 1)),
        ("failed", .failed(generation: 1, Self.failure)),
        ("closedByPeer", .closedByPeer(generation: 1, code: 1001)), ("closeRequested", .closeRequested),
        ("dropRequested", .dropRequested), ("callsChanged", .callsChanged(inCall: true)),
        ("timePassed", .timePassed), ("opened, stale", .opened(generation: 0)),
        ("failed, stale", .failed(generation: 0, Self.failure)), ("heard, stale", .heard(generation: 7)),
      ]
    ) { (state: Machine, event: Machine.Event) in
      var machine = state
      let actions = machine.handle(event, at: at(100))
      let name =
        switch machine.state {
        case .idle: "idle"
        case .connecting: "connecting"
        case .open: "open"
        case .probing: "probing"
        case .closing: "closing"
        }
      return (
        name, actions.contains { if case .ignore = $0 { true } else { false } },
        !actions.isEmpty || machine.deadline != state.deadline
      )
    }
    #expect(
      table.text == """
                          idle        connecting  open     probing  closing
        connectRequested  connecting  .           .        .        connecting
        opened            .           open        .        .        .
        heard             .           .           =        open     -
        failed            .           idle        idle     idle     idle
        closedByPeer      .           idle        idle     idle     idle
        closeRequested    .           idle        closing  idle     .
        dropRequested     .           idle        idle     idle     idle
        callsChanged      -           -           =        =        -
        timePassed        -           idle        probing  idle     idle
        opened, stale     .           .           .        .        .
        failed, stale     .           .           .        .        .
        heard, stale      .           .           .        .        .
        """, "\n\(table.text)\n")
  }

  @Test func everyStateOfARegistrationDecidesEveryEvent() {
    typealias Machine = RegistrationMachine
    func machine(_ events: [Machine.Event]) -> Machine {
      var machine = Machine()
      for (index, event) in events.enumerated() { _ = machine.handle(event, at: at(Double(index))) }
      return machine
    }
    let login: [Machine.Event] = [.socketOpened, .loginAccepted(LoginResult(sessionID: "s"))]
    let registered = login + [.clientReadyReceived(ClientReady()), .gatewayStateReceived(.registered)]
    let refused = RPCError(code: .authenticationFailed, message: "no")
    let table = TransitionTable(
      states: [
        ("idle", machine([])), ("login", machine([.socketOpened])), ("await", machine(login)),
        ("ask", machine(login + [.clientReadyReceived(ClientReady())])), ("reg", machine(registered)),
        ("refresh", machine(registered + [.refreshRequested])),
        (
          "demanded",
          {
            var machine = machine(registered)
            _ = machine.handle(.authenticationRequired, at: at(50))
            return machine
          }()
        ),
        ("failed", machine([.socketOpened, .loginRefused(refused)])),
      ],
      events: [
        ("socketOpened", .socketOpened), ("loginAccepted", .loginAccepted(LoginResult(sessionID: nil))),
        ("loginRefused", .loginRefused(refused)), ("clientReady", .clientReadyReceived(ClientReady())),
        ("REGED", .gatewayStateReceived(.registered)), ("UNREGED", .gatewayStateReceived(.unregistered)),
        ("unknown state", .gatewayStateReceived(.unknown("X"))),
        ("gatewayStateRefused", .gatewayStateRefused(refused)), ("authRequired", .authenticationRequired),
        ("refreshRequested", .refreshRequested), ("socketEnded", .socketEnded), ("timePassed", .timePassed),
      ]
    ) { (state: Machine, event: Machine.Event) in
      var machine = state
      let actions = machine.handle(event, at: at(100))
      let name =
        switch machine.state {
        case .idle: "idle"
        case .loggingIn: "login"
        case .awaitingReady: "await"
        case .asking: "ask"
        case .registered: "reg"
        case .refreshing(_, let isDemanded, _): isDemanded ? "demanded" : "refresh"
        case .failed: "failed"
        }
      return (
        name, actions.contains { if case .ignore = $0 { true } else { false } },
        !actions.isEmpty || machine.deadline != state.deadline
      )
    }
    #expect(
      table.text == """
                             idle   login   await  ask    reg       refresh  demanded  failed
        socketOpened         login  =       login  login  login     login    login     login
        loginAccepted        .      await   .      .      .         reg      reg       .
        loginRefused         .      failed  .      .      .         reg      failed    .
        clientReady          .      -       ask    .      .         .        .         .
        REGED                .      .       reg    reg    -         -        -         .
        UNREGED              .      .       -      -      ask       -        -         .
        unknown state        .      .       -      -      ask       -        -         .
        gatewayStateRefused  .      .       .      -      .         .        .         .
        authRequired         .      .       login  login  demanded  .        .         .
        refreshRequested     .      -       -      -      refresh   -        -         .
        socketEnded          -      idle    idle   idle   idle      idle     idle      idle
        timePassed           -      failed  ask    =      -         reg      failed    -
        """, "\n\(table.text)\n")
  }

  @Test func everyStateOfRecoveryDecidesEveryEvent() {
    typealias Machine = RecoveryMachine
    func machine(_ events: [Machine.Event]) -> Machine {
      var machine = Machine()
      var random = Splitmix(state: 1)
      for event in events { _ = machine.handle(event, at: at(0), using: &random) }
      return machine
    }
    let table = TransitionTable(
      states: [
        ("offline", machine([])), ("connecting", machine([.connectRequested])),
        ("up", machine([.connectRequested, .registered])),
        ("waiting", machine([.connectRequested, .failed(Self.failure)])),
        ("noPath", machine([.connectRequested, .pathChanged(isSatisfied: false)])),
        ("gaveUp", machine([.connectRequested, .failed(VoiceFailure(.callLoginRefused))])),
      ],
      events: [
        ("connectRequested", .connectRequested), ("disconnectRequested", .disconnectRequested),
        ("registered", .registered), ("failed, to be retried", .failed(Self.failure)),
        ("failed, for good", .failed(VoiceFailure(.callLoginRefused))),
        ("reattachRequested", .reattachRequested),
        ("path", .pathChanged(isSatisfied: true)), ("no path", .pathChanged(isSatisfied: false)),
        ("timePassed", .timePassed),
      ]
    ) { (state: Machine, event: Machine.Event) in
      var machine = state
      var random = Splitmix(state: 1)
      let actions = machine.handle(event, at: at(100), using: &random)
      let name =
        switch machine.state {
        case .offline: "offline"
        case .connecting: "connecting"
        case .up: "up"
        case .waiting: "waiting"
        case .noPath: "noPath"
        case .gaveUp: "gaveUp"
        }
      return (
        name, actions.contains { if case .ignore = $0 { true } else { false } },
        !actions.isEmpty || machine.deadline != state.deadline
      )
    }
    #expect(
      table.text == """
                               offline     connecting  up          waiting     noPath      gaveUp
        connectRequested       connecting  .           .           connecting  connecting  connecting
        disconnectRequested    .           offline     offline     offline     offline     offline
        registered             .           up          .           .           .           .
        failed, to be retried  .           waiting     waiting     .           .           .
        failed, for good       .           gaveUp      gaveUp      gaveUp      gaveUp      .
        reattachRequested      .           -           connecting  -           -           .
        path                   -           =           connecting  connecting  connecting  -
        no path                -           noPath      noPath      noPath      .           -
        timePassed             -           -           -           connecting  connecting  -
        """, "\n\(table.text)\n")
  }
}
