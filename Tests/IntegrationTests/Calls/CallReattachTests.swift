import CallSignaling
import Foundation
import RealtimeMedia
import Synchronization
import Testing
import VoiceCore
import VoicePlatform
import VoiceServer
import VoiceTesting

@testable import CallMedia
@testable import Calls

/// Both clients of a call with real audio lose their sockets and attach again.
@Suite(.timeLimit(.minutes(2))) struct CallReattachTests {
  /// The network of one client: its link to the gateway, and the addresses of its media.
  private final class Phone: MediaPeerFactory {
    let signalling = ManualNetworkPathMonitor(path: Phone.path("192.0.2.1"))
    let addresses = ManualNetworkPathMonitor(path: Phone.path("127.0.0.1"))
    let client: TxClient
    private let media: Media

    var supportedCodecs: [TxCodecCapability] { self.media.supportedCodecs }

    init(_ name: String, at port: Int, failsSoon: Bool) throws {
      self.media = Media(MediaEngine(paths: self.addresses), failsSoon: failsSoon)
      self.client = TxClient(media: self.media, paths: self.signalling)
      // 0.0.0.0 leads to this machine too, but a client takes it for another one, on which path changes have an effect.
      let url = try #require(URL(string: "ws://0.0.0.0:\(port)/calls"))
      try self.client.connect(
        txConfig: TxConfig(sipUser: name, password: "a long password"),
        serverConfiguration: TxServerConfiguration(signalingServer: url))
    }

    func makePeer(_ setup: MediaPeerSetup) throws -> any MediaPeer { try self.media.makePeer(setup) }

    private static func path(_ addresses: String...) -> NetworkPath {
      NetworkPath(
        interfaces: addresses.isEmpty ? [] : [.init(name: "test0", addresses: addresses)])
    }

    func loseTheGateway() { self.signalling.change(to: Self.path()) }

    /// Audio has no way any more, and after a while none is looked for.
    func loseTheMedia() async {
      // No address of this machine.
      self.addresses.change(to: Self.path("198.51.100.1"))
      await self.media.failed()
    }

    func comeBack() {
      self.addresses.change(to: Self.path("127.0.0.2"))
      self.signalling.change(to: Self.path("192.0.2.2"))
    }

    var steps: [String] { self.media.steps }
  }

  /// Real media; if told so, their way fails soon after it was lost, and not much later than a machine may stall.
  private final class Media: MediaPeerFactory {
    private let engine: MediaEngine
    private let failures: AsyncStream<Void>
    private let told: AsyncStream<Void>.Continuation
    private let log = Mutex<[String]>([])
    private let configuration: MediaSession.Configuration

    init(_ engine: MediaEngine, failsSoon: Bool) {
      self.engine = engine
      var configuration = MediaSession.Configuration()
      if failsSoon {
        configuration.connection.ice.disconnectedAfter = .seconds(2)
        configuration.connection.ice.failedAfter = .seconds(6)
      }
      self.configuration = configuration
      (self.failures, self.told) = AsyncStream.makeStream()
    }

    var supportedCodecs: [TxCodecCapability] { [] }
    var steps: [String] { self.log.withLock { $0 } }

    func failed() async { for await _ in self.failures { break } }

    func note(_ step: String) { self.log.withLock { $0.append(step) } }

    func makePeer(_ setup: MediaPeerSetup) throws -> any MediaPeer {
      var setup = setup
      let report = setup.report
      setup.report = { [told] event in
        report(event)
        if case .failed = event { told.yield() }
      }
      return Peer(
        media: self, peer: WebRTCPeer(engine: self.engine, configuration: self.configuration, setup: setup))
    }
  }

  /// Notes what the client asks of its media.
  private struct Peer: MediaPeer {
    let media: Media
    let peer: WebRTCPeer

    private static func credentials(_ sdp: SDP) -> String {
      sdp.text.split(whereSeparator: \.isNewline).first { $0.hasPrefix("a=ice-ufrag:") }.map { String($0) }
        ?? ""
    }

    func makeOffer() async throws -> SDP { try await self.peer.makeOffer() }

    func makeAnswer(to offer: SDP, isReattach: Bool) async throws -> SDP {
      let answer = try await self.peer.makeAnswer(to: offer, isReattach: isReattach)
      self.media.note("\(isReattach ? "attached" : "answered") \(Self.credentials(answer))")
      return answer
    }

    func makeRestartOffer() async throws -> SDP {
      self.media.note("restarted")
      return try await self.peer.makeRestartOffer()
    }

    func applyRemote(_ answer: SDP, isFinal: Bool) async throws {
      try await self.peer.applyRemote(answer, isFinal: isFinal)
    }

    func addRemoteCandidate(_ candidate: MediaCandidate?) async {
      await self.peer.addRemoteCandidate(candidate)
    }

    func setMuted(_ isMuted: Bool) { self.peer.setMuted(isMuted) }
    func setHeld(_ isHeld: Bool) { self.peer.setHeld(isHeld) }
    func statistics() async -> MediaStatistics? { await self.peer.statistics() }
    func stop() async { await self.peer.stop() }
  }

  private static func active(_ events: some AsyncSequence<CallEvent, Never>) async -> Bool {
    var wasLost = false
    for await event in events {
      guard case .stateUpdated(let state) = event else { continue }
      if state != .ACTIVE { wasLost = true }
      if wasLost, state == .ACTIVE { return true }
    }
    return false
  }

  /// With media that failed on both sides, each makes new credentials as it attaches, and has to learn those of the other.
  @Test(arguments: [false, true]) func bothSidesAttachAgainAndHearEachOther(_ mediaFail: Bool) async throws {
    try await CallMediaTests.withGateway { port in
      let near = try Phone("alice", at: port, failsSoon: mediaFail)
      let far = try Phone("bob", at: port, failsSoon: mediaFail)
      let incoming = far.client.events
      try await near.client.ready()
      try await far.client.ready()
      let call = try await near.client.call("bob")
      var taken: Call?
      for await event in incoming {
        guard case .incomingCall(let call) = event else { continue }
        taken = call
        break
      }
      let other = try #require(taken)
      other.answer()
      try await call.answered()
      let tones = [CallMediaTests.send(440, to: call.audio), CallMediaTests.send(1000, to: other.audio)]
      defer { for tone in tones { tone.cancel() } }
      func hearEachOther() async -> [Bool] {
        async let first = call.audio.hears(1000)
        async let second = other.audio.hears(440)
        return await [first, second]
      }
      #expect(await hearEachOther() == [true, true])

      let (mine, theirs) = (call.events, other.events)
      for phone in [near, far] { phone.loseTheGateway() }
      if mediaFail { for phone in [near, far] { await phone.loseTheMedia() } }
      for phone in [near, far] { phone.comeBack() }
      async let first = Self.active(mine)
      async let second = Self.active(theirs)
      #expect(await [first, second] == [true, true])
      #expect(await hearEachOther() == [true, true])
      // The exchange of the gateway was enough: nobody had to repair anything.
      #expect(!(near.steps + far.steps).contains("restarted"), "\(near.steps) \(far.steps)")
      for phone in [near, far] {
        let attached = phone.steps.filter { $0.hasPrefix("attached") }
        #expect(attached.count == 1, "\(phone.steps)")
      }
      call.hangup()
      _ = try await other.ended()
      for phone in [near, far] { await phone.client.disconnected() }
    }
  }
}
