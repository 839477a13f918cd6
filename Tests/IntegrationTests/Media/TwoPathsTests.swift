import CallMedia
import Foundation
import RealtimeMedia
import Testing
import VoiceCore
import VoiceTesting

extension MediaInteropTests {
  /// Two machines with two ways between them, of which the one in use breaks in the middle of a call.
  @Suite(.serialized, .enabled(if: geteuid() == 0, "network namespaces need root"), .timeLimit(.minutes(20)))
  struct TwoPathsTests {
    enum Manner: String, Sendable, CaseIterable {
      case silence, link, address
    }

    private static var isLong: Bool { ProcessInfo.processInfo.environment["VOICE_LONG_TESTS"] == "1" }

    @Test func audioReturnsOverTheOtherWay() async throws {
      try await withPeerProcess("Tests/Peers/netns_paths.py") { paths in
        let ready = try await paths.event("ready")
        let near = try await NetworkNamespace.engine(in: ready["a"]?.string ?? "")
        let far = try await NetworkNamespace.engine(in: ready["b"]?.string ?? "")
        var gaps: [Duration] = []
        let runs = Self.isLong ? 50 : 4
        for run in 0..<runs {
          let manner = Manner.allCases[run % Manner.allCases.count]
          let pair = try await Self.call(near, far, paths, manner, run: run)
          gaps.append(contentsOf: pair)
        }
        gaps.sort()
        let middle = try #require(gaps.dropFirst(gaps.count / 2).first)
        let late = try #require(gaps.dropFirst(gaps.count * 95 / 100).first)
        let worst = try #require(gaps.last)
        print("The way in use broke \(runs) times: silence p50 \(middle), p95 \(late), at most \(worst)")
        // A few runs beside other tests say that audio returns; how soon is for many by themselves.
        if Self.isLong { #expect(late <= .seconds(1)) }
        #expect(worst < .seconds(5))
      }
    }

    /// One call of which the way breaks; how long both sides were silent.
    private static func call(
      _ near: MediaEngine, _ far: MediaEngine, _ paths: PeerProcess, _ manner: Manner, run: Int
    ) async throws -> [Duration] {
      try await OwnMedia.with(engine: near) { own in
        try await OwnMedia.with(engine: far, tone: 700) { other in
          try await own.calls(other)
          try await own.hears(700)
          try await other.hears(440)
          try await Self.bothWaysAreKnown(own)
          let path = try #require(await Self.path(of: own))
          async let here = SilenceMeter.gap(of: own.session.audio)
          async let there = SilenceMeter.gap(of: other.session.audio)
          let side = run.isMultiple(of: 2) ? "a" : "b"
          paths.send(
            #"{"do":"down","id":\#(run),"path":\#(path),"manner":"\#(manner.rawValue)","side":"\#(side)"}"#)
          _ = try await paths.event("down") { $0["id"]?.int == run }
          let gaps = try await [here, there]
          let moved = await Self.path(of: own)
          paths.send(#"{"do":"up","id":\#(run),"path":\#(path)}"#)
          _ = try await paths.event("up") { $0["id"]?.int == run }
          #expect(moved != path)
          print("\(manner), side \(side): silent for \(gaps.map { $0.map { "\($0)" } ?? "ever" })")
          return try gaps.map { try #require($0, "audio did not come back after \(manner)") }
        }
      }
    }

    /// The number of the path in use: the third of the address 10.77.n.1.
    private static func path(of own: OwnMedia) async -> Int? {
      guard let pair = await own.session.statistics()?.pair, case .ip(let ip) = pair.local.address else {
        return nil
      }
      let parts = ip.description.split(separator: ".")
      return parts.count == 4 ? Int(parts[2]) : nil
    }

    /// Waits until the other way was checked as well, as it is in any call of more than a moment.
    private static func bothWaysAreKnown(_ own: OwnMedia) async throws {
      for await _ in own.session.audio.frames {
        if let ice = await own.session.statistics()?.ice, ice.answersReceived >= 4 { return }
      }
    }
  }
}
