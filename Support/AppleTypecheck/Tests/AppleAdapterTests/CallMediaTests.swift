import AVFoundation
import AppleCallMedia
import CallMedia
import CallSignaling
import Foundation
import RealtimeMedia
import Testing
import VoiceCore
import VoicePlatform
import WebRTC

@testable import Calls

extension AdapterTests {
  struct CallMediaTests {
    private let events = Events()

    init() {
      StubWebRTC.shared.reset()
      AVCaptureDevice.status = .authorized
      AVCaptureDevice.answer = .authorized
    }

    /// What a peer tells, in order, for one reader.
    private final class Events: Sendable {
      let stream: AsyncStream<MediaPeerEvent>
      let teller: AsyncStream<MediaPeerEvent>.Continuation

      init() {
        (self.stream, self.teller) = AsyncStream.makeStream()
      }

      /// All that was told until now, or until something certain is.
      func words(until last: String? = nil) async -> [String] {
        if last == nil { self.teller.finish() }
        var words: [String] = []
        for await event in self.stream {
          words.append(Self.word(event))
          if words.last == last { break }
        }
        return words
      }

      private static func word(_ event: MediaPeerEvent) -> String {
        switch event {
        case .connected: "connected"
        case .interrupted: "interrupted"
        case .failed: "failed"
        case .candidateFound(let candidate): candidate.map { "\($0.sdpMid ?? "") \($0.line)" } ?? "end"
        case .measured(let metrics): "round trip \(metrics.rtt)"
        case .qualityChanged, .keyPressed: "other"
        case .warned(let failure): "\(failure.code)"
        }
      }
    }

    private func peer(
      _ media: WebRTCFrameworkMedia = WebRTCFrameworkMedia(), trickles: Bool = true, measures: Bool = false,
      urls: [String] = [], relayOnly: Bool = false, codecs: [TxCodecCapability] = []
    ) throws -> any MediaPeer {
      let teller = self.events.teller
      var servers = urls.map { TxIceServer(urls: [$0], username: "user", credential: "secret") }
      if urls.isEmpty { servers = [] }
      return try media.makePeer(
        MediaPeerSetup(
          callID: CallID("1"), iceServers: servers, forcesRelay: relayOnly, tricklesCandidates: trickles,
          audio: CallAudio(), preferredCodecs: codecs, measuresQuality: measures,
          report: { teller.yield($0) }))
    }

    private func connection(_ index: Int = 0) throws -> RTCPeerConnection {
      let made = StubWebRTC.shared.connections
      try #require(made.indices.contains(index))
      return made[index]
    }

    private func change(_ connection: RTCPeerConnection, to state: RTCPeerConnectionState) {
      connection.delegate?.peerConnection(connection, didChange: state)
    }

    private let candidate = MediaCandidate(line: "candidate:1 1 udp 2122260223 192.0.2.1 40000 typ host")

    // MARK: Failures

    @Test func withoutPermissionNothingIsMade() async throws {
      AVCaptureDevice.status = .notDetermined
      AVCaptureDevice.answer = .denied
      let peer = try self.peer()
      let failure = await #expect(throws: VoiceFailure.self) { try await peer.makeOffer() }
      #expect(failure?.code == .microphoneDenied)
      #expect(StubWebRTC.shared.connections.isEmpty)
    }

    @Test func anAddressThatTheFrameworkDoesNotTakeIsAFailure() async throws {
      let peer = try self.peer(urls: ["nonsense"])
      let failure = await #expect(throws: VoiceFailure.self) { try await peer.makeOffer() }
      #expect(failure?.code == .callMediaFailed)
      #expect(failure?.recovery == .changeConfiguration("the STUN and TURN servers"))
    }

    @Test func aDescriptionThatTheFrameworkDoesNotTakeIsUnacceptable() async throws {
      let peer = try self.peer()
      _ = try await peer.makeOffer()
      let error = NSError(
        domain: "org.webrtc.RTC_OBJC_TYPE(RTCPeerConnection)", code: -1,
        userInfo: [NSLocalizedDescriptionKey: "Failed to parse: a=secret"])
      try self.connection().stub.fail("set remote", with: error)
      let failure = await #expect(throws: VoiceFailure.self) {
        try await peer.applyRemote("nonsense", isFinal: true)
      }
      #expect(failure?.code == .callMediaUnacceptable)
      #expect((failure?.cause as? NSError)?.code == -1)
      #expect(failure?.description.contains("secret") == false)
    }

