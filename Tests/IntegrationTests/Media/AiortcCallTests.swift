import CallMedia
import RealtimeMedia
import Testing
import VoiceTesting

extension MediaInteropTests {
  @Suite(.serialized) struct AiortcCallTests {
    @Test(arguments: Caller.allCases, Codec.allCases)
    func bothHearEachOther(caller: Caller, codec: Codec) async throws {
      try await RemoteMedia.with(.aiortc, ["--codecs", codec.rawValue]) { peer in
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

    @Test func ourSideHoldsAndResumes() async throws {
      try await RemoteMedia.with(.aiortc) { peer in
        try await OwnMedia.with { own in
          try await peer.called(by: own)
          try await peer.hearEachOther(own)
          try await peer.called(by: own, .sendOnly)
          async let far: Void = peer.hears(440)
          async let near: Void = own.hearsNothing()
          _ = try await (far, near)
          try await peer.called(by: own, .sendAndReceive)
          try await peer.hearEachOther(own)
        }
      }
    }

    @Test func thePeerHoldsAndResumes() async throws {
      try await RemoteMedia.with(.aiortc) { peer in
        try await OwnMedia.with { own in
          try await peer.calls(own)
          try await peer.hearEachOther(own)
          try await peer.calls(own, "hold")
          async let far: Void = peer.hears(0)
          async let near: Void = own.hears(700)
          _ = try await (far, near)
          try await peer.calls(own, "resume")
          try await peer.hearEachOther(own)
        }
      }
    }

    @Test func tellsThatThePeerClosed() async throws {
      try await RemoteMedia.with(.aiortc) { peer in
        try await OwnMedia.with { own in
          try await peer.called(by: own)
          try await peer.hearEachOther(own)
          try await peer.ask("close", for: "closed")
          try await own.first(within: .seconds(5), "remoteClosed") { event -> Bool? in
            if case .remoteClosed = event { true } else { nil }
          }
        }
      }
    }
  }
}
