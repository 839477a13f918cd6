import CallSignaling
import Calls
import Foundation
import Testing
import VoiceCore
import VoiceTesting

/// What a client makes of a gateway that breaks the rules of the socket: a failure by name that says what follows, and nothing is lost.
@Suite(.timeLimit(.minutes(2))) struct BadGatewayTests {
  private static func client(clock: any VoiceClock = MonotonicClock()) -> (
    TxClient, EventRecorder<ClientEvent>
  ) {
    let client = TxClient(media: ScriptedMedia(), paths: nil, clock: clock)
    return (client, EventRecorder(client.events))
  }

  private static func connect(_ client: TxClient, _ url: String) throws {
    try client.connect(
      txConfig: CallsWorld.config,
      serverConfiguration: TxServerConfiguration(signalingServer: URL(string: url)))
  }

  /// The documented form of a socket's failure, with the next step.
  private static func isRetriedSocketFailure(_ failure: VoiceFailure) -> Bool {
    guard case .automatic = failure.recovery,
      case .socketConnectionFailed(.socketCancelled(let native)) = TxError(failure)
    else { return false }
    return (native as? VoiceFailure) == failure
  }

  // MARK: Opening

  @Test func aHostWithoutAddressIsReportedAndTriedAgain() async throws {
    let (client, log) = Self.client()
    try Self.connect(client, "ws://no-such-host.invalid/")
    let failure = try #require(await log.failure(.serverUnreachable))
    #expect(failure.message.contains("no-such-host.invalid has no address"))
    #expect(Self.isRetriedSocketFailure(failure))
    #expect(!client.isConnected())
    // A second try was made by itself.
    _ = await log.failure(.serverUnreachable, from: log.events.count)
    #expect(log.count("socketConnected") == 0)
    await client.disconnected()
  }

  @Test func aClientComesToAGatewayThatIsStartedAfterIt() async throws {
    let first = try await ScriptedGateway().listen()
    await first.close()
    let (client, log) = Self.client()
    try Self.connect(client, first.url)
    let failure = try #require(await log.failure(.serverUnreachable))
    #expect(failure.message.contains("Nothing listens at 127.0.0.1"))
    #expect(Self.isRetriedSocketFailure(failure))
    let port = try #require(URL(string: first.url)?.port)
    let second = try await ScriptedGateway().listen(port: port)
    try await client.ready()
    await client.disconnected()
    await second.close()
  }

  static let page = "<!doctype html><html><body>Welcome to the proxy</body></html>"

  static let openings: [(TroubledGateway.Opening, String)] = [
    (
      .answers(
        "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 2\r\n\r\nok"),
      "HTTP 200 with text/plain"
    ),
    (
      .answers(
        "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: \(page.utf8.count)\r\n\r\n\(page)"),
      "HTTP 200 with text/html"
    ),
    (.answers("HTTP/1.1 302 Found\r\nLocation: /login\r\nContent-Length: 0\r\n\r\n"), "HTTP 302"),
    (.answers("HTTP/1.1 503 Busy\r\nContent-Length: 0\r\n\r\n"), "HTTP 503"),
    (.answers("\(page)\r\n\r\n"), "does not speak HTTP"),
    (.answers("\u{16}\u{3}\u{1}\u{0}\u{0}\r\n\r\n"), "does not speak HTTP"),
    (
      .answers(
        "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
          + "Sec-WebSocket-Accept: AAAAAAAAAAAAAAAAAAAAAAAAAAA=\r\n\r\n"), "does not open a WebSocket"
    ),
    (.closes, "before it was open"),
  ]

  @Test(arguments: 0..<Self.openings.count)
  func anAnswerThatOpensNoWebSocketIsReportedAndTheNextTryComes(number: Int) async throws {
    let (opening, text) = Self.openings[number]
    let server = try await TroubledGateway.listen([opening])
    let (client, log) = Self.client()
    try Self.connect(client, server.url)
    let failure = try #require(await log.failure(.serverUnreachable))
    #expect(failure.message.contains(text), "\(failure.message)")
    #expect(!failure.message.contains("Welcome"))
    #expect(Self.isRetriedSocketFailure(failure))
    // The second connection is a good one.
    try await client.ready()
    await log.next("ready")
    #expect(log.count("network.server.unreachable") == 1)
    #expect(log.count("socketConnected") == 1)
    await client.disconnected()
    await server.close()
  }

  @Test(arguments: [
    TroubledGateway.Opening.answers(""), .drips("HTTP/1.1 101 Switching Protocols\r\nX-Slow: \(page)"),
  ])
  func aGatewayThatNeverFinishesTheHandshakeIsGivenUpAfterFiveSeconds(
    opening: TroubledGateway.Opening
  ) async throws {
    let server = try await TroubledGateway.listen([opening])
    let clock = TestClock()
    let (client, log) = Self.client(clock: clock)
    try Self.connect(client, server.url)
    await server.accepted(1)
    clock.advance(by: .milliseconds(4_999))
    #expect(log.count("network.server.timed-out") == 0)
    clock.advance(by: .milliseconds(1))
    let failure = try #require(await log.failure(.serverTimedOut))
    #expect(Self.isRetriedSocketFailure(failure))
    clock.advance(by: .seconds(1))
    try await client.ready()
    await log.next("ready")
    #expect(log.count("socketConnected") == 1)
    client.disconnect()
    await server.close()
  }

  // MARK: In a call

  /// What may not come on a socket of this protocol, with the close code of RFC 6455 section 7.4.1 that the gateway gets.
  static let violations: [(name: String, code: Int, send: @Sendable (TroubledGateway) -> Void)] = [
    ("a binary frame", 1003, { $0.injectFrame(0x82, [1, 2, 3]) }),
    ("ten megabytes", 1009, { $0.injectFrame(0x81, Array(repeating: 0x61, count: 10 << 20)) }),
    ("the head of eight exabytes", 1009, { $0.injectFrame(0x81, [], length: 1 << 62) }),
    ("a text that is no UTF-8", 1007, { $0.injectFrame(0x81, [0x22, 0xC3, 0x28, 0x22]) }),
    ("reserved bits", 1002, { $0.injectFrame(0xF1, [0x61]) }),
    ("a reserved opcode", 1002, { $0.injectFrame(0x83, [0x61]) }),
    ("a continuation of nothing", 1002, { $0.injectFrame(0x80, [0x61]) }),
    ("a masked frame", 1002, { $0.inject([0x81, 0x81, 1, 2, 3, 4, 0x61]) }),
    ("HTTP", 1002, { $0.inject(Array("HTTP/1.1 400 Bad Request\r\n\r\n".utf8)) }),
  ]

  @Test(arguments: 0..<Self.violations.count)
  func aFrameThatMayNotBeEndsTheConnectionAndNotTheCall(number: Int) async throws {
    let violation = Self.violations[number]
    let server = try await TroubledGateway.listen()
    let (client, log) = Self.client()
    try Self.connect(client, server.url)
    let call = try await client.call("bob")
    try await call.answered()
    call.muteAudio()
    let events = EventRecorder(call.events)
    violation.send(server)
    let failure = try #require(await log.failure(.callConnectionLost), "\(violation.name)")
    #expect(failure.message.contains("broke a rule of WebSockets"), "\(violation.name)")
    #expect(failure.message.contains("\(violation.code)"), "\(violation.name): \(failure.message)")
    #expect((failure.cause as? VoiceFailure)?.code == .callFrameInvalid)
    #expect(Self.isRetriedSocketFailure(failure))
    // The same call goes on, as it was.
    await events.state("RECONNECTING")
    await events.state("ACTIVE")
    #expect(call.isMuted)
    #expect(client.getCall(callId: try #require(call.callInfo).callId) === call)
    try await call.setHeld(true)
    call.hangup()
    await client.disconnected()
    #expect(server.gateway.calls.isEmpty)
    await log.next("DONE")
    #expect(log.count("DONE") == 1)
    await server.close()
  }

  /// A megabyte is the limit, so a frame below it is read however deep it nests, and changes nothing.
  @Test func aHundredThousandNestedArraysAreReportedAndSurvivedOnASocket() async throws {
    let server = try await TroubledGateway.listen()
    let (client, log) = Self.client()
    try Self.connect(client, server.url)
    let call = try await client.call("bob")
    try await call.answered()
    server.injectFrame(0x81, Array(String(repeating: "[", count: 100_000).utf8))
    _ = try #require(await log.failure(.callFrameInvalid))
    try await call.setHeld(true)
    #expect(log.count("socketDisconnected") == 0)
    await client.disconnected()
    await server.close()
  }
}
