public import VoiceCore

/// What carries a client's frames to a gateway: WebSockets in an app, memory in a test.
public protocol SignalingTransport: Sendable {
  /// Begins to open a connection; how that goes is told to `onEvent`, on any thread and possibly before this method returns.
  ///
  /// - Parameter url: The gateway, with everything that belongs to its address.
  func open(
    _ url: String, onEvent: @escaping @Sendable (SignalingTransportEvent) -> Void
  ) -> any SignalingConnection
}

/// One connection, from the moment it begins to be opened.
public protocol SignalingConnection: Sendable {
  /// Sends a text frame; a frame that cannot be sent ends the connection with ``SignalingTransportEvent/failed(_:)``.
  func send(_ frame: [UInt8])
  /// Asks for a sign of life below the frames; ``SignalingTransportEvent/pong`` is the answer.
  func ping()
  /// Closes in order.
  func close()
  /// Cuts at once.
  func abort()
}

/// What happens on a connection: `opened` at most once, then frames, then one of the two ends.
public enum SignalingTransportEvent: Hashable, Sendable {
  case opened
  case received([UInt8])
  case pong
  /// The other end closed it, with its code (RFC 6455 section 7.4).
  case closed(code: Int?)
  /// It could not be opened, or broke.
  case failed(VoiceFailure)
}
