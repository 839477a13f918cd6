import CallSignaling
import Logging
import NIOPosix
import Synchronization
import VoiceCore

/// Checks the logins of calls: passwords, tokens, guests.
///
/// Passwords are hashed on a few threads of their own with a bounded queue, so that a flood of logins neither stops calls nor
/// fills the memory. A refusal takes as long for every name, whether it exists or not and however its password is kept, so
/// that nobody finds out names by the time of the answer.
final class CallLoginDesk: Sendable {
  private let users: any CallUserDirectory
  private let tokens: TokenAuthority
  /// Users by the digest of a token that a configuration gives them.
  private let opaqueTokens: [[UInt8]: String]
  private let allowsGuests: Bool
  private let limiter: Mutex<LoginLimiter>
  private let waiting = Mutex(0)
  private let threads: NIOThreadPool
  private let decoy: PasswordHash
  private let clock: any VoiceClock
  private let metrics: CallMetrics
  private let logger: Logger
  private static let queueLimit = 64

  /// Threads that hash passwords and do nothing else, for all gateways of the process.
  static let sharedThreads: NIOThreadPool = {
    let threads = NIOThreadPool(numberOfThreads: 2)
    threads.start()
    return threads
  }()

  init(
    users: any CallUserDirectory, opaqueTokens: [Secret: String], allowsGuests: Bool, loginsPerSecond: Int,
    tokens: TokenAuthority, threads: NIOThreadPool, decoyCost: PasswordHash.Cost = .init(),
    clock: any VoiceClock, metrics: CallMetrics, logger: Logger
  ) {
    self.users = users
    self.tokens = tokens
    self.opaqueTokens = Dictionary(
      opaqueTokens.map { (ConstantTime.digest($0.key), $0.value) }, uniquingKeysWith: { first, _ in first })
    self.allowsGuests = allowsGuests
    self.limiter = Mutex(LoginLimiter(perSecond: loginsPerSecond))
    self.threads = threads
    var generator = SystemRandomNumberGenerator()
    self.decoy = PasswordHash(ofNothing: decoyCost, using: &generator)
    self.clock = clock
    self.metrics = metrics
    self.logger = logger
  }

  /// Checks a login.
  ///
  /// - Parameter address: Where the socket comes from, for the limit.
  func check(
    _ attempt: SessionMachine.LoginAttempt, from address: String
  ) async -> Result<SessionMachine.Identity, RPCError> {
    let result = await self.decide(attempt, from: address)
    switch result {
    case .success: self.metrics.loginSucceeded()
    case .failure(let error):
      self.metrics.loginRefused()
      self.logger.info(
        "call login refused", metadata: ["reason": "\(error.message)", "peer": "\(address)"])
    }
    return result
  }

  // The documented codes (telnyx.md section 1.2): -32001 for a password, -32000 for a token.
  private static let wrong = RPCError(code: .authenticationFailed, message: "Authentication Failure")
  private static let wrongToken = RPCError(code: .authenticationRequired, message: "Authentication Failure")

  private func decide(
    _ attempt: SessionMachine.LoginAttempt, from address: String
  ) async -> Result<SessionMachine.Identity, RPCError> {
    let now = self.clock.now
    if let wait = self.limiter.withLock({ $0.login(from: address, at: now) }) {
      let seconds = max(1, Int(wait.components.seconds) + 1)
      return .failure(
        RPCError(
          code: .registrationFailed, message: "Too many logins from this address",
          extra: ["retry_after": .integer(seconds)]))
    }
    switch attempt {
    case .anonymous:
      return self.allowsGuests
        ? .success(.init(user: "anonymous", isAnonymous: true))
        : .failure(RPCError(code: .authenticationFailed, message: "Anonymous login is not allowed"))
    case .credentials(.token(let token)):
      if let user = self.opaqueTokens[ConstantTime.digest(token)] { return .success(.init(user: user)) }
      return await self.checkToken(token)
    case .credentials(.password(let name, let password)):
      return await self.checkPassword(name, password)
    }
  }

  private func checkToken(_ text: Secret) async -> Result<SessionMachine.Identity, RPCError> {
    guard let token = try? await self.tokens.verifyCallToken(text.value) else {
      return .failure(Self.wrongToken)
    }
    do {
      let generation = try await self.users.tokenGeneration(of: token.user)
      return token.generation == generation
        ? .success(.init(user: token.user)) : .failure(Self.wrongToken)
    } catch {
      return .failure(self.unavailable(error))
    }
  }

  /// Nobody is told that a login is wrong that could not be checked.
  private func unavailable(_ failure: VoiceFailure) -> RPCError {
    self.logger.error("users cannot be looked up", metadata: ["code": "\(failure.code)"])
    return RPCError(code: .registrationFailed, message: "Gateway registration failed")
  }

  private func checkPassword(
    _ name: String, _ password: Secret
  ) async -> Result<SessionMachine.Identity, RPCError> {
    // Verto clients log in with a domain (telnyx.md section 7); there is one domain here.
    let name = name.firstIndex(of: "@").map { String(name[..<$0]) } ?? name
    let busy = RPCError(code: .registrationTimedOut, message: "Gateway registration timeout")
    let user: CallUser?
    do {
      user = try await self.users.user(named: name)
    } catch {
      return .failure(self.unavailable(error))
    }
    switch user?.password {
    case .plain(let secret):
      if ConstantTime.equal(secret, password) { return .success(.init(user: name)) }
      // Hashed for the time alone that it takes.
      guard await self.matches(password, self.decoy) != nil else { return .failure(busy) }
      return .failure(Self.wrong)
    case .hashed(let hash):
      guard let matches = await self.matches(password, hash) else { return .failure(busy) }
      return matches ? .success(.init(user: name)) : .failure(Self.wrong)
    case .some(.none), nil:
      guard await self.matches(password, self.decoy) != nil else { return .failure(busy) }
      return .failure(Self.wrong)
    }
  }

  /// Compares on a thread of its own; `nil` if too many wait already.
  private func matches(_ password: Secret, _ hash: PasswordHash) async -> Bool? {
    let hasRoom = self.waiting.withLock { count in
      guard count < Self.queueLimit else { return false }
      count += 1
      return true
    }
    guard hasRoom else { return nil }
    defer { self.waiting.withLock { $0 -= 1 } }
    return try? await self.threads.runIfActive { hash.matches(password) }
  }
}
