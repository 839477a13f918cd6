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
            try await own.session.receivedAnswer(try await peer.answer(offer, trickle: true))
            try await Trickling(own: own, peer: peer).during { try await peer.hearEachOther(own) }
          case .peer:
            let answer = try await own.session.receivedOffer(
              try await peer.offer("offer", ["trickle": true]))
            try await peer.accept(answer)
            try await Trickling(own: own, peer: peer).during { try await peer.hearEachOther(own) }
          }
        }
      }
    }

    /// A page without a microphone shows names in place of its addresses; its checks show these.
    @Test(arguments: Caller.allCases)
    func aBrowserMayHideItsAddresses(caller: Caller) async throws {
      try await RemoteMedia.with(.chromium, ["--mdns"]) { peer in
        try await OwnMedia.with { own in
          switch caller {
          case .own: try await peer.called(by: own)
          case .peer: try await peer.calls(own)
          }
          try await peer.hearEachOther(own)
        }
      }
    }
  }
}
