/// Which of the two families of gateways is at the other end (telnyx.md section 7).
public enum Dialect: Hashable, Sendable, CaseIterable {
  /// `telnyx_rtc.`: gateway states, explicit ringing, trickled candidates.
  case telnyx
  /// `verto.` (FreeSWITCH): ready as soon as logged in, `media` and `display` instead of ringing, whole descriptions.
  case verto

  /// What stands before the name of a method.
  public var prefix: String {
    switch self {
    case .telnyx: "telnyx_rtc."
    case .verto: "verto."
    }
  }

  /// Whether a client asks for the gateway's state before it is ready.
  public var hasGatewayState: Bool {
    switch self {
    case .telnyx: true
    case .verto: false
    }
  }

  /// Whether a server says that the other side rings.
  public var hasRinging: Bool {
    switch self {
    case .telnyx: true
    case .verto: false
    }
  }

  /// Whether candidates may be sent one by one.
  public var hasTrickle: Bool {
    switch self {
    case .telnyx: true
    case .verto: false
    }
  }
}

/// The name of a request without its prefix (telnyx.md section 2.2); the set is open.
public enum SignalingMethod: Hashable, Sendable {
  case login, anonymousLogin, aiConversation, echo
  case clientReady, gatewayState, ping, pong
  case invite, ringing, ringingAck, media, answer, bye, info, modify
  case attach, attachCalls, punt, candidate, endOfCandidates
  case disablePushNotification
  case display, event, broadcast, subscribe, unsubscribe
  /// A method that this version does not know, with its whole name.
  case unknown(String)

  /// All methods with a name of their own.
  public static let known: [SignalingMethod] = Array(Self.names.keys)

  private static let names: [SignalingMethod: String] = [
    .login: "login", .anonymousLogin: "anonymous_login", .aiConversation: "ai_conversation", .echo: "echo",
    .clientReady: "clientReady", .gatewayState: "gatewayState", .ping: "ping", .pong: "pong",
    .invite: "invite", .ringing: "ringing", .ringingAck: "ringing_ack", .media: "media", .answer: "answer",
    .bye: "bye", .info: "info", .modify: "modify", .attach: "attach", .attachCalls: "attachCalls",
    .punt: "punt", .candidate: "candidate", .endOfCandidates: "endOfCandidates",
    .disablePushNotification: "disable_push_notification", .display: "display", .event: "event",
    .broadcast: "broadcast", .subscribe: "subscribe", .unsubscribe: "unsubscribe",
  ]

  private static let methods: [String: SignalingMethod] = Dictionary(
    Self.names.map { ($0.value, $0.key) }, uniquingKeysWith: { first, _ in first })

  /// Whether the method is written without prefix in both dialects.
  public var isUnprefixed: Bool {
    switch self {
    case .login, .anonymousLogin, .aiConversation, .echo, .unknown: true
    case .clientReady, .gatewayState, .ping, .pong, .invite, .ringing, .ringingAck, .media, .answer, .bye,
      .info, .modify, .attach, .attachCalls, .punt, .candidate, .endOfCandidates, .disablePushNotification,
      .display, .event, .broadcast, .subscribe, .unsubscribe:
      false
    }
  }

  /// The name as it is written in a dialect.
  public func name(in dialect: Dialect) -> String {
    if case .unknown(let name) = self { return name }
    let name = Self.names[self] ?? ""
    return self.isUnprefixed ? name : dialect.prefix + name
  }

  /// Reads a name; the dialect is `nil` if the name has no prefix.
  public static func read(_ name: String) -> (method: SignalingMethod, dialect: Dialect?) {
    for dialect in Dialect.allCases where name.hasPrefix(dialect.prefix) {
      let method = Self.methods[String(name.dropFirst(dialect.prefix.count))]
      return (method ?? .unknown(name), dialect)
    }
    guard let method = Self.methods[name], method.isUnprefixed else { return (.unknown(name), nil) }
    return (method, nil)
  }
}
