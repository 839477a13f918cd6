import CallMedia
import RealtimeMedia
import Testing
import VoiceCore
import VoiceTesting

extension MediaInteropTests {
  /// A browser in the middle of a call: hold, a new way, keys.
  @Suite(.serialized) struct ChromiumChangeTests {
    @Test func ourSideHoldsAndResumes() async throws {
      try await RemoteMedia.with(.chromium) { peer in
        try await OwnMedia.with { own in
          try await peer.called(by: own)
          try await peer.hearEachOther(own)
          try await peer.called(by: own, .sendOnly)
          async let hold: Void = peer.hears(440)
          async let held: Void = own.hearsNothing()
          _ = try await (hold, held)
          try await peer.called(by: own, .inactive)
          async let far: Void = peer.hears(0)
          async let near: Void = own.hearsNothing()
          _ = try await (far, near)
          try await peer.called(by: own, .sendAndReceive)
          try await peer.hearEachOther(own)
        }
      }
    }

    @Test func theBrowserHoldsAndResumes() async throws {
      try await RemoteMedia.with(.chromium) { peer in
        try await OwnMedia.with { own in
          try await peer.called(by: own)
          try await peer.hearEachOther(own)
          try await peer.calls(own, "hold")
          async let hold: Void = own.hears(700)
          async let held: Void = peer.hears(0)
          _ = try await (hold, held)
          try await peer.calls(own, "hold", ["direction": "inactive"])
          async let far: Void = peer.hears(0)
          async let near: Void = own.hearsNothing()
          _ = try await (far, near)
          try await peer.calls(own, "resume")
          try await peer.hearEachOther(own)
        }
      }
    }

    @Test(arguments: Caller.allCases, Caller.allCases)
    func aRestartFindsANewWay(caller: Caller, restarting: Caller) async throws {
      try await RemoteMedia.with(.chromium) { peer in
        try await OwnMedia.with { own in
          switch caller {
          case .own: try await peer.called(by: own)
          case .peer: try await peer.calls(own)
          }
          try await peer.hearEachOther(own)
          let before = try await peer.report()["pairs"]?.int ?? 0
          switch restarting {
          case .own: try await peer.called(by: own, restartingICE: true)
          case .peer: try await peer.calls(own, "restart")
          }
          let change = try await Deadline.within(.seconds(30)) {
            try await peer.peer.event("pair") { $0["count"]?.int ?? 0 > before }
          }
          try #require(change != nil, "the browser kept the old way")
          try await peer.hearEachOther(own)
          let wasInterrupted = own.events.contains { if case .interrupted = $0 { true } else { false } }
          #expect(!wasInterrupted)
        }
      }
    }

    @Test(arguments: Codec.allCases)
    func theBrowserHearsOurKeys(codec: Codec) async throws {
      try await RemoteMedia.with(.chromium, ["--codecs", codec.rawValue]) { peer in
        try await OwnMedia.with(codecs: codec.own) { own in
          try await peer.called(by: own)
          try await peer.hearEachOther(own)
          #expect(await own.session.press("5#0"))
          for key in ["5", "#", "0"] {
            let heard = try await Deadline.within(.seconds(20)) {
              try await peer.peer.event("key") { $0["key"]?.string == key }
            }
            #expect(heard != nil, "the browser did not hear \(key)")
          }
          try await peer.hearEachOther(own)
        }
      }
    }

    @Test(arguments: Codec.allCases)
    func ourSideTellsTheBrowsersKeys(codec: Codec) async throws {
      try await RemoteMedia.with(.chromium, ["--codecs", codec.rawValue]) { peer in
        try await OwnMedia.with(codecs: codec.own) { own in
          try await peer.calls(own)
          try await peer.hearEachOther(own)
          try await peer.ask("keys", ["keys": "12#*0"], for: "keys-sent")
          try await own.first("the last key") { event -> Bool? in
            if case .keyPressed("0") = event { true } else { nil }
          }
          let keys = own.events.compactMap { if case .keyPressed(let key) = $0 { key } else { nil } }
          #expect(String(keys) == "12#*0")
          try await peer.hearEachOther(own)
        }
      }
    }

    /// The way stays good, and nothing but the missing packets says that nobody can be heard.
    @Test func aBrowserThatSendsNothingIsTold() async throws {
      try await RemoteMedia.with(.chromium) { peer in
        try await OwnMedia.with { own in
          try await peer.called(by: own)
          try await peer.hearEachOther(own)
          _ = try await peer.ask("speak", ["on": false], for: "speaking")
          try await own.first("the missing media") { event -> Bool? in
            if case .warned(let failure) = event, failure.code == .callMediaSilent { true } else { nil }
          }
          _ = try await peer.ask("speak", ["on": true], for: "speaking")
          try await peer.hearEachOther(own)
          let wasInterrupted = own.events.contains { if case .interrupted = $0 { true } else { false } }
          #expect(!wasInterrupted)
        }
      }
    }

    @Test func keysAreRefusedWhereTheyWereNotAgreedOn() async throws {
      try await RemoteMedia.with(.chromium, ["--no-keys"]) { peer in
        try await OwnMedia.with { own in
          try await peer.called(by: own)
          try await own.connected()
          #expect(await own.session.press("1") == false)
        }
      }
    }
  }
}
