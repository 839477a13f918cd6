import NIOCore
import Testing
import VoiceWebSocket

/// The server's end against a peer that writes raw frames (RFC 6455).
@Suite(.timeLimit(.minutes(4))) struct WebSocketServerRulesTests {
  private func withPeer(
    _ settings: WebSocketSettings = WebSocketSettings(), _ body: (RawPeer, EventLog) async throws -> Void
  ) async throws {
    let log = EventLog(echoes: true)
    let listener = try await WebSocketListener.listen(settings: settings) { _, _ in log.receiver }
    let peer = try await RawPeer.open(port: listener.port)
    try await body(peer, log)
    try? await peer.channel.close()
    await listener.close()
  }

  private static let text: UInt8 = 0x81
  private static let hello = Array("héllo".utf8)

  struct Violation: Sendable, CustomStringConvertible {
    let description: String
    let code: Int
    let act: @Sendable (RawPeer) -> Void
  }

  static let violations: [Violation] = [
    Violation(description: "unmasked", code: 1002) { $0.frame(0x81, Self.hello, isMasked: false) },
    Violation(description: "reserved bit 1", code: 1002) { $0.frame(0xC1, Self.hello) },
    Violation(description: "reserved bit 3 in a fragment", code: 1002) { $0.frame(0x11, Self.hello) },
    Violation(description: "reserved opcode 3", code: 1002) { $0.frame(0x83, []) },
    Violation(description: "reserved opcode 11", code: 1002) { $0.frame(0x8B, []) },
    Violation(description: "binary", code: 1003) { $0.frame(0x82, [1, 2]) },
    Violation(description: "binary fragment", code: 1003) { $0.frame(0x02, [1, 2]) },
    Violation(description: "no UTF-8", code: 1007) { $0.frame(0x81, [0x68, 0xFF]) },
    Violation(description: "half a letter", code: 1007) { $0.frame(0x81, [0xC3]) },
    Violation(description: "surrogate", code: 1007) { $0.frame(0x81, [0xED, 0xA0, 0x80]) },
    Violation(description: "long frame", code: 1009) { $0.frame(0x81, [], length: 10 << 20) },
    Violation(description: "absurd frame", code: 1009) { $0.frame(0x81, [], length: UInt64.max >> 1) },
    Violation(description: "long message in fragments", code: 1009) { peer in
      peer.frame(0x01, Array(repeating: 0x61, count: 40_000))
      peer.frame(0x00, Array(repeating: 0x61, count: 40_000))
    },
    Violation(description: "many fragments", code: 1009) { peer in
      peer.frame(0x01, [])
      for _ in 0..<20 { peer.frame(0x00, []) }
    },
    Violation(description: "continuation of nothing", code: 1002) { $0.frame(0x80, []) },
    Violation(description: "message within a message", code: 1002) { peer in
      peer.frame(0x01, [0x61])
      peer.frame(0x81, [0x61])
    },
    Violation(description: "fragmented ping", code: 1002) { $0.frame(0x09, []) },
    Violation(description: "long ping", code: 1002) { $0.frame(0x89, Array(repeating: 0, count: 126)) },
    Violation(description: "close with half a code", code: 1002) { $0.frame(0x88, [3]) },
    Violation(description: "close 999", code: 1002) { $0.frame(0x88, [0x03, 0xE7]) },
    Violation(description: "close 1005", code: 1002) { $0.frame(0x88, [0x03, 0xED]) },
    Violation(description: "close 1006", code: 1002) { $0.frame(0x88, [0x03, 0xEE]) },
    Violation(description: "close 2999", code: 1002) { $0.frame(0x88, [0x0B, 0xB7]) },
    Violation(description: "close 5000", code: 1002) { $0.frame(0x88, [0x13, 0x88]) },
    Violation(description: "close reason is no UTF-8", code: 1007) { $0.frame(0x88, [0x03, 0xE8, 0xFF]) },
  ]

  @Test(arguments: violations) func closesWithTheCodeOfTheRuleThatIsBroken(_ violation: Violation)
    async throws
  {
    var settings = WebSocketSettings()
    settings.maximumMessageSize = 1 << 16
    settings.maximumFragmentCount = 16
    settings.closeTimeout = .milliseconds(200)
    try await self.withPeer(settings) { peer, log in
      violation.act(peer)
      #expect(await peer.closeCode() == violation.code)
      let closure = await log.closure()
      #expect(closure?.origin == .violation)
      #expect(closure?.code == violation.code)
      #expect(await peer.isClosed())
    }
  }

  @Test func gathersFragmentsWithControlFramesBetweenThem() async throws {
    try await self.withPeer { peer, log in
      peer.frame(0x01, [0x68, 0xC3])
      peer.frame(0x89, [7])
      peer.frame(0x00, [])
      peer.frame(0x80, [0xA9])
      #expect(await peer.nextFrame()?.payload == [7])
      let echo = await peer.nextFrame()
      #expect(echo?.first == Self.text)
      #expect(echo?.payload == Array("hé".utf8))
      #expect(await log.next() == .ping)
      #expect(await log.next() == .text(Array("hé".utf8)))
    }
  }

  @Test func takesFramesByteByByte() async throws {
    try await self.withPeer { peer, log in
      for byte in [0x81, 0x82, 1, 2, 3, 4, 0x68 ^ 1, 0x69 ^ 2] as [UInt8] { peer.write([byte]) }
      #expect(await log.next() == .text(Array("hi".utf8)))
    }
  }

  @Test(arguments: [1000, 1001, 1011, 3000, 4999]) func answersAClose(code: Int) async throws {
    try await self.withPeer { peer, log in
      peer.frame(0x88, [UInt8(code >> 8), UInt8(code & 0xFF)] + Array("bye".utf8))
      #expect(await peer.closeCode() == code)
      let closure = await log.closure()
      #expect(closure == WebSocketClosure(origin: .remote, code: code, reason: "bye"))
      #expect(await peer.isClosed())
    }
  }

  @Test func answersACloseWithoutCodeAndIgnoresWhatFollows() async throws {
    try await self.withPeer { peer, log in
      peer.frame(0x88, [])
      peer.frame(0x81, Self.hello)
      #expect(await peer.nextFrame()?.first == 0x88)
      #expect(await log.next() == .closed(WebSocketClosure(origin: .remote)))
      #expect(await peer.isClosed())
    }
  }

  @Test func reportsALostConnectionOnce() async throws {
    try await self.withPeer { peer, log in
      try await peer.channel.close()
      #expect(await log.next() == .closed(WebSocketClosure(origin: .lost)))
      #expect(await log.next() == nil)
    }
  }

  @Test func cutsAHandshakeThatTakesTooLong() async throws {
    var settings = WebSocketSettings()
    settings.handshakeTimeout = .milliseconds(100)
    let listener = try await WebSocketListener.listen(settings: settings) { _, _ in { _, _ in } }
    let peer = try await RawPeer.connect(port: listener.port, greeting: "GET / HTTP/1.1\r\nHo")
    #expect(await peer.isClosed())
    await listener.close()
  }

  @Test func answersAPlainRequestWith426() async throws {
    let listener = try await WebSocketListener.listen { _, _ in { _, _ in } }
    let peer = try await RawPeer.connect(port: listener.port, greeting: "GET / HTTP/1.1\r\nHost: h\r\n\r\n")
    let head = await peer.head()
    #expect(head?.hasPrefix("HTTP/1.1 426 ") == true)
    #expect(await peer.isClosed())
    await listener.close()
  }

  @Test func refusesToQueueMoreForAPeerThatDoesNotRead() async throws {
    var settings = WebSocketSettings()
    settings.maximumQueuedBytes = 1 << 20
    let (connections, continuation) = AsyncStream<WebSocketConnection>.makeStream()
    let log = EventLog()
    let listener = try await WebSocketListener.listen(settings: settings) { _, _ in
      { connection, event in
        if case .ping = event { continuation.yield(connection) }
        log.receiver(connection, event)
      }
    }
    let peer = try await RawPeer.open(port: listener.port)
    try await peer.channel.setOption(.autoRead, value: false).get()
    peer.frame(0x89, [])
    var iterator = connections.makeAsyncIterator()
    let connection = try #require(await iterator.next())
    let line = Array(repeating: UInt8(0x61), count: 64 << 10)
    var refused = false
    for _ in 0..<10_000 where !refused {
      do {
        try connection.send(line)
      } catch {
        #expect(error == .queueFull)
        refused = true
      }
    }
    #expect(refused)
    #expect(connection.queuedBytes <= 1 << 20)
    try await peer.channel.setOption(.autoRead, value: true).get()
    #expect(await log.next() == .ping)
    #expect(await log.next() == .drained)
    connection.abort()
    #expect(throws: WebSocketConnection.SendError.closed) { try connection.send("x") }
    await listener.close()
  }
}
