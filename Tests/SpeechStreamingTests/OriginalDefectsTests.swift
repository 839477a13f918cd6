import Dispatch
import Foundation
import NIOCore
import NIOPosix
import SpeechProtocol
import SwiftProtobuf
import Testing
import VoiceAudio
import VoiceCore
import VoicePlatform
import VoiceTesting

@testable import SpeechStreaming

/// One test for each defect of the original client (protocol §5.2), named after what we want instead.
@Suite struct OriginalDefectsTests {
  @Test("1. Start and stop are acknowledged when the context starts and finishes, under both names")
  func startAndStopAreAcknowledgedInTime() async throws {
    try await ClientHarness().run { harness in
      let stream = try await harness.connect()
      #expect(await harness.recorder.wait(for: "startContext") == ["start", "startContext"])
      harness.source.send([1, 2])
      try await harness.expect("audio", of: stream)
      harness.client.stopContext()
      try await harness.expect("stop", of: stream)
      stream.send(.finished("ctx"))
      // The stream is still open: the acknowledgement does not wait for it.
      #expect(await harness.recorder.wait(for: "stopContext").suffix(2) == ["stop", "stopContext"])
    }
  }

  @Test("2. Failures of login, network and microphone are told apart, with their causes")
  func failuresAreToldApart() {
    struct Reason: Error {}
    var codes: [VoiceFailure.Code] = []
    for failure in [VoiceFailure(.unknownApp), VoiceFailure(.serverUnreachable, cause: Reason())] {
      var world = SessionWorld(configuration: .withoutRetries)
      world.start()
      world.audio()
      world.feed(.tokenFailed(failure, pushBack: nil))
      codes.append(contentsOf: world.failures.map { ($0.cause as? VoiceFailure)?.code ?? $0.code })
    }
    var world = SessionWorld()
    world.start()
    world.feed(.captureFailed(VoiceFailure(.microphoneDenied)))
    codes.append(contentsOf: world.codes)
    #expect(codes == [.unknownApp, .audioDropped, .serverUnreachable, .microphoneDenied])
    #expect(SpeechClientError(VoiceFailure(.unknownApp)) == .apiError(VoiceFailure(.unknownApp).message))
    #expect(
      SpeechClientError(VoiceFailure(.microphoneDenied))
        == .audioError(VoiceFailure(.microphoneDenied).message))
  }

  @Test("3. A kept token is used after a restart, under one stable key")
  func aKeptTokenIsUsedAfterARestart() async throws {
    let store = MemorySecureStore()
    let logins = Atomic2()
    for _ in 0..<3 {
      let provider = TokenProvider(settings: .forTests(store: store)) { deviceId throws(VoiceFailure) in
        logins.increment()
        return try TokenFixture.token(deviceId: deviceId, lifetime: 86_400)
      }
      _ = try await provider.token(refresh: false)
    }
    #expect(logins.count == 1)
  }

  @Test("4. Tokens are read with any length of base64url and with its own letters", arguments: 0..<8)
  func tokensAreReadWhateverTheirLength(filler: Int) throws {
    let claims =
      #"{"appId":"01000000-0000-0000-0000-000000000001","deviceId":"02000000-0000-0000-0000-000000000002","scope":"slu wlu new","exp":4000000000,"note":"\#(String(repeating: "?", count: filler))ÿ>~"}"#
    let payload = TokenFixture.base64URL(Data(claims.utf8))
    let token = try #require(ApiAccessToken(tokenString: "h.\(payload).s"))
    #expect(token.scopes == [.SLU, .WLU])
    #expect(token.expiresAt == Date(timeIntervalSince1970: 4_000_000_000))
    if filler == 2 { #expect(payload.contains("_") || payload.contains("-")) }
  }

  @Test("5. Suspending and resuming leaves no timer behind that ends a later context")
  func noTimerOfAnEarlierContextEndsALaterOne() {
    var world = SessionWorld()
    world.connect("one")
    world.audio()
    world.feed(.suspendRequested)
    world.captureEnded()
    world.acceptAll()
    world.finished("one")
    world.feed(.resumeRequested)
    world.connect("two")
    world.pass(.seconds(60))
    for timer in [SessionMachine.Timer.idle, .postRoll, .captureDrain] { world.feed(.timerFired(timer)) }
    #expect(world.machine.state == .started(contextId: "two"))
  }

  @Test("6. The end of an older stream does not touch the current one")
  func theEndOfAnOlderStreamIsIgnored() {
    var world = SessionWorld()
    world.connect("one")
    let old = world.stream ?? 0
    world.cut()
    world.reconnect()
    world.started("two")
    world.feed(.streamEnded(stream: old, SpeechStreamEnd()))
    #expect(world.machine.state == .started(contextId: "one"))
  }

  @Test("7. Releasing a client on an event loop neither blocks nor traps")
  func releasingOnAnEventLoopIsHarmless() async throws {
    let loop = MultiThreadedEventLoopGroup.singleton.next()
    let harness = try ClientHarness()
    let source = harness.source
    let transport = harness.transport
    let events = try await loop.submit {
      var configuration = SpeechClient.Configuration(app: .app(ApiAccessToken.forTests.appId))
      configuration.store = MemorySecureStore()
      configuration.paths = nil
      let client = try SpeechClient(configuration: configuration, source: source, transport: transport) {
        _ throws(VoiceFailure) in .forTests
      }
      client.runInBackground()
      client.start()
      return client.events
    }.get()
    // The event loop goes on, and what the client had opened is closed.
    try await loop.submit {}.get()
    for await _ in events {}
    #expect(!source.isCapturing)
  }

  @Test("8. Audio recorded before the start message is sent after it, and a second start restarts")
  func earlyAudioIsKeptAndASecondStartRestarts() {
    var world = SessionWorld()
    world.start()
    world.captureStarted()
    world.audio(1)
    world.token()
    world.acceptAll()
    #expect(world.kinds == ["config", "start", "audio"])
    world.started("one")
    world.start()
    world.acceptAll()
    world.finished("one")
    world.acceptAll()
    world.started("two")
    #expect(world.startedContexts == ["one", "two"])
    #expect(world.failures.isEmpty)
  }

  @Test("9. An outage is one failure, however much is said meanwhile")
  func anOutageIsOneFailure() {
    var world = SessionWorld()
    world.connect()
    world.cut()
    for _ in 0..<100 { world.audio() }
    #expect(world.codes == [.connectionLost])
  }

  @Test("10. The client may be used from many threads at once")
  func theClientMayBeUsedFromManyThreads() async throws {
    try await ClientHarness().run { harness in
      await withTaskGroup(of: Void.self) { group in
        for number in 0..<8 {
          group.addTask {
            for _ in 0..<50 {
              switch number % 4 {
              case 0: harness.client.start()
              case 1: harness.client.stop()
              case 2: harness.client.delegate = harness.recorder
              default: _ = harness.client.state
              }
            }
          }
        }
      }
      harness.client.suspend()
      #expect(harness.client.delegate === harness.recorder)
    }
  }

  @Test("11. A shrinking hypothesis leaves no stale words or entities")
  func tentativeListsReplace() {
    var assembler = SegmentAssembler(contextId: "c")
    func words(_ texts: [String]) -> [SpeechTranscript] {
      texts.enumerated().map {
        SpeechTranscript(index: $0, value: $1, startOffset: 0, endOffset: 0, isFinal: false)
      }
    }
    _ = assembler.receivedTentativeWords(words(["turn", "off", "all"]), segmentId: 0, isReplay: false)
    _ = assembler.receivedTentativeEntities(
      [SpeechEntity(value: "x", type: "t", startIndex: 0, endIndex: 2, isFinal: false)], segmentId: 0,
      isReplay: false)
    _ = assembler.receivedTentativeWords(words(["turn", "on"]), segmentId: 0, isReplay: false)
    _ = assembler.receivedTentativeEntities([], segmentId: 0, isReplay: false)
    #expect(assembler.segments[0]?.text == "turn on")
    #expect(assembler.segments[0]?.entities == [])
  }

  @Test("12. One repeated final word costs nothing else, and a segment always ends")
  func oneRepeatedWordCostsNothingElse() {
    var world = SessionWorld()
    world.connect()
    world.word("turn", 0)
    world.tentative(["turn", "off", "lights"], from: 0)
    #expect(world.segments.last?.text == "turn off lights")
    // A segment end without final intent, with words that were only tentative.
    world.respond { $0.segmentEnd = .init() }
    #expect(world.segments.last?.isFinal == true)
    #expect(world.segments.last?.text == "turn")
    #expect(world.segments.last?.intent == SpeechIntent(value: "", isFinal: true))
  }

  @Test("13. Segments sort by number and entities by start, then end")
  func segmentsSortByNumber() {
    let context = SpeechContext(
      id: "c", segments: [10, 2, 1].map { SpeechSegment(segmentId: $0, contextId: "c") })
    #expect(context.segments.map(\.segmentId) == [1, 2, 10])
    #expect(SpeechEntity.ID(start: 1, end: 2) < SpeechEntity.ID(start: 1, end: 3))
  }

  @Test("14. Segments that never ended are reported, and the whole context is handed over")
  func unfinishedSegmentsAreReported() async throws {
    try await ClientHarness().run { harness in
      let stream = try await harness.connect()
      harness.source.send([1])
      stream.send(.word("hello", 0))
      harness.client.stop()
      try await harness.expect("audio", of: stream)
      try await harness.expect("stop", of: stream)
      stream.send(.finished("ctx"))
      let calls = await harness.recorder.wait(for: "stopContext")
      #expect(calls.contains("failed speech.stream.segment-unfinished"))
      #expect(calls.contains("finish hello"))
    }
  }

  @Test("15. A device that is missing, refused or unplugged is a failure with a name, never a crash")
  func deviceFailuresHaveNames() async throws {
    for code in [VoiceFailure.Code.noInputDevice, .microphoneDenied, .inputDeviceBusy] {
      // Without a login: a server that was asked would have to answer.
      let harness = try ClientHarness(login: { _ throws(VoiceFailure) in
        throw VoiceFailure(.serverUnreachable)
      })
      harness.source.failToOpen(VoiceFailure(code))
      try await harness.run { harness in
        harness.client.start()
        let calls = await harness.recorder.wait(for: "stopContext")
        #expect(calls.contains("failed \(code)"))
      }
    }
    try await ClientHarness().run { harness in
      let stream = try await harness.connect()
      harness.source.send([1, 2, 3])
      harness.source.fail(VoiceFailure(.inputDeviceLost))
      #expect(try await harness.expect("audio", of: stream).audio.count == 6)
      try await harness.expect("stop", of: stream)
    }
  }

  @Test("16. A stop without a start leaves no mark on the next start")
  func aStopWithoutAStartLeavesNoMark() async throws {
    try await ClientHarness().run { harness in
      harness.client.stop()
      let stream = try await harness.connect()
      harness.source.send([1])
      try await harness.expect("audio", of: stream)
      #expect(harness.source.isCapturing)
    }
  }

  @Test(
    "17. An address that is not one is refused with its reason",
    arguments: [
      "", "grpc", "http://a:1", "x grpc://host", "grpc://", "grpc://:80", "grpc://host:0",
      "grpc://host:65536",
      "grpc://host:x", "grpc://user@host", "grpc://host/path", "grpc://[::1", "grpc://a b",
    ])
  func addressesAreReadStrictly(text: String) {
    #expect(throws: GRPCAddress.ParseError.self) { try GRPCAddress(addr: text) }
    #expect(throws: VoiceFailure.self) { try GRPCAddress.parse(text) }
  }

  @Test("18. A server that stays silent is given up, and a rejected token is replaced once")
  func silenceAndRejectionAreHandled() {
    var silent = SessionWorld()
    silent.start()
    silent.token()
    silent.fire(.progress)
    silent.fire(.progress)
    #expect(silent.codes == [.serverTimedOut])

    var rejected = SessionWorld()
    rejected.start()
    rejected.token()
    rejected.cut(VoiceFailure(.credentialsRejected))
    #expect(rejected.tokenRequests == [false, true])
  }

  @Test("19. An utterance of more than five minutes goes on")
  func fiveMinutesAreNotTheEnd() {
    var world = SessionWorld()
    world.connect("one")
    var contexts = 1
    for tenth in 0..<3_700 {
      world.audio(tenth % 50 == 0 ? 1 : 1000)
      world.acceptAll()
      if world.kinds.last == "stop" {
        world.finished(contexts == 1 ? "one" : "c\(contexts)")
        world.acceptAll()
        contexts += 1
        world.started("c\(contexts)")
      }
    }
    #expect(contexts == 2)
    #expect(world.codes == [.contextSplit])
    #expect(world.finishedContexts.isEmpty)
    #expect(world.machine.state == .started(contextId: "one"))
  }

  @Test("20. A failed context is let go")
  func aFailedContextIsLetGo() {
    var world = SessionWorld(configuration: .withoutRetries)
    world.connect()
    world.audio()
    world.cut()
    #expect(world.machine.contexts.isEmpty)
    #expect(world.finishedContexts.count == 1)
  }

  @Test("21. Round trip measurements are answered")
  func roundTripsAreAnswered() async throws {
    try await ClientHarness().run { harness in
      let stream = try await harness.connect()
      stream.send(.with { $0.rttRequest.id = 5 })
      #expect(try await harness.expect("rtt", of: stream).rttResponse.id == 5)
    }
  }
}

