public import VoiceCore

/// Decides about one call of a client, from the first event to the one `DONE`.
///
/// Four things describe a call, and ``callState(phase:link:media:hold:)`` computes what apps see from them:
///
/// - **phase**: how far signalling got. Outbound: *idle*, *preparing* (offer being made), *readyToInvite* (offer
///   made, no connection), *inviting* (sent), *trying* (the gateway knows the call), *ringing*. Inbound: *incoming*
///   (rings here), *preparingAnswer*, *readyToAnswer* (no connection), *answering* (sent). Both: *established*,
///   *ended* (final).
/// - **link**, the signalling axis: *up*, *down* (with the reason), *awaitingAttach* (connected again, the server
///   will offer), *makingAttach* (answer to that being made), *attaching* (sent).
/// - **media**, the media axis: *idle*, *connecting*, *connected*, *interrupted* (may come back by itself),
///   *restarting* (new candidates: ICE restart), *failed* (only a reattach can help).
/// - **hold**: what the gateway confirmed, and what was asked for since.
///
/// What happens when (all in the tests, for every phase and event):
///
/// | what | answer |
/// |---|---|
/// | the link breaks | the call stays; `RECONNECTING` or `DROPPED`; the reconnect time runs |
/// | the link is back, the server knows the call | waits for `attach` if established; else goes on where it was |
/// | the link is back, the server does not know it | before the gateway confirmed the call: invites anew; else `DONE` |
/// | the link is back, the server does not say | as if it knew it; the reconnect time decides |
/// | media is interrupted | 3 s of grace, then ICE restart while the link is up |
/// | ICE restart is refused or takes 15 s | reattach, once; then the reconnect time decides |
/// | the reconnect time is over | `DONE` with `call.reconnect.failed`, and a goodbye for the gateway |
/// | hang-up, at any time | `DONE` at once; the goodbye is the outbox's concern |
///
/// An event that means nothing in a phase gives `.ignore`. `reportState(.DONE)` comes exactly once and nothing but
/// `.ignore` after it.
public struct CallMachine: Sendable {
  /// How long the machine waits.
  public struct Configuration: Hashable, Sendable {
    /// How long a broken call is kept (`reconnectTimeout`, telnyx.md section 1.3).
    public var reconnectTimeout: Duration = .seconds(60)
    /// How long a call may take from dialing, or from the invite, until it is answered.
    public var ringTimeout: Duration = .seconds(120)
    /// How long media may take to connect after the answer.
    public var mediaTimeout: Duration = .seconds(15)
    /// How long interrupted media may come back by itself (telnyx.md section 3.6).
    public var interruptionGrace: Duration = .seconds(3)
    /// How long an ICE restart may take (telnyx.md section 3.6).
    public var restartTimeout: Duration = .seconds(15)

    /// Creates the default.
    public init() {}
  }

  /// Who began the call.
  public enum Direction: String, Hashable, Sendable, CaseIterable {
    case outbound, inbound
  }

  /// How far signalling got.
  public enum Phase: Hashable, Sendable {
    case idle, preparing
    case readyToInvite(SDP)
    case inviting, trying, ringing
    case incoming(offer: SDP)
    case preparingAnswer(offer: SDP)
    case readyToAnswer(offer: SDP, answer: SDP)
    case answering
    case established
    case ended(CallTerminationReason)
  }

  /// The signalling axis.
  public enum Link: Hashable, Sendable {
    case up
    case down(CallState.Reason)
    case awaitingAttach, makingAttach, attaching
  }

  /// The media axis.
  public enum Media: Hashable, Sendable {
    case idle
    case connecting(until: VoiceInstant)
    case connected
    case interrupted(until: VoiceInstant)
    case restarting(until: VoiceInstant)
    case failed
  }

  /// What was confirmed and what was asked for.
  public struct Hold: Hashable, Sendable {
    /// What the gateway said last.
    public var confirmed = HoldState.active
    /// What was asked for and is not confirmed.
    public var requested: HoldState?
  }

  /// How a request ended (see ``RequestTable``).
  public enum Outcome: Hashable, Sendable {
    case accepted(ServerResult)
    case refused(RPCError)
    case timedOut
    /// The connection broke first; what follows is told by `linkLost`.
    case interrupted
  }

