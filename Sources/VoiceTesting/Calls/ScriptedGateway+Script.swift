public import CallSignaling

extension ScriptedGateway {
  /// What a gateway does; without changes it works as documented.
  public struct Script: Sendable {
    /// The kind of the gateway.
    public var dialect = Dialect.telnyx
    /// Passwords by user; `nil` takes everybody.
    public var users: [String: String]?
    /// The answers to `gatewayState`, in order, the last again and again; `nil` is no answer.
    public var gatewayStates: [GatewayState?] = [.registered]
    /// Replies to requests in order, by method; after the last one requests are answered as documented.
    public var replies: [SignalingMethod: [Reply]] = [:]
    /// What follows an invite.
    public var afterInvite: [Step] = [.ringing, .answer]
    /// Whether calls are known again on the next connection of their session.
    public var remembersCalls = true
    /// Whether `clientReady` says which calls are known.
    public var namesKnownCalls = true
    /// How the next connections are refused, in order.
    public var refusals: [Refusal] = []
    /// The routing token that stands on every frame.
    public var voiceSDKID: String? = "VSDK1scripted"

    /// Creates a gateway that works as documented.
    public init() {}
  }

  /// How a connection is not made.
  public enum Refusal: Hashable, Sendable {
    /// Nothing listens; a socket is closed at once.
    case unreachable
    /// Nothing comes back.
    case silent
  }

  /// How one request is answered.
  public enum Reply: Hashable, Sendable {
    case standard
    /// Not at all.
    case drop
    case error(RPCError)
    /// As documented, but for a request that nobody sent.
    case wrongID
    case twice
    case delayed(Duration)
    /// The frames that follow from a request, in the wrong order.
    case reversed
    /// This frame instead.
    case raw(String)
    /// The connection is cut before the answer.
    case cut
    /// The connection is cut after the answer.
    case cutAfterwards
    /// The connection is closed with a code.
    case close(Int)
    /// From here on nothing comes and nothing is read, but the connection looks open.
    case silence
  }

  /// What a gateway does with a call by itself.
  public enum Step: Hashable, Sendable {
    case ringing
    /// Early media with a description.
    case media
    case answer
    /// After early media: without a description (telnyx.md section 0.6).
    case answerWithoutSDP
    case bye(HangupCause, sipCode: Int?)
    case wait(Duration)
    /// A frame of one's own; `%CALL%` stands for the id.
    case raw(String)
  }
}
