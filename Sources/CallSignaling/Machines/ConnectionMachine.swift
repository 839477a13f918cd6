public import VoiceCore

/// A client's whole connection to its gateway: ``SocketMachine``, ``RegistrationMachine`` and ``RecoveryMachine``
/// wired to each other, so that a driver has one value to step.
///
/// The driver opens and closes sockets, sends what it is told to send, feeds what comes back in, and wakes at
/// ``deadline``. What concerns the calls (`linkLost`, `linkRestored`, `linkAbandoned`) it hands to the
/// ``CallMachine`` of each and to the ``Outbox``; after `linkLost` it interrupts the ``RequestTable``.
///
/// Wiring: `dial` connects the socket; an opened socket logs in; a registration that is ready brings the link up; a
/// socket that ended without being told to, or a registration that failed, brings it down and to the next try.
public struct ConnectionMachine: Sendable {
  /// How long and how often is waited for what.
  public struct Configuration: Hashable, Sendable {
    /// Of the socket.
    public var socket = SocketMachine.Configuration()
    /// Of login and registration.
    public var registration = RegistrationMachine.Configuration()
    /// Of tries to connect again.
    public var retry = RecoveryMachine.defaultPolicy

    /// Creates the default.
    public init() {}
  }

  /// What happened.
  public enum Event: Hashable, Sendable {
    case connectRequested
    /// The app wants to end the connection; goodbyes were sent before.
    case disconnectRequested
    /// A call could not repair its media otherwise (``CallMachine/Action/requestReattach``).
    case reattachRequested
    /// Whether there is a call; silence is noticed sooner then.
    case callsChanged(inCall: Bool)
    case pathChanged(isSatisfied: Bool)
    case socketOpened(generation: Int)
    case socketFailed(generation: Int, VoiceFailure)
    case socketClosedByPeer(generation: Int, code: Int?)
    /// Anything came.
    case heard(generation: Int)
    case loginAccepted(LoginResult)
    case loginRefused(RPCError)
    case clientReadyReceived(ClientReady)
    case gatewayStateReceived(GatewayState)
    case gatewayStateRefused(RPCError)
    case authenticationRequired
    /// The app has a new token, password or push token.
    case refreshRequested
    /// Another connection took the session: tell the calls (``CallMachine/Event/punted``) first.
    case punted
    case timePassed
  }

  /// What to do.
  public enum Action: Hashable, Sendable {
    case open(generation: Int)
    case probe(generation: Int)
    case close(generation: Int)
    case abandon(generation: Int)
    case sendLogin
    case askGatewayState(attempt: Int)
    case linkLost(CallState.Reason)
    /// `known`: the calls that the server still knows, or `nil` if it did not say.
    case linkRestored(known: [CallID]?)
    case linkAbandoned(VoiceFailure)
    case reportSocketOpened
    /// Exactly once for each opened socket.
    case reportSocketClosed
    case reportLoggedIn(sessionID: String?)
    case reportReady
    case reportRefreshed
    case report(VoiceFailure)
    case ignore(IgnoredReason)
  }

  /// The socket.
  public private(set) var socket: SocketMachine
  /// Login and registration.
  public private(set) var registration: RegistrationMachine
  /// Tries to connect again.
  public private(set) var recovery: RecoveryMachine
  private var isOpen = false

  /// Creates a machine that is not connected.
  public init(dialect: Dialect = .telnyx, configuration: Configuration = Configuration()) {
    self.socket = SocketMachine(configuration: configuration.socket)
    self.registration = RegistrationMachine(dialect: dialect, configuration: configuration.registration)
    self.recovery = RecoveryMachine(policy: configuration.retry)
  }

  /// Takes other settings for the connections to come; only while none is wanted. The socket stays, since it may be closing.
  public mutating func reconfigure(dialect: Dialect, configuration: Configuration) {
    self.registration = RegistrationMachine(dialect: dialect, configuration: configuration.registration)
    self.recovery = RecoveryMachine(policy: configuration.retry)
  }

  /// When the machine wants to be told that time passed.
  public var deadline: VoiceInstant? {
    [self.socket.deadline, self.registration.deadline, self.recovery.deadline].compactMap { $0 }.min()
  }

  /// Whether calls can be made and come in.
  public var isReady: Bool { self.recovery.state == .up && self.registration.isRegistered }

