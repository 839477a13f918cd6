/// The limits of one end of a WebSocket connection.
public struct WebSocketSettings: Hashable, Sendable {
  /// The longest message that is taken, in bytes, all its fragments together; a longer one closes the connection (1009).
  public var maximumMessageSize = 1 << 20
  /// The most fragments that a message may come in; more close the connection (1009).
  public var maximumFragmentCount = 1024
  /// How many bytes may wait to be written before ``WebSocketConnection/send(_:)`` refuses more.
  public var maximumQueuedBytes = 4 << 20
  /// How long the other end may take to answer a close frame before the connection is cut.
  public var closeTimeout: Duration = .seconds(2)
  /// How long a client may take over its request for the upgrade, or a server over its answer.
  public var handshakeTimeout: Duration = .seconds(5)

  /// Creates the default limits: 1 MiB messages, 4 MiB of unwritten data, 5 s for the handshake.
  public init() {}

  /// The limit that NIO's frame decoder can take.
  var frameLimit: Int { max(1, min(self.maximumMessageSize, Int(UInt32.max))) }
}

/// How a connection ended.
public struct WebSocketClosure: Hashable, Sendable {
  /// Who ended it.
  public enum Origin: String, Hashable, Sendable {
    /// This end asked for it.
    case local
    /// The other end asked for it.
    case remote
    /// The other end broke a rule; the code says which.
    case violation
    /// The connection broke without a close frame.
    case lost
  }

  /// Who ended it.
  public var origin: Origin
  /// The close code of RFC 6455 section 7.4: the other end's, or the one that was sent because of a broken rule; `nil` if
  /// there was none.
  public var code: Int?
  /// The reason that came with the code, or what rule was broken.
  public var reason: String

  /// Creates a value.
  public init(origin: Origin, code: Int? = nil, reason: String = "") {
    self.origin = origin
    self.code = code
    self.reason = reason
  }
}

/// What happens on a connection, in order; ``closed(_:)`` comes exactly once and last.
public enum WebSocketEvent: Hashable, Sendable {
  /// A whole text message, valid UTF-8.
  case text([UInt8])
  /// The other end asked for a sign of life; the answer was sent.
  case ping
  /// The other end answered ``WebSocketConnection/ping()``.
  case pong
  /// Data that was queued has been written after ``WebSocketConnection/send(_:)`` had refused more.
  case drained
  /// The connection is over.
  case closed(WebSocketClosure)
}
