import CallMedia
import RealtimeMedia
import Testing
import VoiceCore
import VoiceTesting

extension MediaInteropTests {
  /// Calls by way of coturn.
  @Suite(.serialized) struct RelayTests {
    enum Transport: String, Sendable, CaseIterable {
      case udp, tcp, tls
    }

    /// Runs a body with our configuration for a relay that is the only way.
    static func withRelay<Result>(
      _ transport: Transport, password: String? = nil,
      _ body: (MediaSession.Configuration, _ url: String) async throws -> Result
    ) async throws -> Result {
      try await withPeerProcess("Tests/Peers/turn_server.py", arguments: transport == .tls ? ["--tls"] : []) {
        server in
        let ready = try await server.event("ready")
        let host = ready["address"]?.string ?? ""
        let port = ready[transport == .tls ? "tlsPort" : "port"]?.int ?? 0
        let url =
          switch transport {
          case .udp: "turn:\(host):\(port)?transport=udp"
          case .tcp: "turn:\(host):\(port)?transport=tcp"
          case .tls: "turns:\(host):\(port)?transport=tcp"
          }
        var configuration = MediaSession.Configuration()
        configuration.iceServers = [
          .init(
            try IceServerAddress(url), username: ready["user"]?.string ?? "",
            password: password ?? ready["password"]?.string ?? "")
        ]
        configuration.connection.ice.relayOnly = true
        configuration.trustRoots = ready["certificate"]?.string
        return try await body(configuration, url)
      }
    }

    @Test(arguments: Transport.allCases)
    func bothHearEachOtherThroughARelay(transport: Transport) async throws {
      try await Self.withRelay(transport) { configuration, _ in
        try await OwnMedia.with(configuration) { own in
          try await OwnMedia.with(tone: 700) { other in
            try await own.calls(other)
            try await own.hears(700)
            try await other.hears(440)
            let pair = try #require(await own.session.statistics()?.pair)
            #expect(pair.local.kind == .relayed)
          }
        }
      }
    }

    @Test(arguments: Caller.allCases)
    func anIndependentPeerIsReachedThroughARelay(caller: Caller) async throws {
      try await Self.withRelay(.udp) { configuration, _ in
        try await RemoteMedia.with(.aiortc) { peer in
          try await OwnMedia.with(configuration) { own in
            switch caller {
            case .own: try await peer.called(by: own)
            case .peer: try await peer.calls(own)
            }
            try await peer.hearEachOther(own)
          }
        }
      }
    }

    @Test(arguments: Caller.allCases)
    func aBrowserMayHaveARelayAlone(caller: Caller) async throws {
      try await Self.withRelay(.udp) { _, url in
        let relay = ["--relay-only", "--ice-server", "\(url)|voice|secret"]
        try await RemoteMedia.with(.chromium, relay) { peer in
          try await OwnMedia.with { own in
            switch caller {
            case .own: try await peer.called(by: own)
            case .peer: try await peer.calls(own)
            }
            try await peer.hearEachOther(own)
            let report = try await peer.report()
            #expect(report["pair"]?["local"]?["kind"]?.string == "relay")
          }
        }
      }
    }

    /// It was told that such a relay does not answer, so that people looked for a firewall.
    @Test func aCertificateThatNobodyTrustsIsToldAsTheReason() async throws {
      try await Self.withRelay(.tls) { configuration, _ in
        var configuration = configuration
        configuration.trustRoots = nil
        try await OwnMedia.with(configuration) { own in
          _ = try await own.session.makeOffer()
          let warning = try await own.first("the warning") { event -> VoiceFailure? in
            if case .warned(let failure) = event, failure.code == .callRelayFailed { failure } else { nil }
          }
          #expect(warning.value.message.contains("no secure connection that can be trusted"))
          #expect(warning.value.cause != nil)
        }
      }
    }

    @Test(arguments: Transport.allCases)
    func aWrongPasswordIsToldAndEndsInAFailure(transport: Transport) async throws {
      try await Self.withRelay(transport, password: "wrong") { configuration, _ in
        var configuration = configuration
        configuration.connection.ice.checkingTimeout = .seconds(3)
        configuration.connection.connectTimeout = .seconds(5)
        try await OwnMedia.with(configuration) { own in
          try await OwnMedia.with(tone: 700) { other in
            try await own.calls(other)
            let warning = try await own.first("the warning") { event -> VoiceFailure? in
              if case .warned(let failure) = event, failure.code == .callRelayFailed { failure } else { nil }
            }
            #expect(!warning.value.description.contains("wrong"))
            let failure = try await own.first("failed") { event -> VoiceFailure? in
              if case .failed(let failure) = event { failure } else { nil }
            }
            #expect(failure.value.code == .callMediaUnreachable)
          }
        }
      }
    }
  }
}
