public import NIOCore
import Synchronization
import VoiceCore
import VoiceWebSocket

/// Carries frames over WebSockets (RFC 6455).
public struct WebSocketTransport: SignalingTransport {
  private let connector: WebSocketConnector

  /// Creates a transport.
  ///
  /// - Parameters:
  ///   - group: The event loops; by default those of the process.
  ///   - trustedCertificates: PEM text of the authorities that are trusted; by default those of the system.
  ///   - maximumFrameSize: The longest frame that is taken, in bytes.
  public init(
    group: (any EventLoopGroup)? = nil, trustedCertificates: [UInt8]? = nil, maximumFrameSize: Int = 1 << 20
  ) {
    var settings = WebSocketSettings()
    settings.maximumMessageSize = maximumFrameSize
    self.connector = WebSocketConnector(
      group: group, settings: settings, trust: trustedCertificates.map { .authorities(pem: $0) } ?? .system)
  }

  public func open(
    _ url: String, onEvent: @escaping @Sendable (SignalingTransportEvent) -> Void
  ) -> any SignalingConnection {
    let link = WebSocketLink(onEvent: onEvent)
    link.open(url, self.connector)
    return link
  }
}

/// One connection of a ``WebSocketTransport``.
private final class WebSocketLink: SignalingConnection {
  private struct State {
    var opening: Task<Void, Never>?
    var connection: WebSocketConnection?
    var isOver = false
  }

  private let state = Mutex(State())
  private let onEvent: @Sendable (SignalingTransportEvent) -> Void

  init(onEvent: @escaping @Sendable (SignalingTransportEvent) -> Void) {
    self.onEvent = onEvent
  }

  func open(_ url: String, _ connector: WebSocketConnector) {
    // Opening waits for the network; the task ends with it, and is cancelled when the connection is given up.
    let task = Task {
      do throws(WebSocketFailure) {
        let address = try WebSocketAddress(url)
        let connection = try await connector.connect(to: address) { [self] connection, event in
          self.happened(event, on: connection)
        }
        self.adopt(connection)
      } catch {
        self.end(.failed(error.failure))
      }
    }
    let isOver = self.state.withLock { state in
      state.opening = task
      return state.isOver
    }
    if isOver { task.cancel() }
  }

  /// The first of two ways to learn of the connection: the other is a frame that comes before opening returned.
  private func adopt(_ connection: WebSocketConnection) {
    let (isNew, isOver) = self.state.withLock { state in
      defer { if !state.isOver { state.connection = connection } }
      return (state.connection == nil, state.isOver)
    }
    if isOver {
      connection.abort()
    } else if isNew {
      self.onEvent(.opened)
    }
  }

  private func happened(_ event: WebSocketEvent, on connection: WebSocketConnection) {
    self.adopt(connection)
    guard !self.state.withLock({ $0.isOver }) else { return }
    switch event {
    case .text(let bytes): self.onEvent(.received(bytes))
    case .pong, .ping: self.onEvent(.pong)
    case .drained: break
    case .closed(let closure):
      switch closure.origin {
      case .remote: self.end(.closed(code: closure.code))
      case .local: self.end(.closed(code: nil))
      case .violation:
        // What breaks a rule cannot be skipped like a frame that means nothing: the next connection begins anew.
        self.end(
          .failed(
            VoiceFailure(
              .callConnectionLost,
              message: "The gateway broke a rule of WebSockets: \(closure.reason) (\(closure.code ?? 0)).",
              cause: VoiceFailure(.callFrameInvalid))))
      case .lost: self.end(.failed(VoiceFailure(.callConnectionLost)))
      }
    }
  }

  private func end(_ event: SignalingTransportEvent) {
    let isFirst = self.state.withLock { state in
      defer {
        state.isOver = true
        state.connection = nil
        state.opening = nil
      }
      return !state.isOver
    }
    if isFirst { self.onEvent(event) }
  }

  func send(_ frame: [UInt8]) {
    guard let connection = self.state.withLock({ $0.connection }) else { return }
    do throws(WebSocketConnection.SendError) {
      try connection.send(frame)
    } catch {
      // The end of a closed connection is told by itself.
      guard error == .queueFull else { return }
      connection.abort()
      self.end(
        .failed(VoiceFailure(.callConnectionSilent, message: "The gateway does not read what is sent to it."))
      )
    }
  }

  func ping() {
    self.state.withLock { $0.connection }?.ping()
  }

  func close() {
    let connection = self.state.withLock { $0.connection }
    connection?.close()
    if connection == nil { self.abort() }
  }

  func abort() {
    let (task, connection) = self.state.withLock { state in
      defer {
        state.isOver = true
        state.connection = nil
        state.opening = nil
      }
      return (state.opening, state.connection)
    }
    task?.cancel()
    connection?.abort()
  }
}