    @Test func aLostWayIsToldApartFromAHandshakeThatFailed() async throws {
      for (ice, code) in [
        (RTCIceConnectionState.failed, "call.media.unreachable"), (.connected, "call.media.insecure"),
      ] {
        StubWebRTC.shared.reset()
        let peer = try self.peer()
        _ = try await peer.makeAnswer(to: "v=0", isReattach: false)
        let connection = try self.connection()
        connection.delegate?.peerConnection(connection, didChangeStandardizedIceConnectionState: ice)
        self.change(connection, to: .failed)
        #expect(await self.events.words(until: "failed") == [code, "failed"])
        await peer.stop()
      }
    }

    @Test func aServerThatGivesNothingIsWarnedOf() async throws {
      let peer = try self.peer(urls: ["turn:relay.example.org"])
      _ = try await peer.makeOffer()
      let connection = try self.connection()
      for code: Int32 in [401, 701] {
        connection.delegate?.peerConnection(
          connection,
          didFailToGatherIceCandidate: RTCIceCandidateErrorEvent(
            url: "turn:relay.example.org", errorCode: code))
      }
      #expect(await self.events.words() == ["call.media.relay-failed"])
    }

    // MARK: Calls

    @Test func aConnectionIsMadeAsTheCallWantsIt() async throws {
      let peer = try self.peer(urls: ["turn:relay.example.org"], relayOnly: true)
      _ = try await peer.makeOffer()
      let configuration = try self.connection().configuration
      #expect(configuration.iceTransportPolicy == .relay)
      #expect(configuration.continualGatheringPolicy == .gatherOnce)
      #expect(configuration.bundlePolicy == .maxBundle)
      #expect(configuration.sdpSemantics == .unifiedPlan)
      #expect(configuration.iceServers.map(\.urlStrings) == [["turn:relay.example.org"]])
      #expect(configuration.iceServers.map(\.credential) == ["secret"])
      #expect(try self.connection().tracks.count == 1)
    }

