import CallSignaling
import Calls
import Foundation
import Testing
import VoiceCore
import VoiceServer
import VoiceTesting

/// Calls over `wss`: the certificate of the configuration is that of the HTTP port too.
@Suite(.timeLimit(.minutes(4))) struct CallTLSTests {
  private static func withGateway<R: Sendable>(
    _ certificate: String?, _ body: @Sendable @escaping (Int, URL) async throws -> R
  ) async throws -> R {
    try await withTemporaryFolder { folder in
      var tls: ServerConfiguration.TLS?
      if let certificate {
        let files = ServerConfiguration.TLS(
          certificate: folder.appending(path: "server.pem").path, key: folder.appending(path: "key.pem").path)
        try certificate.write(toFile: files.certificate, atomically: true, encoding: .utf8)
        try TestCertificates.key.write(toFile: files.key, atomically: true, encoding: .utf8)
        tls = files
      }
      let authority = folder.appending(path: "authority.pem")
      try TestCertificates.authority.write(to: authority, atomically: true, encoding: .utf8)
      return try await RunningServer.with(
        engine: MarkerEngine(),
        configure: { [tls] in
          $0.tls = tls
          $0.calls.users = [.init(name: "alice", password: "a long password")]
        }
      ) { server in try await body(try await server.server.addresses.http.port, authority) }
    }
  }

  private static func client(trusting authority: String?) -> TxClient {
    TxClient(
      transport: WebSocketTransport(trustedCertificates: authority.map { Array($0.utf8) }), paths: nil)
  }

  private static func connect(_ client: TxClient, _ address: String) throws {
    try client.connect(
      txConfig: TxConfig(sipUser: "alice", password: "a long password"),
      serverConfiguration: TxServerConfiguration(signalingServer: URL(string: address)))
  }

  /// Why a client does not become ready.
  private static func failure(_ client: TxClient, _ address: String) async throws -> VoiceFailure? {
    let events = client.events
    try self.connect(client, address)
    for await event in events {
      if case .ready = event { return nil }
      if case .failed(let failure) = event { return failure }
    }
    return nil
  }

  @Test func aCallGoesOverASecureSocket() async throws {
    let reason = try await Self.withGateway(TestCertificates.server) { port, _ in
      let client = Self.client(trusting: TestCertificates.authority)
      try Self.connect(client, "wss://localhost:\(port)/calls")
      let call = try await client.call("silence")
      try await call.answered()
      try await call.setHeld(true)
      call.hangup()
      let reason = try await call.ended()
      await client.disconnected()
      return reason
    }
    #expect(reason.cause == "NORMAL_CLEARING")
  }

  @Test func anAuthorityThatIsNotKnownIsReportedAndNotTriedAgain() async throws {
    try await Self.withGateway(TestCertificates.server) { port, _ in
      for authority in [TestCertificates.otherAuthority, nil] {
        let client = Self.client(trusting: authority)
        let failure = try #require(try await Self.failure(client, "wss://localhost:\(port)/calls"))
        #expect(failure.code == .tlsFailed)
        #expect(failure.message.contains("not signed by an authority that is trusted here"))
        guard case .changeConfiguration = failure.recovery,
          case .socketConnectionFailed(.socketCancelled) = TxError(failure)
        else {
          Issue.record("\(failure.recovery)")
          continue
        }
        // A certificate does not get better by itself: whoever waits is told.
        await #expect(throws: failure) { try await client.ready() }
      }
    }
  }

  @Test(arguments: [TestCertificates.expired, TestCertificates.otherName])
  func aCertificateThatIsOldOrForAnotherNameIsReported(certificate: String) async throws {
    try await Self.withGateway(certificate) { port, _ in
      let client = Self.client(trusting: TestCertificates.authority)
      let failure = try await Self.failure(client, "wss://localhost:\(port)/calls")
      #expect(failure?.code == .tlsFailed)
    }
  }

  @Test func aClientThatDoesNotSpeakTheSameIsToldSo() async throws {
    try await Self.withGateway(TestCertificates.server) { port, _ in
      let client = Self.client(trusting: nil)
      let failure = try #require(try await Self.failure(client, "ws://127.0.0.1:\(port)/calls"))
      #expect(failure.code == .serverUnreachable)
      client.disconnect()
    }
    try await Self.withGateway(nil) { port, _ in
      let client = Self.client(trusting: TestCertificates.authority)
      let failure = try #require(try await Self.failure(client, "wss://127.0.0.1:\(port)/calls"))
      #expect(failure.code == .tlsFailed)
      #expect(failure.message.contains("does not speak TLS"))
    }
  }

  /// An independent client: Python's TLS, HTTP and WebSocket.
  @Test func healthAndCallsAreOnTheSecurePortForOthersToo() async throws {
    try await Self.withGateway(TestCertificates.server) { port, authority in
      try await withPeerProcess(
        "Tests/Peers/call_tls.py", arguments: ["--port", "\(port)", "--ca", authority.path]
      ) { peer in
        let health = try await peer.event("health")
        #expect(health["status"]?.int == 200)
        let calls = try await peer.event("calls")
        #expect(calls["message"]?.string == "logged in")
      }
    }
  }
}