  /// What happened.
  public enum Event: Hashable, Sendable {
    // The app.
    case dialed
    case answerRequested
    case hangupRequested
    /// `nil` asks for the other of the two.
    case holdRequested(HoldState?)
    case tonesRequested(String)
    // The media peer.
    case offerMade(SDP)
    case offerFailed(VoiceFailure)
    case answerMade(SDP)
    case answerFailed(VoiceFailure)
    case restartOfferMade(SDP)
    case restartFailed(VoiceFailure)
    /// The peer does not take the other side's description.
    case remoteRejected(VoiceFailure)
    case mediaConnected
    case mediaInterrupted
    case mediaFailed
    // The gateway's answers.
    case inviteSettled(Outcome)
    case answerSettled(Outcome)
    case attachSettled(Outcome)
    case holdSettled(HoldState, Outcome)
    case restartSettled(Outcome)
    // The gateway's requests.
    case invitedAgain(SDP)
    case ringingReceived
    case mediaReceived(SDP)
    case answerReceived(SDP?)
    case attachReceived(SDP)
    case byeReceived(ByeMessage)
    // The connection.
    case linkLost(CallState.Reason)
    /// `isKnown`: whether the server said that it still knows the call; `nil` if it did not say.
    case linkRestored(isKnown: Bool?)
    case linkAbandoned(VoiceFailure)
    /// Another connection took the session.
    case punted
    case timePassed
  }

  /// What to do.
  public enum Action: Hashable, Sendable {
    // For the media peer.
    case makeOffer
    /// Make an answer; with `isReattach` after an outage, so candidates may have changed.
    case makeAnswer(to: SDP, isReattach: Bool)
    case makeRestartOffer
    /// Apply the other side's answer; provisional for early media.
    case applyRemote(SDP, isFinal: Bool)
    case stopMedia
    // For the gateway, as requests.
    case sendInvite(SDP)
    case sendAnswer(SDP)
    case sendAttach(SDP)
    case sendRestart(SDP)
    // For the outbox, which keeps them over an outage.
    case sendHold(HoldState)
    case sendTones(String)
    case sendBye(HangupCause)
    // For the recovery machine.
    case requestReattach
    // For the app.
    case reportState(CallState)
    case reportHold(HoldState)
    /// Early media arrived: ringback may stop.
    case reportEarlyMedia
    case report(VoiceFailure)
    case ignore(IgnoredReason)
  }

  /// How long the machine waits.
  public let configuration: Configuration
  /// Who began the call.
  public let direction: Direction
  /// How far signalling got.
  public internal(set) var phase: Phase
  /// The signalling axis.
  public internal(set) var link = Link.up
  /// Whether nothing can be sent for the call.
  public var isLinkDown: Bool {
    switch self.link {
    case .down: true
    case .up, .awaitingAttach, .makingAttach, .attaching: false
    }
  }

  /// The media axis.
  public internal(set) var media = Media.idle
  /// What was confirmed and asked for.
  public internal(set) var hold = Hold()

  /// Whether a gateway may know the call, so that it wants a goodbye.
  var wasInvited = false
  var earlySDP: SDP?
  /// What the server offered as soon as it knew the client again, before the client was registered.
  var earlyAttach: SDP?
  var ringDeadline: VoiceInstant?
  var reconnectDeadline: VoiceInstant?
  var triedReattach = false
  var reported = CallState.NEW

  /// Creates an outbound call that was not dialed yet.
  ///
  /// - Parameter isLinkUp: Whether the client is connected at the moment.
  public init(outbound configuration: Configuration = Configuration(), isLinkUp: Bool = true) {
    self.configuration = configuration
    self.direction = .outbound
    self.phase = .idle
    self.link = isLinkUp ? .up : .down(.networkLost)
  }

  /// Creates an inbound call from an invite; its state is `RINGING`.
  public init(inbound offer: SDP, at now: VoiceInstant, configuration: Configuration = Configuration()) {
    self.configuration = configuration
    self.direction = .inbound
    self.phase = .incoming(offer: offer)
    self.wasInvited = true
    self.ringDeadline = now.advanced(by: configuration.ringTimeout)
    self.reported = .RINGING
  }

  /// The state as apps see it.
  public var callState: CallState {
    Self.callState(phase: self.phase, link: self.link, media: self.media, hold: self.hold)
  }

  /// Whether the call is over.
  public var isEnded: Bool { if case .ended = self.phase { true } else { false } }

  /// When the machine wants to be told that time passed.
  public var deadline: VoiceInstant? {
    guard !self.isEnded else { return nil }
    return [self.ringDeadline, self.reconnectDeadline, self.mediaDeadline].compactMap { $0 }.min()
  }

