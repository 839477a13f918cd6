import CallSignaling
import NIOPosix
import Testing
import VoiceCore
import VoiceTesting

@testable import VoiceServer

@Suite struct CallLoginDeskTests {
  private static func desk(
    _ folder: Fixture.Folder, threads: NIOThreadPool, next: (any CallUserDirectory)? = nil
  ) async throws -> CallLoginDesk {
    var generator = SeededGenerator(seed: 1)
    let hash = try PasswordHash(of: "dave-password", cost: .init(logRounds: 10), using: &generator)
    let users = ConfiguredUsers(
      [
        CallUser(name: "alice", password: .plain(Secret("alice-password"))),
        CallUser(name: "dave", password: .hashed(hash)), CallUser(name: "robot", password: .none),
      ], next: next)
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

  private static func code(_ desk: CallLoginDesk, token: String) async -> RPCErrorCode? {
    switch await desk.check(.credentials(.token(Secret(token))), from: "192.0.2.1") {
    case .success: nil
    case .failure(let error): error.code
    }
  }

  @Test func aTokenOfARemovedUserLetsNobodyInAndOneOfTheUserAddedAgainDoes() async throws {
    let folder = try Fixture.Folder()
    let store = try CallStore(dataFolder: folder.path)
    let desk = try await Self.desk(folder, threads: CallLoginDesk.sharedThreads, next: store)
    func token(_ name: String) async throws -> String {
      try await CallHistory.token(for: name, dataFolder: folder.path, lifetime: .seconds(600))
    }
    let history = try CallHistory(dataFolder: folder.path)
    try history.setUser("carol", password: "a long password")
    let (carol, robot, guest) = (try await token("carol"), try await token("robot"), try await token("guest"))
    for token in [carol, robot, guest] { #expect(await Self.code(desk, token: token) == nil) }

    #expect(try history.removeUser("carol"))
    #expect(await Self.code(desk, token: carol) == .authenticationRequired)
    try history.setUser("carol", password: "another password")
    #expect(await Self.code(desk, token: carol) == .authenticationRequired)
    let anew = try await token("carol")
    #expect(await Self.code(desk, token: anew) == nil)

    // A user of the configuration, and one that has nothing but a token.
    for (name, old) in [("robot", robot), ("guest", guest)] {
      try history.revokeTokens(of: name)
      #expect(await Self.code(desk, token: old) == .authenticationRequired)
      let anew = try await token(name)
      #expect(await Self.code(desk, token: anew) == nil)
    }
    withExtendedLifetime(folder) {}
  }

  private struct BrokenDirectory: CallUserDirectory {
    func user(named name: String) async throws(VoiceFailure) -> CallUser? { throw Self.failure }
    func names() async throws(VoiceFailure) -> Set<String> { throw Self.failure }
    func tokenGeneration(of name: String) async throws(VoiceFailure) -> Int { throw Self.failure }
    private static let failure = VoiceFailure(.dataFolderNotWritable, message: "broken")
  }

  /// A client that hears that its token is wrong throws it away.
  @Test func aTokenThatCannotBeCheckedIsNotCalledWrong() async throws {
    let folder = try Fixture.Folder()
    let desk = try await Self.desk(folder, threads: CallLoginDesk.sharedThreads, next: BrokenDirectory())
    let tokens = await TokenAuthority(
      key: try SigningKey.load(folder: folder.path), lifetime: .seconds(600), now: { 0 })
    let token = try await tokens.issueCallToken(for: "carol").text
    #expect(await Self.code(desk, token: token) == .registrationFailed)
    withExtendedLifetime(folder) {}
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
