import CallMedia
import RealtimeMedia
import Testing
import VoiceTesting

extension MediaInteropTests {
  @Suite(.serialized) struct ChromiumCallTests {
    @Test(arguments: Caller.allCases, Codec.allCases)
    func bothHearEachOther(caller: Caller, codec: Codec) async throws {
      try await RemoteMedia.with(.chromium, ["--codecs", codec.rawValue]) { peer in
        try await OwnMedia.with(codecs: codec.own) { own in
          switch caller {
          case .own: try await peer.called(by: own)
          case .peer: try await peer.calls(own)
          }
          try await own.connected()
          try await peer.hearEachOther(own)
          let report = try await peer.report()
          #expect(report["codec"]?.string == codec.rawValue)
        }
      }
    }

    @Test(arguments: Caller.allCases)
    func candidatesMayComeOneByOne(caller: Caller) async throws {
      var configuration = MediaSession.Configuration()
      configuration.tricklesCandidates = true
      try await RemoteMedia.with(.chromium) { peer in
        try await OwnMedia.with(configuration) { own in
          switch caller {
          case .own:
            let offer = try await own.session.makeOffer()
            let answer = try await peer.answer(Self.withoutCandidates(offer), trickle: true)
            try await own.session.receivedAnswer(Self.withoutCandidates(answer))
          case .peer:
            let offer = try await peer.offer("offer", ["trickle": true])
            let answer = try await own.session.receivedOffer(Self.withoutCandidates(offer))
            try await peer.accept(Self.withoutCandidates(answer))
          }
          try await Trickling(own: own, peer: peer).during { try await peer.hearEachOther(own) }
          // Who was not told of a candidate only sees where checks come from.
          let pair = await own.session.statistics()?.pair
          #expect(pair?.remote.kind == .host)
          let report = try await peer.report()
          #expect(report["pair"]?["remote"]?["kind"]?.string == "host")
        }
      }
    }

    /// A page without a microphone shows names in place of its addresses; its checks show these.
    @Test(arguments: Caller.allCases)
    func aBrowserMayHideItsAddresses(caller: Caller) async throws {
      try await RemoteMedia.with(.chromium, ["--mdns"]) { peer in
        try await OwnMedia.with { own in
          let description: String
          switch caller {
          case .own:
            description = try await peer.answer(try await own.session.makeOffer())
            try await own.session.receivedAnswer(description)
          case .peer:
            description = try await peer.offer()
            try await peer.accept(try await own.session.receivedOffer(description))
          }
          let candidates = try SessionDescription(parsing: description).media.flatMap(\.candidates)
          #expect(!candidates.isEmpty)
          #expect(candidates.allSatisfy { $0.address.isMulticastName }, "\(candidates)")
          try await peer.hearEachOther(own)
        }
      }
    }

    /// A description with neither candidates nor their end, so that all of them have to be told later.
    static func withoutCandidates(_ description: String) -> String {
      let kept = description.split(separator: "\r\n").filter {
        !$0.hasPrefix("a=candidate:") && $0 != "a=end-of-candidates"
      }
      return kept.map { $0 + "\r\n" }.joined()
    }
  }
}