extension SessionMachine.Configuration {
  static var withoutRetries: SessionMachine.Configuration {
    var configuration = SessionMachine.Configuration.forTests
    configuration.retry = .never
    return configuration
  }
}

extension TokenProvider.Settings {
  static func forTests(
    store: any SecureStore, server: String = "s",
    report: @escaping @Sendable (VoiceFailure) -> Void = { _ in },
    now: @escaping @Sendable () -> Date = { Date() }
  ) -> Self {
    Self(
      scope: .app(TokenFixture.appId), deviceId: nil, server: server, store: store, report: report, now: now)
  }
}

/// Tokens as a server makes them, with a signature that nobody checks.
enum TokenFixture {
  static let appId = UUID(uuid: (1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1))

  static func token(
    deviceId: UUID, lifetime: TimeInterval, from now: Date = Date()
  ) throws(VoiceFailure) -> ApiAccessToken {
    let claims =
      #"{"appId":"\#(Self.appId.uuidString)","deviceId":"\#(deviceId.uuidString)","scope":"slu","iat":\#(Int(now.timeIntervalSince1970)),"exp":\#(Int(now.timeIntervalSince1970 + lifetime))}"#
    guard let token = ApiAccessToken(tokenString: "h.\(Self.base64URL(Data(claims.utf8))).s") else {
      throw VoiceFailure(.tokenUnreadable)
    }
    return token
  }

  static func base64URL(_ data: Data) -> String {
    data.base64EncodedString().replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
  }
}
