public import VoiceCore

/// Decides about one leg of a call in a gateway: the part between the gateway and one client.
///
/// A **caller** leg begins with a client's invite, a **callee** leg with the gateway's. What the other leg, or the
/// dial plan, does comes in as `peer…`; what the client does to the other leg goes out as `tellPeer`.
///
/// - **phase**: *new*; caller: *routing* (call created, destination sought), *ringing*; callee: *offering* (invite
///   sent); both: *established*; *ended* (final).
/// - **link**: *attached* (to a socket); *detached* (socket lost, until a deadline); *attaching* (socket back, offer
///   being made or sent, until the same deadline).
///
/// | client's event | new | routing | ringing | offering | established | ended |
/// |---|---|---|---|---|---|---|
/// | inviteReceived | accept, → routing | accept again | accept again, ringing | refuse | accept again | refuse |
/// | answerReceived | refuse | refuse | refuse | accept, → established | accept again¹ | refuse |
/// | attachReceived | refuse | refuse | refuse | refuse | accept if asked for | refuse |
/// | byeReceived | refuse | accept, → ended | accept, → ended | accept, → ended | accept, → ended | refuse |
/// | modifyReceived, infoReceived | refuse | refuse² | refuse² | refuse | accept | refuse |
/// | peerRang | – | → ringing | – | – | – | – |
/// | peerSentMedia | – | media | media | – | – | – |
/// | peerAnswered | – | answer, → established | answer, → established | – | – | – |
/// | peerEnded, endRequested | → ended | bye, → ended | bye, → ended | bye, → ended | bye, → ended | – |
/// | socketLost | detached in every phase but *new* (→ ended) and *ended* | | | | | |
/// | socketRestored | repeats what the client may have missed; established: offers an attach | | | | | |
/// | timePassed | ends what rings or stays detached too long | | | | | |
///
/// ¹ A duplicate, as after a lost response. ² Tones are accepted while it rings.
///
/// Every request of the client gets exactly one `accept`, `refuse` or `renegotiate`; `end` comes exactly once.
public struct LegMachine: Sendable {
  /// Who began the leg.
  public enum Role: String, Hashable, Sendable, CaseIterable {
    case caller, callee
  }

  /// How long the machine waits.
  public struct Configuration: Hashable, Sendable {
    /// How long a call may ring.
    public var ringTimeout: Duration = .seconds(60)
    /// How long a leg without a socket is kept (`detach-timeout-sec`, telnyx.md section 3.5).
    public var detachTimeout: Duration = .seconds(120)

    /// Creates the default.
    public init() {}
  }

  /// How far the leg got.
  public enum Phase: Hashable, Sendable {
    case new, routing, ringing
    case offering(SDP)
    case established
    case ended(CallTerminationReason)
  }

  /// Whether there is a socket.
  public enum Link: Hashable, Sendable {
    case attached
    case detached(until: VoiceInstant)
    case attaching(until: VoiceInstant)
  }

  /// What happened.
  public enum Event: Hashable, Sendable {
    // Requests of the client.
    case inviteReceived
    case answerReceived(SDP)
    case attachReceived(SDP)
    case byeReceived(ByeMessage)
    case modifyReceived(ModifyAction, SDP?)
    case infoReceived(InfoMessage)
    // The dial plan and the other leg.
    /// The gateway rings this client.
    case placed(offer: SDP)
    case peerRang
    case peerSentMedia(SDP)
    /// The other leg answered, with its description unless early media had it.
    case peerAnswered(SDP?)
    case peerEnded(CallTerminationReason)
    // The gateway.
    case attachOfferMade(SDP)
    case endRequested(CallTerminationReason)
    case socketLost
    case socketRestored
    case timePassed
  }

  /// What a request is answered with.
  public enum Reply: Hashable, Sendable {
    case created, answered, attached, sent
    case ended(HangupCause)
    case modified(ModifyAction, HoldState)
  }

  /// What the client is told.
  public enum Message: Hashable, Sendable {
    case invite(SDP)
    /// In the Verto dialect: `media` with `display`, or nothing.
    case ringing
    case media(SDP)
    case answer(SDP?)
    case attach(SDP)
    case bye(CallTerminationReason)
  }

  /// What the other leg is told.
  public enum PeerNotice: Hashable, Sendable {
    case answered(SDP)
    case held(HoldState)
    case info(InfoMessage)
    /// The client's media begins anew with this description.
    case reattached(SDP)
    case ended(CallTerminationReason)
  }

  /// What to do.
  public enum Action: Hashable, Sendable {
    /// Answer the request in hand with a result.
    case accept(Reply)
    /// Answer the request in hand with an error.
    case refuse(RPCError)
    /// Make an answer to the client's new offer, and answer the request in hand with it (`updateMedia`).
    case renegotiate(SDP)
    /// Ask the dial plan where to.
    case route
    /// Make an offer for a client that is back.
    case makeAttachOffer
    case send(Message)
    case tellPeer(PeerNotice)
    /// The leg is over; exactly once.
    case end(CallTerminationReason)
    case ignore(IgnoredReason)
  }

  /// How long the machine waits.
  public let configuration: Configuration
  /// Who began the leg.
  public let role: Role
  /// How far the leg got.
  public internal(set) var phase = Phase.new
  /// Whether there is a socket.
  public internal(set) var link = Link.attached
  /// Whether the client holds the call.
  public internal(set) var hold = HoldState.active
  var earlySDP: SDP?
  var ringDeadline: VoiceInstant?

  /// Creates a leg before its first event: `inviteReceived` of a caller, `placed` for a callee.
  public init(role: Role, configuration: Configuration = Configuration()) {
    self.role = role
    self.configuration = configuration
  }

  /// Whether the leg is over.
  public var isEnded: Bool { if case .ended = self.phase { true } else { false } }

  /// When the machine wants to be told that time passed.
  public var deadline: VoiceInstant? {
    guard !self.isEnded else { return nil }
    switch self.link {
    case .attached: return self.ringDeadline
    case .detached(let until), .attaching(let until): return min(until, self.ringDeadline ?? until)
    }
  }

  /// Takes an event in.
  public mutating func handle(_ event: Event, at now: VoiceInstant) -> [Action] {
    switch event {
    case .inviteReceived: self.inviteReceived(at: now)
    case .answerReceived(let sdp): self.answerReceived(sdp)
    case .attachReceived(let sdp): self.attachReceived(sdp)
    case .byeReceived(let bye): self.byeReceived(bye)
    case .modifyReceived(let action, let sdp): self.modifyReceived(action, sdp)
    case .infoReceived(let info): self.infoReceived(info)
    case .placed(let offer): self.placed(offer, at: now)
    case .peerRang: self.peerRang()
    case .peerSentMedia(let sdp): self.peerSentMedia(sdp)
    case .peerAnswered(let sdp): self.peerAnswered(sdp)
    case .peerEnded(let reason): self.ended(reason, tellsPeer: false)
    case .attachOfferMade(let offer): self.attachOfferMade(offer)
    case .endRequested(let reason): self.ended(reason, tellsPeer: true)
    case .socketLost: self.socketLost(at: now)
    case .socketRestored: self.socketRestored()
    case .timePassed: self.timePassed(at: now)
    }
  }
}
