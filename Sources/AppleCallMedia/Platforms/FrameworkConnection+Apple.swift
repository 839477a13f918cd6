#if canImport(WebRTC)
  import Calls
  import Foundation
  import VoiceCore
  import WebRTC

  /// Makes what connections consist of.
  // @unchecked: the framework performs every call on its own threads, whichever thread it comes from.
  final class FrameworkFactory: @unchecked Sendable {
    private static let isInitialized: Bool = RTCInitializeSSL()
    private let factory: RTCPeerConnectionFactory

    init() {
      _ = Self.isInitialized
      self.factory = RTCPeerConnectionFactory()
    }

    func makeTrack() -> RTCAudioTrack {
      self.factory.audioTrack(
        with: self.factory.audioSource(with: FrameworkConnection.noConstraints), trackId: "audio")
    }

    func makeConnection(
      _ settings: ConnectionSettings, delegate: any RTCPeerConnectionDelegate
    ) -> RTCPeerConnection? {
      let configuration = RTCConfiguration()
      configuration.sdpSemantics = .unifiedPlan
      configuration.bundlePolicy = .maxBundle
      configuration.rtcpMuxPolicy = .require
      configuration.tcpCandidatePolicy = .disabled
      // Otherwise candidates never end. A network that changes is the client's affair, which restarts ICE.
      configuration.continualGatheringPolicy = .gatherOnce
      configuration.iceTransportPolicy = settings.relayOnly ? .relay : .all
      configuration.iceServers = settings.iceServers.map {
        RTCIceServer(urlStrings: $0.urls, username: $0.username, credential: $0.credential)
      }
      return self.factory.peerConnection(
        with: configuration, constraints: FrameworkConnection.noConstraints, delegate: delegate)
    }
  }

  /// `RTCPeerConnection` with one audio track.
  // @unchecked: the framework performs every call on its own threads, whichever thread it comes from.
  final class FrameworkConnection: PeerConnecting, @unchecked Sendable {
    private let connection: RTCPeerConnection
    private let track: RTCAudioTrack
    // The connection holds its delegate weakly.
    private let delegate: FrameworkDelegate

    static var noConstraints: RTCMediaConstraints {
      RTCMediaConstraints(mandatoryConstraints: nil, optionalConstraints: nil)
    }

    init(
      _ factory: FrameworkFactory, _ settings: ConnectionSettings,
      tell: @escaping @Sendable (ConnectionEvent) -> Void
    ) throws(VoiceFailure) {
      self.delegate = FrameworkDelegate(tell)
      guard let connection = factory.makeConnection(settings, delegate: self.delegate) else {
        throw VoiceFailure(
          .callMediaFailed,
          message: "The framework makes no connection; the address of a STUN or TURN server may be wrong.",
          recovery: .changeConfiguration("the STUN and TURN servers"))
      }
      self.connection = connection
      self.track = factory.makeTrack()
      guard connection.add(self.track, streamIds: ["call"]) != nil else {
        connection.close()
        throw VoiceFailure(.callMediaFailed, message: "The framework takes no audio.")
      }
    }

    var localDescription: String? { self.connection.localDescription?.sdp }

    func makeOffer(restartingICE: Bool) async throws -> String {
      if restartingICE { self.connection.restartIce() }
      let reply = PeerReply<String>()
      self.connection.offer(for: Self.noConstraints) { @Sendable description, error in
        reply.resolve(Self.result(description?.sdp, error))
      }
      return try await reply.value()
    }

    func makeAnswer() async throws -> String {
      let reply = PeerReply<String>()
      self.connection.answer(for: Self.noConstraints) { @Sendable description, error in
        reply.resolve(Self.result(description?.sdp, error))
      }
      return try await reply.value()
    }

    func setLocal(_ kind: DescriptionKind, _ text: String) async throws {
      let reply = PeerReply<Void>()
      self.connection.setLocalDescription(RTCSessionDescription(type: RTCSdpType(kind), sdp: text)) {
        @Sendable error in reply.resolve(Self.result((), error))
      }
      try await reply.value()
    }

    func setRemote(_ kind: DescriptionKind, _ text: String) async throws {
      let reply = PeerReply<Void>()
      self.connection.setRemoteDescription(RTCSessionDescription(type: RTCSdpType(kind), sdp: text)) {
        @Sendable error in reply.resolve(Self.result((), error))
      }
      try await reply.value()
    }

    func add(_ candidate: MediaCandidate) async throws {
      let reply = PeerReply<Void>()
      self.connection.add(
        RTCIceCandidate(
          sdp: candidate.line, sdpMLineIndex: Int32(clamping: candidate.sdpMLineIndex ?? 0),
          sdpMid: candidate.sdpMid)
      ) { @Sendable error in reply.resolve(Self.result((), error)) }
      try await reply.value()
    }

    func setAudio(sends: Bool, plays: Bool) {
      self.track.isEnabled = sends
      for receiver in self.connection.receivers { receiver.track?.isEnabled = plays }
    }

    func measure() async throws -> ConnectionReport {
      let reply = PeerReply<ConnectionReport>()
      self.connection.statistics { @Sendable report in
        reply.resolve(.success(ConnectionReport(entries: report.statistics.mapValues { .init($0) })))
      }
      return try await reply.value()
    }

    func close() { self.connection.close() }

    private static func result<Value>(_ value: Value?, _ error: (any Error)?) -> Result<Value, any Error> {
      if let error { return .failure(error) }
      guard let value else {
        return .failure(VoiceFailure(.callMediaFailed, message: "The framework made no description."))
      }
      return .success(value)
    }
  }

  extension RTCSdpType {
    fileprivate init(_ kind: DescriptionKind) {
      switch kind {
      case .offer: self = .offer
      case .provisionalAnswer: self = .prAnswer
      case .answer: self = .answer
      case .rollback: self = .rollback
      }
    }
  }

  extension ConnectionReport.Entry {
    fileprivate init(_ statistics: RTCStatistics) {
      self.init(type: statistics.type)
      for (name, value) in statistics.values {
        if let number = value as? NSNumber {
          self.numbers[name] = number.doubleValue
        } else if let text = value as? NSString {
          self.texts[name] = text.substring(from: 0)
        }
      }
    }
  }
#endif
