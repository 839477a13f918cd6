import CallSignaling
import Calls
import Foundation
import Synchronization
import Testing
import VoiceCore
import VoicePlatform
import VoiceServer
import VoiceTesting

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// Cuts, half-open links and path changes in calls between two clients over real sockets and our gateway.
@Suite(.timeLimit(.minutes(10))) struct CallOutageTests {
  static let seed: UInt64 = 20_261_121

  /// 100 outages, or 500 with VOICE_LONG_TESTS=1: as many pairs of clients as there are, each with a seed of its own.
  @Test func noCallIsStuckAfterOutagesOnRealSockets() async throws {
    let isLong = ProcessInfo.processInfo.environment["VOICE_LONG_TESTS"] == "1"
    let (pairs, rounds) = isLong ? (25, 20) : (25, 4)
    let began = MonotonicClock().now
    let (ends, ended) = AsyncStream.makeStream(of: Int.self)
    let tally = try await RunningServer.with(
      engine: MarkerEngine(),
      configure: { configuration in
        configuration.calls.users = (0..<pairs).flatMap { number in
          ["caller\(number)", "callee\(number)"].map { .init(name: $0, password: "a long password") }
        }
        configuration.calls.limits.detachTime = .seconds(6)
        configuration.calls.limits.loginsPerSecond = 10_000
        configuration.calls.limits.connectionsPerAddress = 10_000
      }, observer: VoiceServer.Observer(callEnded: { ended.yield($0) })
    ) { server in
      let port = try await server.server.addresses.http.port
      let tally = try await withThrowingTaskGroup(of: OutageTally.self) { group in
        for number in 0..<pairs {
          group.addTask {
            try await withImpairedLink(to: "127.0.0.1", port: port) { near in
              try await withImpairedLink(to: "127.0.0.1", port: port) { far in
                let run = CallOutageRun(number: number, seed: Self.seed &+ UInt64(number), near, far)
                return try await run.run(rounds: rounds)
              }
            }
          }
        }
        return try await group.reduce(into: OutageTally()) { $0.add($1) }
      }
      // What the clients left behind is gone when the gateway has kept it for its time.
      if try await !Self.isEmpty(port) {
        _ = try await within(.seconds(12)) {
          for await active in ends where active == 0 { if try await Self.isEmpty(port) { break } }
        }
      }
      #expect(try await Self.isEmpty(port), "the gateway keeps calls that nobody has")
      return tally
    }
    let took = began.duration(to: MonotonicClock().now)
    print("\(tally.summary) (seed \(Self.seed), \(took.components.seconds) s)")
    #expect(tally.outages == pairs * rounds)
    #expect(tally.stuck.isEmpty, "\(tally.stuck)")
    #expect(tally.late.isEmpty, "\(tally.late)")
    #expect(tally.untyped.isEmpty, "\(tally.untyped)")
    #expect(tally.doubleEnds.isEmpty, "\(tally.doubleEnds)")
    #expect(tally.kept > tally.outages / 3)
  }

  private static func isEmpty(_ port: Int) async throws -> Bool {
    guard let url = URL(string: "http://127.0.0.1:\(port)/metrics") else { throw URLError(.badURL) }
    let text = String(decoding: try await URLSession.shared.data(from: url).0, as: UTF8.self)
    return text.contains("voice_calls_active 0\n") && text.contains("voice_call_legs 0\n")
  }
}

/// What came out of outages.
struct OutageTally: Sendable {
  var outages = 0
  var kept = 0
  var ended = 0
  var causes: [String: Int] = [:]
  var kinds: [String: Int] = [:]
  var slowestNotice = Duration.zero
  /// Descriptions of what may not be.
  var stuck: [String] = []
  var late: [String] = []
  var untyped: [String] = []
  var doubleEnds: [String] = []

  mutating func add(_ other: OutageTally) {
    self.outages += other.outages
    self.kept += other.kept
    self.ended += other.ended
    self.causes.merge(other.causes, uniquingKeysWith: +)
    self.kinds.merge(other.kinds, uniquingKeysWith: +)
    self.slowestNotice = max(self.slowestNotice, other.slowestNotice)
    self.stuck += other.stuck
    self.late += other.late
    self.untyped += other.untyped
    self.doubleEnds += other.doubleEnds
  }

  var summary: String {
    func list(_ counts: [String: Int]) -> String {
      counts.sorted { ($1.value, $0.key) < ($0.value, $1.key) }.map { "\($0.value) \($0.key)" }
        .joined(separator: ", ")
    }
    return """
      \(self.outages) outages (\(list(self.kinds))): \(self.stuck.count) stuck calls, \(self.kept) times both sides kept \
      theirs, \(self.ended) ends by name (\(list(self.causes))), slowest notice \(self.slowestNotice)
      """
  }
}
