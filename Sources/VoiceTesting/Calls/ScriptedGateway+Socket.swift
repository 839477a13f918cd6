import Synchronization
import VoiceWebSocket

extension ScriptedGateway {
  /// The gateway on a socket of this machine.
  public final class Listener: Sendable {
    private let listener: WebSocketListener
    /// The address, such as `ws://127.0.0.1:40123/`.
    public let url: String

    init(listener: WebSocketListener) {
      self.listener = listener
      self.url = "ws://127.0.0.1:\(listener.port)/"
    }

    /// Stops listening; connections stay.
    public func close() async { await self.listener.close() }
  }

  /// Listens on the loopback address.
  ///
  /// - Parameter port: The port, 0 for a free one.
  /// - Throws: An error of the system if the port cannot be had.
  public func listen(port: Int = 0) async throws -> Listener {
    let listener = try await WebSocketListener.listen(port: port) { [self] _, _ in self.receiver() }
    return Listener(listener: listener)
  }

  /// Takes what happens on one new connection.
  func receiver() -> WebSocketUpgrade.Receiver {
    let box = LinkNumber()
    return { connection, event in
      let link = box.number { self.accept(connection) }
      switch event {
      case .text(let bytes): if let link { self.received(bytes, on: link) }
      case .closed: if let link { self.ended(link) }
      case .ping, .pong, .drained: break
      }
    }
  }

  private func accept(_ connection: WebSocketConnection) -> Int? {
    switch self.nextRefusal() {
    case .unreachable:
      connection.abort()
      return nil
    case .silent: return nil
    case nil:
      return self.accept(
        Link(
          send: { bytes in try? connection.send(bytes) }, close: { code in connection.close(code: code) },
          cut: { connection.abort() }))
    }
  }
}

/// The number of a connection, given with its first event.
private final class LinkNumber: Sendable {
  private let state = Mutex<(isGiven: Bool, number: Int?)>((false, nil))

  func number(_ make: () -> Int?) -> Int? {
    self.state.withLock { state in
      if !state.isGiven { state = (true, make()) }
      return state.number
    }
  }
}
