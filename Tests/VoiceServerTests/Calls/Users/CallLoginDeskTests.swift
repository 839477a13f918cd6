import CallSignaling
import NIOPosix
import Testing
import VoiceCore
import VoiceTesting

@testable import VoiceServer

@Suite struct CallLoginDeskTests {
  private static func desk(_ folder: Fixture.Folder, threads: NIOThreadPool) async throws -> CallLoginDesk {
    var generator = SeededGenerator(seed: 1)
    let hash = try PasswordHash(of: "dave-password", cost: .init(logRounds: 10), using: &generator)
    let users = ConfiguredUsers(
      [
        CallUser(name: "alice", password: .plain(Secret("alice-password"))),
        CallUser(name: "dave", password: .hashed(hash)), CallUser(name: "robot", password: .none),
      ], next: nil)
    return CallLoginDesk(
      users: users, opaqueTokens: [:], allowsGuests: false, loginsPerSecond: 1000,
      tokens: await TokenAuthority(
        key: try SigningKey.load(folder: folder.path), lifetime: .seconds(600), now: { 0 }),
      threads: threads, decoyCost: .init(logRounds: 10), clock: TestClock(),
      metrics: CallMetrics(factory: PrometheusRegistry()),
      logger: CapturingLog().logger)
  }

  private static func code(
    _ desk: CallLoginDesk, _ name: String, _ password: String
  ) async -> RPCErrorCode? {
    switch await desk.check(
      .credentials(.password(user: name, password: Secret(password))), from: "192.0.2.1")
    {
    case .success: nil
    case .failure(let error): error.code
    }
  }

  @Test func letsInWhoHasThePassword() async throws {
    let folder = try Fixture.Folder()
    let desk = try await Self.desk(folder, threads: CallLoginDesk.sharedThreads)
    #expect(await Self.code(desk, "alice", "alice-password") == nil)
    #expect(await Self.code(desk, "dave", "dave-password") == nil)
    for name in ["alice", "dave", "robot", "nobody"] {
      #expect(await Self.code(desk, name, "wrong") == .authenticationFailed)
    }
    withExtendedLifetime(folder) {}
  }

  /// A user whose password is kept as it is was refused at once, and a name that does not exist after a hash: names could be
  /// told from the time. Without the threads that hash, nobody is refused otherwise than the others.
  @Test func hashesBeforeEveryRefusal() async throws {
    let folder = try Fixture.Folder()
    let threads = NIOThreadPool(numberOfThreads: 1)
    threads.start()
    try await threads.shutdownGracefully()
    let desk = try await Self.desk(folder, threads: threads)
    for name in ["alice", "dave", "robot", "nobody"] {
      #expect(await Self.code(desk, name, "wrong") == .registrationTimedOut)
    }
    withExtendedLifetime(folder) {}
  }
}
