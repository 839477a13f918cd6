import VoiceWebSocket

/// Keeps the events of connections for a test to read in order.
struct EventLog: Sendable {
  let events: AsyncStream<WebSocketEvent>
  let receiver: @Sendable (WebSocketConnection, WebSocketEvent) -> Void

  /// - Parameter echoes: Whether each text is sent back.
  init(echoes: Bool = false) {
    let (events, continuation) = AsyncStream<WebSocketEvent>.makeStream()
    self.events = events
    self.receiver = { connection, event in
      continuation.yield(event)
      switch event {
      case .text(let bytes): if echoes { try? connection.send(bytes) }
      case .closed: continuation.finish()
      case .ping, .pong, .drained: break
      }
    }
  }

  func next() async -> WebSocketEvent? {
    var iterator = self.events.makeAsyncIterator()
    return await iterator.next()
  }

  /// Reads until the end.
  func closure() async -> WebSocketClosure? {
    for await event in self.events {
      if case .closed(let closure) = event { return closure }
    }
    return nil
  }
}