    @Test func anOfferIsAnsweredAndTheCallEnds() async throws {
      let peer = try self.peer(codecs: [TxCodecCapability(mimeType: "audio/PCMA", clockRate: 8_000)])
      let offer = try await peer.makeOffer()
      #expect(offer.text.contains("m=audio 9 UDP/TLS/RTP/SAVPF 8 111 0 110"))
      await peer.addRemoteCandidate(self.candidate)
      try await peer.applyRemote("v=0", isFinal: false)
      try await peer.applyRemote("v=0", isFinal: true)
      await peer.addRemoteCandidate(nil)
      let connection = try self.connection()
      self.change(connection, to: .connected)
      self.change(connection, to: .disconnected)
      self.change(connection, to: .connected)
      await peer.stop()
      await peer.stop()
      self.change(connection, to: .closed)
      #expect(
        connection.stub.steps == [
          "make offer", "set local offer", "set remote prAnswer", "add \(self.candidate.line)",
          "set remote answer", "close",
        ])
      #expect(await self.events.words() == ["connected", "interrupted", "connected"])
    }

    @Test func anOfferIsTakenAndAnswered() async throws {
      let peer = try self.peer()
      let answer = try await peer.makeAnswer(to: "v=0", isReattach: false)
      #expect(answer.text == StubWebRTC.description)
      await peer.addRemoteCandidate(self.candidate)
      #expect(
        try self.connection().stub.steps == [
          "set remote offer", "make answer", "set local answer", "add \(self.candidate.line)",
        ])
    }

    @Test func candidatesAreToldOneByOne() async throws {
      let peer = try self.peer()
      _ = try await peer.makeOffer()
      let connection = try self.connection()
      connection.delegate?.peerConnection(
        connection, didGenerate: RTCIceCandidate(sdp: self.candidate.line, sdpMLineIndex: 0, sdpMid: "audio"))
      connection.delegate?.peerConnection(connection, didChange: RTCIceGatheringState.gathering)
      connection.delegate?.peerConnection(connection, didChange: RTCIceGatheringState.complete)
      #expect(await self.events.words() == ["audio \(self.candidate.line)", "end"])
    }

    /// A clock on which no time passes, so that only the framework can end a wait.
    private struct StillClock: VoiceClock {
      var now: VoiceInstant { VoiceInstant() }
      var minimumResolution: Duration { .nanoseconds(1) }

      func sleep(until deadline: VoiceInstant, tolerance: Duration?) async throws {
        try await Task.sleep(for: .seconds(100_000))
      }
    }

    @Test(.timeLimit(.minutes(1))) func orTheyAreInTheDescription() async throws {
      StubWebRTC.shared.gathers = true
      let peer = try self.peer(WebRTCFrameworkMedia(clock: StillClock()), trickles: false)
      #expect(try await peer.makeOffer().text == StubWebRTC.description + "a=candidate\r\n")
      #expect(await self.events.words() == [])
      await peer.stop()
    }

    @Test func aRestartAsksForNewCandidates() async throws {
      let peer = try self.peer()
      _ = try await peer.makeOffer()
      try await peer.applyRemote("v=0", isFinal: true)
      _ = try await peer.makeRestartOffer()
      #expect(
        try self.connection().stub.steps.suffix(3) == ["restart ICE", "make offer", "set local offer"])
    }

    @Test func aReattachMakesAConnectionAnew() async throws {
      let peer = try self.peer()
      _ = try await peer.makeOffer()
      peer.setMuted(true)
      _ = try await peer.makeAnswer(to: "v=0", isReattach: true)
      #expect(try self.connection().stub.steps.last == "close")
      #expect(try self.connection(1).tracks.map(\.isEnabled) == [false])
      self.change(try self.connection(), to: .failed)
      self.change(try self.connection(1), to: .connected)
      #expect(await self.events.words() == ["connected"])
    }

    @Test func muteAndHoldSwitchTheTracks() async throws {
      let peer = try self.peer()
      _ = try await peer.makeOffer()
      let connection = try self.connection()
      func isSendingAndPlaying() -> [Bool?] {
        [connection.tracks.first?.isEnabled, connection.receivers.first?.track?.isEnabled]
      }
      #expect(isSendingAndPlaying() == [true, true])
      peer.setMuted(true)
      #expect(isSendingAndPlaying() == [false, true])
      peer.setHeld(true)
      #expect(isSendingAndPlaying() == [false, false])
      peer.setHeld(false)
      #expect(isSendingAndPlaying() == [false, true])
      peer.setMuted(false)
      #expect(isSendingAndPlaying() == [true, true])
    }

    @Test func statisticsAreReadFromTheReport() async throws {
      let peer = try self.peer()
      _ = try await peer.makeAnswer(to: "v=0", isReattach: false)
      StubWebRTC.shared.onMeasure {
        RTCStatisticsReport([
          "I": RTCStatistics(
            type: "inbound-rtp",
            values: [
              "kind": NSString(string: "audio"), "packetsReceived": NSNumber(value: 50),
              "jitter": NSNumber(value: 0.25), "other": NSArray(array: [NSNumber(value: 1)]),
            ]),
          "X": RTCStatistics(
            type: "remote-inbound-rtp",
            values: ["kind": NSString(string: "audio"), "roundTripTime": NSNumber(value: 0.5)]),
        ])
      }
      #expect(await peer.statistics() == nil)
      self.change(try self.connection(), to: .connected)
      let statistics = try #require(await peer.statistics())
      #expect(statistics.reports.packetsReceived == 50)
      #expect(statistics.reports.jitter == .milliseconds(250))
      #expect(statistics.roundTrip == .milliseconds(500))
    }

    // MARK: Audio session

    @Test func theFrameworkActivatesTheSessionByItself() {
      _ = WebRTCFrameworkMedia()
      #expect(!StubWebRTC.shared.usesManualAudio)
      #expect(StubWebRTC.shared.isAudioEnabled)
    }

    @Test func withCallKitAudioBeginsWhenItIsActivated() {
      let media = WebRTCFrameworkMedia(activation: .callKit)
      #expect(StubWebRTC.shared.usesManualAudio)
      #expect(!StubWebRTC.shared.isAudioEnabled)
      media.audioSessionDidActivate(AVAudioSession.sharedInstance())
      #expect(StubWebRTC.shared.isSessionActive)
      #expect(StubWebRTC.shared.isAudioEnabled)
      media.audioSessionDidDeactivate(AVAudioSession.sharedInstance())
      #expect(!StubWebRTC.shared.isAudioEnabled)
      #expect(!StubWebRTC.shared.isSessionActive)
    }
  }
}
