import CallSignaling
public import Foundation
public import VoiceCore

/// What a server keeps about calls in its data folder: records of calls, and users that commands added.
///
/// May be used while the server runs.
public struct CallHistory: Sendable {
  /// A call that has ended.
  public struct Entry: Hashable, Sendable {
    /// The id, the server's name first.
    public let id: String
    /// The user who called.
    public let caller: String
    /// The destination as the caller wrote it.
    public let destination: String
    /// The user or service that was rung.
    public let callee: String?
    /// When the invite came.
    public let began: Date
    /// When it was answered.
    public let answered: Date?
    /// When it ended.
    public let ended: Date
    /// The name of the cause of its end.
    public let cause: String?
    /// The number of the cause.
    public let causeCode: Int?
    /// The SIP status of the cause.
    public let sipCode: Int?
    /// `caller`, `callee` or `gateway`.
    public let endedBy: String
  }

  private let store: CallStore

  /// Opens what a server keeps, and makes it if there is nothing yet.
  ///
  /// - Throws: ``VoiceFailure`` with `server.data-folder.not-writable`, `server.data-folder.full` or
  ///   `server.data-folder.invalid`.
  public init(dataFolder: String) throws(VoiceFailure) {
    self.store = try CallStore(dataFolder: dataFolder)
  }

  /// The latest calls, newest first.
  public func calls(limit: Int) throws(VoiceFailure) -> [Entry] {
    func date(_ milliseconds: Int64) -> Date { Date(timeIntervalSince1970: Double(milliseconds) / 1000) }
    return try self.store.calls(limit: limit).map { call in
      Entry(
        id: call.id, caller: call.caller, destination: call.destination, callee: call.callee,
        began: date(call.began), answered: call.answered.map(date), ended: date(call.ended),
        cause: call.cause,
        causeCode: call.causeCode, sipCode: call.sipCode, endedBy: call.endedBy)
    }
  }

  /// The names of the users that commands added.
  public func userNames() async throws(VoiceFailure) -> [String] { try await self.store.names().sorted() }

  /// Adds a user, or gives one another password.
  ///
  /// - Throws: ``VoiceFailure`` with `client.usage` for a name or a password that cannot be, else as ``init(dataFolder:)``.
  public func setUser(_ name: String, password: String) throws(VoiceFailure) {
    guard CallUser.isName(name) else {
      throw VoiceFailure(
        .usage,
        message: "A user's name has up to 64 letters, digits, . _ + and -, and is not that of a service.")
    }
    var generator = SystemRandomNumberGenerator()
    try self.store.setUser(name, try Self.hash(password, using: &generator))
  }

  /// Makes all tokens of a user worthless that were issued so far, whoever added it.
  ///
  /// - Throws: ``VoiceFailure`` with `client.usage` for a name that cannot be, else as ``init(dataFolder:)``.
  public func revokeTokens(of name: String) throws(VoiceFailure) {
    guard CallUser.isName(name) else {
      throw VoiceFailure(.usage, message: "There can be no user of this name.")
    }
    try self.store.revokeTokens(of: name)
  }

  /// Removes a user that a command added, and revokes its tokens.
  ///
  /// - Returns: Whether there was one.
  public func removeUser(_ name: String) throws(VoiceFailure) -> Bool { try self.store.removeUser(name) }

  /// A password as `password_hash` in a configuration takes it.
  ///
  /// - Throws: ``VoiceFailure`` with `client.usage` if it is too short.
  public static func passwordHash(of password: String) throws(VoiceFailure) -> String {
    var generator = SystemRandomNumberGenerator()
    return try self.hash(password, using: &generator).text
  }

  private static func hash(
    _ password: String, using generator: inout some RandomNumberGenerator
  ) throws(VoiceFailure) -> PasswordHash {
    let least = ServerConfiguration.Calls.Rules.passwordLength
    guard password.utf8.count >= least else {
      throw VoiceFailure(.usage, message: "A password has at least \(least) characters.")
    }
    return try PasswordHash(of: Secret(password), using: &generator)
  }

  /// Issues a token (`login_token`) that lets a user in at the servers of a data folder.
  ///
  /// - Parameter lifetime: How long it is valid.
  public static func token(
    for user: String, dataFolder: String, lifetime: Duration
  ) async throws(VoiceFailure) -> String {
    guard CallUser.isName(user) else {
      throw VoiceFailure(.usage, message: "There can be no user of this name.")
    }
    var generator = SystemRandomNumberGenerator()
    let (key, _) = try SigningKey.load(folder: dataFolder, using: &generator)
    let authority = await TokenAuthority(
      key: key, lifetime: lifetime, now: { Int64(Date().timeIntervalSince1970) })
    let generation = try await CallStore(dataFolder: dataFolder).tokenGeneration(of: user)
    return try await authority.issueCallToken(for: user, generation: generation).text
  }
}
