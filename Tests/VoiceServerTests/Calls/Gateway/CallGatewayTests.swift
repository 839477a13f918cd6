import CallSignaling
import NIOPosix
import Synchronization
import Testing
import VoiceCore
import VoiceTesting

@testable import VoiceServer

@Suite struct CallGatewayTests {
  private final class KeptRecords: CallRecordStore {
    let calls = Mutex<[StoredCall]>([])

    func append(_ calls: [StoredCall]) async throws(VoiceFailure) { self.calls.withLock { $0 += calls } }
  }

  /// Remembers which calls were told to stop.
  private final class StoppingMedia: ServerMediaPeerFactory, ServerMediaPeer {
    let stopped = Mutex(0)
    private let tell = Mutex<(@Sendable (MediaEvent) -> Void)?>(nil)

    func makePeer(_ tell: @escaping @Sendable (MediaEvent) -> Void) -> any ServerMediaPeer {
      self.tell.withLock { $0 = tell }
      return self
    }

    func handle(_ command: MediaCommand) {
      switch command {
      case .start: self.tell.withLock { $0 }?(.answered(SwitchHarness.answer))
      case .stop: self.stopped.withLock { $0 += 1 }
      case .renegotiate, .makeOffer, .takeAnswer, .hold, .tones, .candidate, .endOfCandidates: break
      }
    }
  }

  /// A socket that carries nothing.
  private struct DeadLink: GatewayLink {
    func send(_ frame: [UInt8]) {}
    func ping() {}
    func close(code: Int, reason: String) {}
    func schedule(in time: Duration, _ body: @escaping @Sendable () -> Void) {}
  }

  /// A call whose client had lost its socket was neither recorded nor stopped when the server stopped.
  @Test func endsCallsWhenItStopsWithoutAnySocket() async throws {
    let folder = try Fixture.Folder()
    let logger = CapturingLog().logger
    let metrics = CallMetrics(factory: PrometheusRegistry())
    let store = KeptRecords()
    let writer = CallRecordWriter(store: store, metrics: metrics, logger: logger)
    let users = ConfiguredUsers([], next: nil)
    let clock = TestClock()
    let desk = CallLoginDesk(
      users: users, opaqueTokens: [:], allowsGuests: false, loginsPerSecond: 1,
      tokens: await TokenAuthority(
        key: try SigningKey.load(folder: folder.path), lifetime: .seconds(600), now: { 0 }),
      threads: .singleton, clock: clock, metrics: metrics, logger: logger)
    let media = StoppingMedia()
    let gateway = CallGateway(
      configuration: .init(), users: ["alice"],
      parts: .init(
        desk: desk, users: users, media: media, records: writer, clock: clock, wallTime: { 0 },
        metrics: metrics, logger: logger))

    let key = SessionKey(user: "alice", sessionID: "a")
    // A login whose socket ended before the switch heard of it registers nobody.
    gateway.handle(.loggedIn(ConnectionID(number: 99), key, request: nil, isAnonymous: false))
    #expect(gateway.registered("alice") == [])
    let connection = gateway.open(DeadLink(), from: "192.0.2.1").id
    gateway.handle(.loggedIn(connection, key, request: nil, isAnonymous: false))
    #expect(gateway.registered("alice") == [key])
    var dialog = DialogParams(callID: CallID("A1"))
    dialog.destinationNumber = "echo"
    gateway.handle(
      .requested(
        connection, .invite(ClientDescription(sdp: SwitchHarness.offer, dialog: dialog)), id: .integer(1)))
    gateway.handle(.disconnected(connection))
    gateway.stop()
    gateway.stop()

    writer.finish()
    try await writer.run()
    #expect(store.calls.withLock { $0.map(\.cause) } == ["SYSTEM_SHUTDOWN"])
    #expect(media.stopped.withLock { $0 } == 1)
    withExtendedLifetime(folder) {}
  }
}
