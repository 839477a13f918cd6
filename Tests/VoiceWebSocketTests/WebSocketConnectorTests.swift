import Crypto
import Foundation
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL
import Testing
import VoiceCore

@testable import VoiceWebSocket

/// The client's end: how opening fails, and what goes over an open connection.
@Suite(.timeLimit(.minutes(4))) struct WebSocketConnectorTests {
  private func failure(
    _ address: String, timeout: Duration = .seconds(5), trust: WebSocketTrust = .system,
    group: (any EventLoopGroup)? = nil
  ) async throws -> WebSocketFailure? {
    var settings = WebSocketSettings()
    settings.handshakeTimeout = timeout
    let connector = WebSocketConnector(group: group, settings: settings, trust: trust)
    do {
      let connection = try await connector.connect(to: try WebSocketAddress(address)) { _, _ in }
      connection.abort()
      return nil
    } catch {
      return error
    }
  }

  private func withAnswer(_ answer: String?, _ body: (Int) async throws -> Void) async throws {
    let channel = try await RawPeer.listen(answer: answer)
    try await body(try #require(channel.localAddress?.port))
    try await channel.close()
  }

  @Test func tellsAPortWhereNothingListens() async throws {
    let failure = try await self.failure("ws://127.0.0.1:1")
    #expect(failure == .refused(host: "127.0.0.1", port: 1))
  }

  @Test func tellsAHostWithoutAddress() async throws {
    // A look-up holds up all others of its event loop.
    let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
    let failure = try await self.failure("ws://no-such-host.invalid", timeout: .seconds(60), group: group)
    #expect(failure == .hostUnresolvable(host: "no-such-host.invalid"))
    try await group.shutdownGracefully()
  }

  /// A name that has an address of each kind, of which only one is served.
  private struct TwoAddresses: Resolver {
    let loop: any EventLoop
    let port: (v4: Int, v6: Int)

    func initiateAQuery(host: String, port: Int) -> EventLoopFuture<[SocketAddress]> {
      self.loop.makeCompletedFuture { [try SocketAddress(ipAddress: "127.0.0.1", port: self.port.v4)] }
    }

    func initiateAAAAQuery(host: String, port: Int) -> EventLoopFuture<[SocketAddress]> {
      self.loop.makeCompletedFuture { [try SocketAddress(ipAddress: "::1", port: self.port.v6)] }
    }

    func cancelQueries() {}
  }

  @Test func triesAllAddressesOfAHost() async throws {
    let log = EventLog(echoes: true)
    let listener = try await WebSocketListener.listen { _, _ in log.receiver }
    let loop = MultiThreadedEventLoopGroup.singleton.next()
    func connect(v4: Int, to address: String) async throws -> WebSocketConnection {
      try await WebSocketConnector(
        group: loop, settings: WebSocketSettings(), trust: .system,
        resolver: TwoAddresses(loop: loop, port: (v4, 1))
      ).connect(to: try WebSocketAddress(address)) { _, _ in }
    }
    // Port 1 refuses, and that of the other kind is tried next.
    let connection = try await connect(v4: listener.port, to: "ws://two.example")
    try connection.send("hello")
    #expect(await log.next() == .text(Array("hello".utf8)))
    connection.abort()
    await #expect(throws: WebSocketFailure.refused(host: "two.example", port: 80)) {
      try await connect(v4: 1, to: "ws://two.example")
    }
    await listener.close()
  }

  @Test(arguments: [200, 302, 401, 404, 503]) func tellsTheStatusOfAnHTTPAnswer(status: Int) async throws {
    try await self.withAnswer(
      "HTTP/1.1 \(status) X\r\nContent-Type: text/html\r\nContent-Length: 6\r\n\r\n<html>"
    ) { port in
      let failure = try await self.failure("ws://127.0.0.1:\(port)")
      #expect(failure == .notUpgraded(status: status, contentType: "text/html"))
    }
  }

  @Test(arguments: [
    "<html><body>hello</body></html>\r\n\r\n", "SSH-2.0-OpenSSH_9.2\r\n", "\u{0}\u{1}\u{2}\u{3}\r\n\r\n",
  ])
  func tellsWhatIsNotHTTP(answer: String) async throws {
    try await self.withAnswer(answer) { port in
      let failure = try await self.failure("ws://127.0.0.1:\(port)")
      #expect(failure == .notHTTP)
    }
  }

  @Test func refusesAWrongAnswerToTheChallenge() async throws {
    try await self.withAnswer(
      "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        + "Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n\r\n"
    ) { port in
      let failure = try await self.failure("ws://127.0.0.1:\(port)")
      guard case .upgradeInvalid? = failure else {
        Issue.record("the upgrade was taken")
        return
      }
    }
  }

  @Test func refusesAnExtensionThatWasNotAskedFor() async throws {
    try await self.withAnswer(
      "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        + "Sec-WebSocket-Extensions: permessage-deflate\r\n\r\n"
    ) { port in
      let failure = try await self.failure("ws://127.0.0.1:\(port)")
      guard case .upgradeInvalid? = failure else {
        Issue.record("the upgrade was taken")
        return
      }
    }
  }

  /// They were thrown away with the rest of what had come as HTTP.
  @Test func framesThatComeWithTheAnswerAreTaken() async throws {
    let log = EventLog()
    let listener = try await RawPeer.listen { request in
      guard let key = request.split(separator: "\r\n").first(where: { $0.hasPrefix("Sec-WebSocket-Key: ") })
      else { return nil }
      // RFC 6455 section 4.2.2.
      let text = key.dropFirst("Sec-WebSocket-Key: ".count) + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
      let accept = Data(Insecure.SHA1.hash(data: Data(text.utf8))).base64EncodedString()
      let answer =
        "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        + "Sec-WebSocket-Accept: \(accept)\r\n\r\n"
      return Array(answer.utf8) + [0x81, 2, 0x68, 0x69, 0x88, 2, 0x03, 0xE9]
    }
    _ = try await WebSocketConnector().connect(
      to: try WebSocketAddress("ws://127.0.0.1:\(try #require(listener.localAddress?.port))"),
      onEvent: log.receiver)
    #expect(await log.next() == .text(Array("hi".utf8)))
    #expect(await log.closure() == WebSocketClosure(origin: .remote, code: 1001))
    try await listener.close()
  }

  @Test(arguments: ["", "no certificate", "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"])
  func tellsAuthoritiesThatCannotBeRead(pem: String) async throws {
    let failure = try await self.failure("wss://127.0.0.1:1", trust: .authorities(pem: Array(pem.utf8)))
    #expect(failure == .tlsFailed(reason: "the authorities cannot be read"))
  }

  @Test func givesUpOnAServerThatDoesNotAnswer() async throws {
    try await self.withAnswer(nil) { port in
      let failure = try await self.failure("ws://127.0.0.1:\(port)", timeout: .seconds(3))
      #expect(failure == .timedOut(.upgrading))
    }
  }

  @Test func givesUpWhenItsTaskIsCancelled() async throws {
    try await self.withAnswer(nil) { port in
      let task = Task { try await self.failure("ws://127.0.0.1:\(port)", timeout: .seconds(60)) }
      task.cancel()
      let failure = try await task.value
      #expect(failure == .cancelled)
    }
  }

  private func withTLS(_ certificate: String, _ body: (Int, EventLog) async throws -> Void) async throws {
    let log = EventLog(echoes: true)
    let tls = TLSConfiguration.makeServerConfiguration(
      certificateChain: [.certificate(try NIOSSLCertificate(bytes: Array(certificate.utf8), format: .pem))],
      privateKey: .privateKey(try NIOSSLPrivateKey(bytes: Array(TestCertificates.key.utf8), format: .pem)))
    let listener = try await WebSocketListener.listen(tls: tls) { _, _ in log.receiver }
    try await body(listener.port, log)
    await listener.close()
  }

  private static func isTLSFailure(_ failure: WebSocketFailure?) -> Bool {
    guard case .tlsFailed(let reason)? = failure else { return false }
    return !reason.isEmpty && failure?.failure.code == .tlsFailed
  }

  @Test func refusesAnAuthorityThatIsNotTrusted() async throws {
    try await self.withTLS(TestCertificates.server) { port, _ in
      do {
        let failure = try await self.failure("wss://localhost:\(port)")
        #expect(Self.isTLSFailure(failure))
      }
      let other = WebSocketTrust.authorities(pem: Array(TestCertificates.otherAuthority.utf8))
      do {
        let failure = try await self.failure("wss://localhost:\(port)", trust: other)
        #expect(Self.isTLSFailure(failure))
      }
    }
  }

  @Test(arguments: [TestCertificates.expired, TestCertificates.otherName])
  func refusesACertificateThatIsOldOrForAnother(certificate: String) async throws {
    let trust = WebSocketTrust.authorities(pem: Array(TestCertificates.authority.utf8))
    try await self.withTLS(certificate) { port, _ in
      do {
        let failure = try await self.failure("wss://localhost:\(port)", trust: trust)
        #expect(Self.isTLSFailure(failure))
      }
    }
  }

  @Test(arguments: ["localhost", "127.0.0.1"]) func opensOverTLS(host: String) async throws {
    let trust = WebSocketTrust.authorities(pem: Array(TestCertificates.authority.utf8))
    try await self.withTLS(TestCertificates.server) { port, log in
      let connection = try await WebSocketConnector(trust: trust).connect(
        to: try WebSocketAddress("wss://\(host):\(port)")
      ) { _, _ in }
      try connection.send("hello")
      #expect(await log.next() == .text(Array("hello".utf8)))
      connection.close()
      #expect(await log.closure() == WebSocketClosure(origin: .remote, code: 1000))
    }
  }

  @Test func tellsAServerThatDoesNotSpeakTLS() async throws {
    try await self.withAnswer("HTTP/1.1 400 Bad Request\r\n\r\n") { port in
      do {
        let failure = try await self.failure("wss://127.0.0.1:\(port)")
        #expect(Self.isTLSFailure(failure))
      }
    }
  }

  @Test func keepsThePathAndTheQueryAndAddsHeaders() async throws {
    let (requests, continuation) = AsyncStream<String>.makeStream()
    let listener = try await WebSocketListener.listen { _, head in
      continuation.yield("\(head.uri) \(head.headers["X-A"].first ?? "") \(head.headers["Host"].first ?? "")")
      return { _, _ in }
    }
    let address = try WebSocketAddress("ws://127.0.0.1:\(listener.port)/calls?voice_sdk_id=a%20b")
    let connection = try await WebSocketConnector().connect(to: address, headers: [("X-A", "1")]) { _, _ in }
    var iterator = requests.makeAsyncIterator()
    #expect(await iterator.next() == "/calls?voice_sdk_id=a%20b 1 127.0.0.1:\(listener.port)")
    connection.abort()
    await listener.close()
  }

  @Test func pingsAndClosesInOrder() async throws {
    let server = EventLog(echoes: true)
    let client = EventLog()
    let listener = try await WebSocketListener.listen { _, _ in server.receiver }
    let connection = try await WebSocketConnector().connect(
      to: try WebSocketAddress("ws://127.0.0.1:\(listener.port)"), onEvent: client.receiver)
    connection.ping()
    #expect(await client.next() == .pong)
    try connection.send("a")
    connection.close(code: 4000, reason: String(repeating: "é", count: 100))
    #expect(await server.next() == .ping)
    #expect(await server.next() == .text([0x61]))
    let closure = await server.closure()
    #expect(closure?.code == 4000)
    #expect(closure?.reason.utf8.count == 122)
    #expect(await client.closure()?.origin == .local)
    await listener.close()
  }

  @Test func cutsAServerThatDoesNotAnswerAClose() async throws {
    // A server that upgrades and then says nothing at all.
    var settings = WebSocketSettings()
    settings.closeTimeout = .milliseconds(100)
    let server = EventLog()
    let listener = try await WebSocketListener.listen { channel, _ in
      channel.setOption(.autoRead, value: false).whenFailure { _ in }
      return server.receiver
    }
    let client = EventLog()
    let connection = try await WebSocketConnector(settings: settings).connect(
      to: try WebSocketAddress("ws://127.0.0.1:\(listener.port)"), onEvent: client.receiver)
    connection.close()
    #expect(await client.closure() == WebSocketClosure(origin: .local, code: 1000))
    await listener.close()
  }
}
