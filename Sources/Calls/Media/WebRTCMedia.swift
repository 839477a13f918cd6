public import CallMedia
import CallSignaling
import RealtimeMedia
import VoiceCore

/// Makes media peers with real WebRTC audio: what a ``TxClient`` has unless it is given others.
///
/// All calls of a factory share the threads of its engine, one by default. What is said and heard goes through ``Call/audio``.
public final class WebRTCMedia: MediaPeerFactory {
  private let engine: MediaEngine
  private let trustRoots: String?

  /// Creates a factory; its threads wait most of the time.
  ///
  /// - Parameters:
  ///   - engine: The engine to run on, to share it with others or to give it more threads.
  ///   - trustRoots: A file of certificates in PEM that relays over TLS may have, in place of the system's.
  public init(engine: MediaEngine = MediaEngine(), trustRoots: String? = nil) {
    self.engine = engine
    self.trustRoots = trustRoots
  }

  public var supportedCodecs: [TxCodecCapability] {
    Self.codecs.map { codec in
      TxCodecCapability(
        mimeType: "audio/\(codec.encoding)", clockRate: codec.clockRate,
        channels: codec.channels > 1 ? codec.channels : nil, sdpFmtpLine: codec.parameters)
    }
  }

  private static let codecs: [AudioCodec] = [.opus(), .pcmu, .pcma]

  public func makePeer(_ setup: MediaPeerSetup) throws -> any MediaPeer {
    var configuration = MediaSession.Configuration()
    for server in setup.iceServers {
      for url in server.urls {
        configuration.iceServers.append(
          .init(
            try IceServerAddress(url), username: server.username ?? "", password: server.credential ?? ""))
      }
    }
    configuration.connection.ice.relayOnly = setup.forcesRelay
    configuration.connection.audio.codecs = Self.ordered(setup.preferredCodecs)
    configuration.tricklesCandidates = setup.tricklesCandidates
    configuration.statisticsInterval = setup.measuresQuality ? .seconds(1) : nil
    configuration.trustRoots = self.trustRoots
    return WebRTCPeer(engine: self.engine, configuration: configuration, setup: setup)
  }

  /// The codecs in the order that is wanted, then the others: a preference is no exclusion (telnyx.md section 1.6).
  static func ordered(_ preferred: [TxCodecCapability]) -> [AudioCodec] {
    var rest = Self.codecs
    var ordered: [AudioCodec] = []
    for wanted in preferred {
      let index = rest.firstIndex { codec in
        wanted.mimeType.lowercased() == "audio/\(codec.encoding.lowercased())"
          && wanted.clockRate == codec.clockRate
      }
      if let index { ordered.append(rest.remove(at: index)) }
    }
    return ordered + rest
  }
}

/// The media of one call.
///
/// An offer after an outage may be of a wholly new transport (a reattach); the session makes keys and way anew then, and the
/// call's audio goes on in it.
final class WebRTCPeer: MediaPeer {
  private let session: MediaSession

  init(engine: MediaEngine, configuration: MediaSession.Configuration, setup: MediaPeerSetup) {
    let report = setup.report
    self.session = engine.makeSession(configuration, audio: setup.audio) { event in
      Self.events(for: event).forEach(report)
    }
  }

  func makeOffer() async throws -> SDP { SDP(try await self.session.makeOffer()) }

  func makeAnswer(to offer: SDP, isReattach: Bool) async throws -> SDP {
    SDP(try await self.session.receivedOffer(offer.text, isReattach: isReattach))
  }

  func makeRestartOffer() async throws -> SDP {
    SDP(try await self.session.makeOffer(restartingICE: true))
  }

  func applyRemote(_ answer: SDP, isFinal: Bool) async throws {
    try await self.session.receivedAnswer(answer.text, isFinal: isFinal)
  }

  func addRemoteCandidate(_ candidate: MediaCandidate?) async {
    self.session.addRemoteCandidate(candidate?.line)
  }

  func setMuted(_ isMuted: Bool) { self.session.setMuted(isMuted) }

  func setHeld(_ isHeld: Bool) { self.session.setHeld(isHeld) }

  func statistics() async -> MediaStatistics? { await self.session.statistics() }

  func stop() async { await self.session.close() }

  private static func events(for event: MediaSession.Event) -> [MediaPeerEvent] {
    switch event {
    case .connected: [.connected]
    case .interrupted: [.interrupted]
    case .failed(let failure): [.warned(failure), .failed]
    // The other side is gone without a word in signalling; it may come back with a new offer.
    case .remoteClosed: [.interrupted]
    case .candidateFound(let line): [.candidateFound(line.map { MediaCandidate(line: $0) })]
    case .keyPressed(let key): [.keyPressed(key)]
    case .warned(let failure): [.warned(failure)]
    case .qualityChanged(let change): [.qualityChanged(change)]
    case .measured(let statistics): [.measured(CallQualityMetrics(statistics))]
    }
  }
}
