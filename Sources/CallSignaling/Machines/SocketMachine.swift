public import VoiceCore

/// Decides about one connection after the other to a gateway: opening, silence, closing.
///
/// States: *idle*; *connecting* (until a deadline); *open* (heard something lately); *probing* (silent for too long,
/// asked for a sign of life); *closing* (waiting for the other end, until a deadline).
///
/// | event | idle | connecting | open | probing | closing |
/// |---|---|---|---|---|---|
/// | connectRequested | → connecting | – | – | – | abandon, → connecting |
/// | opened | stale | → open | – | – | – |
/// | heard | stale | – | open | → open | – |
/// | failed, closedByPeer | stale | → idle | → idle | → idle | → idle |
/// | closeRequested | – | abandon, → idle | → closing | abandon, → idle | – |
/// | dropRequested | – | abandon, → idle | abandon, → idle | abandon, → idle | abandon, → idle |
/// | callsChanged | notes it | notes it | moves the deadline | moves the deadline | notes it |
/// | timePassed | – | abandon, → idle | → probing | abandon, → idle | abandon, → idle |
///
/// Each connection has a generation; what is told of an earlier one is stale. For each `open` there is one
/// `reportEnded`. A half-open connection is found within silence and answer time together: 3.5 s in a call, 20 s
/// otherwise.
public struct SocketMachine: Sendable {
  /// How long the machine waits.
  public struct Configuration: Hashable, Sendable {
    /// How long opening may take (telnyx.md section 3.1).
    public var connectTimeout: Duration = .seconds(5)
    /// How long the other end may take to close.
    public var closeTimeout: Duration = .seconds(2)
    /// How long nothing may come in a call before a probe.
    public var silenceInCall: Duration = .seconds(2)
    /// How long the answer to a probe may take in a call.
    public var answerInCall: Duration = .milliseconds(1500)
    /// How long nothing may come without a call before a probe.
    public var silenceIdle: Duration = .seconds(15)
    /// How long the answer to a probe may take without a call.
    public var answerIdle: Duration = .seconds(5)

    /// Creates the default: 3.5 s in a call, 20 s otherwise.
    public init() {}
  }

  /// Where the connection stands.
  public enum State: Hashable, Sendable {
    case idle
    case connecting(until: VoiceInstant)
    case open(heard: VoiceInstant)
    case probing(since: VoiceInstant)
    case closing(until: VoiceInstant)
  }

  /// How a connection ended.
  public enum End: Hashable, Sendable {
    /// It could not be opened.
    case notOpened(VoiceFailure)
    /// It broke.
    case broken(VoiceFailure)
    /// The other end closed it, with a code of RFC 6455 section 7.4 if it gave one.
    case closedByPeer(code: Int?)
    /// It looked open, but nothing came through.
    case silent
    /// This end closed it.
    case closed
    /// This end gave it up at once, for a better path.
    case dropped

    /// The failure that the end means, or `nil` if this end wanted it.
    public var failure: VoiceFailure? {
      switch self {
      case .notOpened(let failure), .broken(let failure): failure
      case .closedByPeer(let code):
        VoiceFailure(
          .callConnectionLost,
          message: "The gateway closed the connection" + (code.map { " (code \($0))." } ?? "."))
      case .silent: VoiceFailure(.callConnectionSilent)
      case .closed, .dropped: nil
      }
    }
  }

  /// What happened.
  public enum Event: Hashable, Sendable {
    case connectRequested
    case opened(generation: Int)
    /// Anything came: a frame, a WebSocket pong.
    case heard(generation: Int)
    case failed(generation: Int, VoiceFailure)
    case closedByPeer(generation: Int, code: Int?)
    case closeRequested
    case dropRequested
    case callsChanged(inCall: Bool)
    case timePassed
  }

  /// What to do.
  public enum Action: Hashable, Sendable {
    /// Open a connection and tell of it with this generation.
    case open(generation: Int)
    /// Ask for a sign of life: `telnyx_rtc.ping`, or a WebSocket ping; anything that comes is one.
    case probe(generation: Int)
    /// Begin to close.
    case close(generation: Int)
    /// Close without waiting for anything.
    case abandon(generation: Int)
    case reportOpened(generation: Int)
    /// Exactly once for each `open`.
    case reportEnded(generation: Int, End)
    case ignore(IgnoredReason)
  }

  /// How long the machine waits.
  public let configuration: Configuration
  /// Where the connection stands.
  public private(set) var state = State.idle
  /// The number of the present connection, or of the last one.
  public private(set) var generation = 0
  private var isInCall = false

