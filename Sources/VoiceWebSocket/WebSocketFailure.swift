public import VoiceCore

/// Why a WebSocket connection could not be opened.
public enum WebSocketFailure: Error, Hashable, Sendable {
  /// How far opening had come.
  public enum Stage: String, Hashable, Sendable {
    /// The host is looked up, and TCP connects.
    case connecting
    /// TLS is negotiated.
    case securing
    /// The HTTP request for the upgrade was sent.
    case upgrading
  }

  /// The address cannot be read; says why.
  case addressInvalid(String)
  /// The host has no address.
  case hostUnresolvable(host: String)
  /// Nothing listens at the port.
  case refused(host: String, port: Int)
  /// The host cannot be reached; says why.
  case unreachable(host: String, port: Int, reason: String)
  /// A secure connection could not be made; says why.
  case tlsFailed(reason: String)
  /// The server answered the request for the upgrade with another status than 101.
  case notUpgraded(status: Int, contentType: String?)
  /// The server answered 101, but not as RFC 6455 section 4.1 demands; says how.
  case upgradeInvalid(String)
  /// What came is not HTTP.
  case notHTTP
  /// It took too long.
  case timedOut(Stage)
  /// The server closed the connection before it was open.
  case closed(Stage)
  /// The one who connects gave up.
  case cancelled

  /// What went wrong, for a person.
  public var message: String {
    switch self {
    case .addressInvalid(let why): "The address cannot be read: \(why)."
    case .hostUnresolvable(let host): "The host \(host) has no address."
    case .refused(let host, let port): "Nothing listens at \(host), port \(port)."
    case .unreachable(let host, let port, let reason): "\(host), port \(port), cannot be reached: \(reason)."
    case .tlsFailed(let reason): "A secure connection could not be made: \(reason)."
    case .notUpgraded(let status, let type):
      "The server answers HTTP \(status)" + (type.map { " with \($0)" } ?? "")
        + " instead of opening a WebSocket; check the address and its path."
    case .upgradeInvalid(let why): "The server's answer does not open a WebSocket: \(why)."
    case .notHTTP: "What answers at the address does not speak HTTP."
    case .timedOut(let stage): "The server did not answer in time (\(stage.rawValue))."
    case .closed(let stage): "The server closed the connection before it was open (\(stage.rawValue))."
    case .cancelled: "Connecting was given up."
    }
  }

  /// The same as a failure of the catalogue: `network.address.invalid`, `network.tls.failed`,
  /// `network.server.timed-out` or `network.server.unreachable`.
  public var failure: VoiceFailure {
    let code: VoiceFailure.Code =
      switch self {
      case .addressInvalid: .addressInvalid
      case .tlsFailed: .tlsFailed
      case .timedOut: .serverTimedOut
      case .hostUnresolvable, .refused, .unreachable, .notUpgraded, .upgradeInvalid, .notHTTP, .closed,
        .cancelled:
        .serverUnreachable
      }
    return VoiceFailure(code, message: self.message, scope: .client, cause: self)
  }
}
