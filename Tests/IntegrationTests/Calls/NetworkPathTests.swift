import Foundation
import Testing
import VoiceCore

@testable import VoiceTesting

/// The operating system's own path changes, in network namespaces: real links go down in a call of the program `voice`.
@Suite(
  .enabled(if: TwoPaths.isPossible, "network namespaces need root and iproute2"), .timeLimit(.minutes(2)))
struct NetworkPathTests {
  /// What the program said of its call, one state after the other.
  private struct CallStates {
    private let process: PeerProcess
    private var events: PeerProcess.Events.Iterator
    private(set) var failures: [String] = []

    init(_ process: PeerProcess) {
      self.process = process
      self.events = process.events.makeAsyncIterator()
    }

    /// Waits for a state; the failures on the way are kept.
    mutating func wait(for state: String) async throws {
      while let event = await self.events.next() {
        if let code = event["code"]?.string { self.failures.append(code) }
        if event.name == "call", event["state"]?.string == state { return }
        try #require(
          event.name != "call" || event["state"]?.string != "DONE",
          "the call ended while \(state) was waited for: \(event.line)")
      }
      throw VoiceFailure(
        .unexpected, message: "The program ended before \(state): \(self.process.errorOutput)")
    }
  }

  @Test func aCallMovesToAnotherPathWhenItsOwnGoesAway() async throws {
    try await TwoPaths.with { paths in
      try await withTemporaryFolder { folder in
        try await paths.voice(
          in: paths.far,
          [
            "serve", "--json", "--host", "0.0.0.0", "--http-port", "7080", "--data", folder.path,
          ]
        ) { server in
          let ready = try await server.event("ready")
          guard case .array(let users)? = ready["users"], case .object(let user)? = users.first,
            let password = user["password"]?.string
          else { throw VoiceFailure(.unexpected, message: ready.line) }
          try await paths.voice(
            in: paths.near,
            [
              "call", "echo", "--json", "--user", "alice", "--server",
              "ws://\(TwoPaths.farAddress):7080/calls",
            ], environment: ["VOICE_PASSWORD": password]
          ) { try await Self.play($0, on: paths) }
        }
      }
    }
  }

  private static func play(_ program: PeerProcess, on paths: TwoPaths) async throws {
    var call = CallStates(program)
    let clock = MonotonicClock()
    try await call.wait(for: "ACTIVE")

    // From one link to the other, and noticed by the system's message, not by the silence of 3.5 s.
    var before = clock.now
    try await paths.takeDown(.wifi)
    try await call.wait(for: "RECONNECTING")
    #expect(before.duration(to: clock.now) < .seconds(3))
    try await call.wait(for: "ACTIVE")

    // A better link again.
    try await paths.bringUp(.wifi)
    try await call.wait(for: "RECONNECTING")
    try await call.wait(for: "ACTIVE")

    // None at all, and one again.
    for link in TwoPaths.Link.allCases { try await paths.takeDown(link) }
    try await call.wait(for: "DROPPED")
    before = clock.now
    try await paths.bringUp(.cell)
    try await call.wait(for: "ACTIVE")
    #expect(before.duration(to: clock.now) < .seconds(8))

    #expect(!call.failures.contains("call.connection.silent"), "\(call.failures)")
    program.interrupt()
    let end = try await program.event("call") { $0["state"]?.string == "DONE" }
    #expect(end["cause"]?.string == "NORMAL_CLEARING")
  }
}