  /// Creates a machine without a connection.
  public init(configuration: Configuration = Configuration()) {
    self.configuration = configuration
  }

  /// When the machine wants to be told that time passed.
  public var deadline: VoiceInstant? {
    switch self.state {
    case .idle: nil
    case .connecting(let until), .closing(let until): until
    case .open(let heard):
      heard.advanced(by: self.isInCall ? self.configuration.silenceInCall : self.configuration.silenceIdle)
    case .probing(let since):
      since.advanced(by: self.isInCall ? self.configuration.answerInCall : self.configuration.answerIdle)
    }
  }

  /// Takes an event in.
  public mutating func handle(_ event: Event, at now: VoiceInstant) -> [Action] {
    switch event {
    case .connectRequested: return self.connectRequested(at: now)
    case .opened(let generation): return self.opened(generation, at: now)
    case .heard(let generation): return self.heard(generation, at: now)
    case .failed(let generation, let failure):
      return self.ended(generation) { wasOpen in wasOpen ? .broken(failure) : .notOpened(failure) }
    case .closedByPeer(let generation, let code):
      return self.ended(generation) { _ in .closedByPeer(code: code) }
    case .closeRequested: return self.closeRequested(at: now)
    case .dropRequested: return self.dropRequested()
    case .callsChanged(let inCall):
      self.isInCall = inCall
      return []
    case .timePassed: return self.timePassed(at: now)
    }
  }

  private mutating func connectRequested(at now: VoiceInstant) -> [Action] {
    var actions: [Action] = []
    switch self.state {
    case .connecting, .open, .probing: return [.ignore(.outOfOrder)]
    case .closing: actions = self.abandon(.closed)
    case .idle: break
    }
    self.generation += 1
    self.state = .connecting(until: now.advanced(by: self.configuration.connectTimeout))
    return actions + [.open(generation: self.generation)]
  }

  private mutating func opened(_ generation: Int, at now: VoiceInstant) -> [Action] {
    guard generation == self.generation else { return [.ignore(.stale)] }
    switch self.state {
    case .connecting:
      self.state = .open(heard: now)
      return [.reportOpened(generation: generation)]
    case .idle: return [.ignore(.stale)]
    case .open, .probing, .closing: return [.ignore(.outOfOrder)]
    }
  }

  private mutating func heard(_ generation: Int, at now: VoiceInstant) -> [Action] {
    guard generation == self.generation else { return [.ignore(.stale)] }
    switch self.state {
    case .open(let heard):
      self.state = .open(heard: max(heard, now))
      return []
    case .probing:
      self.state = .open(heard: now)
      return []
    case .idle: return [.ignore(.stale)]
    case .connecting: return [.ignore(.outOfOrder)]
    case .closing: return []
    }
  }

  private mutating func ended(_ generation: Int, _ end: (_ wasOpen: Bool) -> End) -> [Action] {
    guard generation == self.generation else { return [.ignore(.stale)] }
    let how: End
    switch self.state {
    case .idle: return [.ignore(.stale)]
    case .connecting: how = end(false)
    case .open, .probing: how = end(true)
    case .closing: how = .closed
    }
    self.state = .idle
    return [.reportEnded(generation: generation, how)]
  }

  private mutating func closeRequested(at now: VoiceInstant) -> [Action] {
    switch self.state {
    case .idle, .closing: return [.ignore(.outOfOrder)]
    // Nobody answers a connection that is not open, or is silent.
    case .connecting, .probing: return self.abandon(.closed)
    case .open:
      self.state = .closing(until: now.advanced(by: self.configuration.closeTimeout))
      return [.close(generation: self.generation)]
    }
  }

  private mutating func dropRequested() -> [Action] {
    switch self.state {
    case .idle: return [.ignore(.outOfOrder)]
    case .connecting, .open, .probing: return self.abandon(.dropped)
    case .closing: return self.abandon(.closed)
    }
  }

  private mutating func timePassed(at now: VoiceInstant) -> [Action] {
    guard let deadline = self.deadline, now >= deadline else { return [] }
    switch self.state {
    case .idle: return []
    case .connecting: return self.abandon(.notOpened(VoiceFailure(.serverTimedOut)))
    case .open:
      self.state = .probing(since: now)
      return [.probe(generation: self.generation)]
    case .probing: return self.abandon(.silent)
    case .closing: return self.abandon(.closed)
    }
  }

  private mutating func abandon(_ end: End) -> [Action] {
    self.state = .idle
    return [.abandon(generation: self.generation), .reportEnded(generation: self.generation, end)]
  }
}