  /// The one function from the axes to what apps see.
  public static func callState(phase: Phase, link: Link, media: Media, hold: Hold) -> CallState {
    let plain: CallState
    switch phase {
    // Nothing was sent, so nothing can break.
    case .idle: return .NEW
    case .preparing, .readyToInvite: return .CONNECTING
    case .ended(let reason): return .DONE(reason: reason)
    case .inviting, .trying: plain = .CONNECTING
    case .ringing, .incoming: plain = .RINGING
    case .preparingAnswer, .readyToAnswer, .answering: plain = .CONNECTING
    case .established:
      switch media {
      case .idle, .connecting, .connected, .interrupted: plain = hold.confirmed == .held ? .HELD : .ACTIVE
      case .restarting, .failed: plain = .RECONNECTING(reason: .networkSwitch)
      }
    }
    switch link {
    case .up: return plain
    case .down(.networkLost): return .DROPPED(reason: .networkLost)
    case .down(let reason): return .RECONNECTING(reason: reason)
    case .awaitingAttach, .makingAttach, .attaching: return .RECONNECTING(reason: .networkSwitch)
    }
  }

  /// Takes an event in.
  public mutating func handle(_ event: Event, at now: VoiceInstant) -> [Action] {
    guard !self.isEnded else { return [.ignore(.ended)] }
    var actions = self.step(event, at: now)
    let state = self.callState
    if state != self.reported {
      self.reported = state
      actions.append(.reportState(state))
    }
    return actions
  }

  private mutating func step(_ event: Event, at now: VoiceInstant) -> [Action] {
    switch event {
    case .dialed: self.dialed(at: now)
    case .answerRequested: self.answerRequested()
    case .hangupRequested: self.hangupRequested()
    case .holdRequested(let state): self.holdRequested(state)
    case .tonesRequested(let tones): self.tonesRequested(tones)
    case .offerMade(let offer): self.offerMade(offer)
    case .offerFailed(let failure): self.offerFailed(failure)
    case .answerMade(let answer): self.answerMade(answer)
    case .answerFailed(let failure): self.answerFailed(failure)
    case .restartOfferMade(let offer): self.restartOfferMade(offer)
    case .restartFailed: self.restartFailed(at: now)
    case .remoteRejected(let failure): self.remoteRejected(failure, at: now)
    case .mediaConnected: self.mediaConnected()
    case .mediaInterrupted: self.mediaInterrupted(at: now)
    case .mediaFailed: self.mediaFailed(at: now)
    case .inviteSettled(let outcome): self.inviteSettled(outcome)
    case .answerSettled(let outcome): self.answerSettled(outcome, at: now)
    case .attachSettled(let outcome): self.attachSettled(outcome, at: now)
    case .holdSettled(let state, let outcome): self.holdSettled(state, outcome)
    case .restartSettled(let outcome): self.restartSettled(outcome, at: now)
    case .invitedAgain(let offer): self.invitedAgain(offer)
    case .ringingReceived: self.ringingReceived()
    case .mediaReceived(let sdp): self.mediaReceived(sdp)
    case .answerReceived(let sdp): self.answerReceived(sdp, at: now)
    case .attachReceived(let offer): self.attachReceived(offer, at: now)
    case .byeReceived(let bye): self.end(CallTerminationReason(bye))
    case .linkLost(let reason): self.linkLost(reason, at: now)
    case .linkRestored(let isKnown): self.linkRestored(isKnown: isKnown, at: now)
    case .linkAbandoned(let failure): self.linkAbandoned(failure)
    case .punted:
      self.end(CallTerminationReason(origin: .server, failure: VoiceFailure(.callSessionTaken)))
    case .timePassed: self.timePassed(at: now)
    }
  }

  /// The one way to the end.
  mutating func end(_ reason: CallTerminationReason, bye: HangupCause? = nil) -> [Action] {
    let byes: [Action] = if let bye, self.wasInvited { [.sendBye(bye)] } else { [] }
    self.phase = .ended(reason)
    return byes + [.stopMedia]
  }

  private mutating func timePassed(at now: VoiceInstant) -> [Action] {
    if let deadline = self.reconnectDeadline, now >= deadline {
      return self.end(
        CallTerminationReason(
          .recoveryOnTimerExpire, origin: .network, failure: VoiceFailure(.callReconnectFailed)),
        bye: .recoveryOnTimerExpire)
    }
    if let deadline = self.ringDeadline, now >= deadline {
      return self.end(
        CallTerminationReason(.noAnswer, origin: .timeout, failure: VoiceFailure(.callNotAnswered)),
        bye: self.direction == .outbound ? .originatorCancel : .noAnswer)
    }
    if let deadline = self.mediaDeadline, now >= deadline { return self.mediaTimePassed(at: now) }
    return []
  }
}