  /// Takes an event in; `generator` is the source of the jitter.
  public mutating func handle(
    _ event: Event, at now: VoiceInstant, using generator: inout some RandomNumberGenerator
  ) -> [Action] {
    switch event {
    case .connectRequested: return self.recover(.connectRequested, now, &generator)
    case .disconnectRequested:
      return self.recover(.disconnectRequested, now, &generator)
        + self.connect(.closeRequested, now, &generator).filter { $0 != .ignore(.outOfOrder) }
    case .reattachRequested: return self.recover(.reattachRequested, now, &generator)
    case .callsChanged(let inCall): return self.connect(.callsChanged(inCall: inCall), now, &generator)
    case .pathChanged(let isSatisfied):
      return self.recover(.pathChanged(isSatisfied: isSatisfied), now, &generator)
    case .socketOpened(let generation): return self.connect(.opened(generation: generation), now, &generator)
    case .socketFailed(let generation, let failure):
      return self.connect(.failed(generation: generation, failure), now, &generator)
    case .socketClosedByPeer(let generation, let code):
      return self.connect(.closedByPeer(generation: generation, code: code), now, &generator)
    case .heard(let generation): return self.connect(.heard(generation: generation), now, &generator)
    case .loginAccepted(let result): return self.register(.loginAccepted(result), now, &generator)
    case .loginRefused(let error): return self.register(.loginRefused(error), now, &generator)
    case .clientReadyReceived(let ready): return self.register(.clientReadyReceived(ready), now, &generator)
    case .gatewayStateReceived(let state): return self.register(.gatewayStateReceived(state), now, &generator)
    case .gatewayStateRefused(let error): return self.register(.gatewayStateRefused(error), now, &generator)
    case .authenticationRequired: return self.register(.authenticationRequired, now, &generator)
    case .refreshRequested: return self.register(.refreshRequested, now, &generator)
    case .punted:
      return self.recover(.failed(VoiceFailure(.callSessionTaken)), now, &generator)
        + self.connect(.dropRequested, now, &generator).filter { $0 != .ignore(.outOfOrder) }
    case .timePassed:
      return self.recover(.timePassed, now, &generator) + self.connect(.timePassed, now, &generator)
        + self.register(.timePassed, now, &generator)
    }
  }

  private mutating func connect(
    _ event: SocketMachine.Event, _ now: VoiceInstant, _ generator: inout some RandomNumberGenerator
  ) -> [Action] {
    var actions: [Action] = []
    for action in self.socket.handle(event, at: now) {
      switch action {
      case .open(let generation): actions.append(.open(generation: generation))
      case .probe(let generation): actions.append(.probe(generation: generation))
      case .close(let generation): actions.append(.close(generation: generation))
      case .abandon(let generation): actions.append(.abandon(generation: generation))
      case .reportOpened:
        self.isOpen = true
        actions.append(.reportSocketOpened)
        actions += self.register(.socketOpened, now, &generator)
      case .reportEnded(_, let end):
        if self.isOpen { actions.append(.reportSocketClosed) }
        self.isOpen = false
        actions += self.register(.socketEnded, now, &generator)
        if let failure = end.failure { actions += self.recover(.failed(failure), now, &generator) }
      case .ignore(let reason): actions.append(.ignore(reason))
      }
    }
    return actions
  }

  private mutating func register(
    _ event: RegistrationMachine.Event, _ now: VoiceInstant, _ generator: inout some RandomNumberGenerator
  ) -> [Action] {
    var actions: [Action] = []
    for action in self.registration.handle(event, at: now) {
      switch action {
      case .sendLogin: actions.append(.sendLogin)
      case .askGatewayState(let attempt): actions.append(.askGatewayState(attempt: attempt))
      case .reportLoggedIn(let sessionID): actions.append(.reportLoggedIn(sessionID: sessionID))
      case .reportReady(let reattached):
        // A registration that was only lost for a while finds the link up.
        for step in self.recovery.handle(.registered, at: now, using: &generator) where step == .linkRestored
        {
          actions.append(.linkRestored(known: reattached))
        }
        actions.append(.reportReady)
      case .reportRefreshed: actions.append(.reportRefreshed)
      case .report(let failure): actions.append(.report(failure))
      case .fail(let failure):
        // Before the socket goes, so that its end is no failure of its own.
        actions += self.recover(.failed(failure), now, &generator)
        actions += self.connect(.dropRequested, now, &generator)
      case .ignore(let reason): actions.append(.ignore(reason))
      }
    }
    return actions
  }

  private mutating func recover(
    _ event: RecoveryMachine.Event, _ now: VoiceInstant, _ generator: inout some RandomNumberGenerator
  ) -> [Action] {
    var actions: [Action] = []
    for action in self.recovery.handle(event, at: now, using: &generator) {
      switch action {
      case .dial: actions += self.connect(.connectRequested, now, &generator)
      case .drop: actions += self.connect(.dropRequested, now, &generator)
      case .linkLost(let reason): actions.append(.linkLost(reason))
      case .linkRestored: break  // Only a registration brings it, above.
      case .linkAbandoned(let failure): actions.append(.linkAbandoned(failure))
      case .report(let failure): actions.append(.report(failure))
      case .ignore(let reason): actions.append(.ignore(reason))
      }
    }
    return actions
  }
}
