import CallSignaling
import Foundation
import GRDB
import VoiceCore
import VoicePlatform

/// Keeps the records of calls and the users that commands add.
protocol CallRecordStore: Sendable {
  func append(_ calls: [StoredCall]) async throws(VoiceFailure)
}

/// A call as it is kept; times in milliseconds since 1970-01-01T00:00:00 UTC.
struct StoredCall: Hashable, Sendable, Codable, FetchableRecord, PersistableRecord {
  static let databaseTableName = "call"

  var id: String
  var caller: String
  var callerNumber: String?
  var destination: String
  var callee: String?
  var began: Int64
  var rang: Int64?
  var answered: Int64?
  var ended: Int64
  var cause: String?
  var causeCode: Int?
  var sipCode: Int?
  var sipReason: String?
  var endedBy: String
  var reattachments: Int

  /// Turns a record's instants into times.
  ///
  /// - Parameters:
  ///   - now: The instant that is `wallTime`.
  init(_ record: CallRecord, node: String, now: VoiceInstant, wallTime: Int64) {
    func time(_ instant: VoiceInstant) -> Int64 {
      wallTime - Int64(instant.duration(to: now) / .milliseconds(1))
    }
    self.id = "\(node)-\(record.id)"
    self.caller = record.caller
    self.callerNumber = record.callerNumber.map { $0.cut(to: 128) }
    self.destination = record.destination.cut(to: 128)
    self.callee = record.callee
    self.began = time(record.began)
    self.rang = record.rang.map(time)
    self.answered = record.answered.map(time)
    self.ended = time(record.ended)
    self.cause = record.reason.cause.map { $0.cut(to: 64) }
    self.causeCode = record.reason.causeCode
    self.sipCode = record.reason.sipCode
    self.sipReason = record.reason.sipReason.map { $0.cut(to: 128) }
    self.endedBy = record.endedBy.rawValue
    self.reattachments = record.reattachments
  }
}

extension String {
  /// Its beginning. Not in characters, each of which may have any length.
  fileprivate func cut(to count: Int) -> String {
    String(String.UnicodeScalarView(self.unicodeScalars.prefix(count)))
  }
}

/// The SQLite database `calls.sqlite` of a data folder, with a write-ahead log: readers do not wait for the writer.
struct CallStore: CallRecordStore, CallUserDirectory {
  static let fileName = "calls.sqlite"

  private struct UserRow: Codable, FetchableRecord, PersistableRecord {
    static let databaseTableName = "user"
    var name: String
    var passwordHash: String
  }

  /// Only of names whose tokens were revoked; it outlives the user, whose tokens may be valid for longer.
  private struct TokenRow: Codable, FetchableRecord, PersistableRecord {
    static let databaseTableName = "tokenGeneration"
    var name: String
    var generation: Int
  }

  private let pool: DatabasePool
  private let path: String

  /// Opens the database; makes it, and brings one of an older version up to date.
  ///
  /// - Throws: ``VoiceFailure`` with `server.data-folder.*`.
  init(dataFolder: String) throws(VoiceFailure) {
    self.path = dataFolder + "/" + Self.fileName
    try StateDirectory(path: dataFolder, codes: .server).prepare()
    do {
      // The file holds whom people call: nobody else's business, from the first byte on.
      if !FileManager.default.fileExists(atPath: self.path) {
        // What goes wrong here, opening the database says.
        _ = FileManager.default.createFile(
          atPath: self.path, contents: nil, attributes: [.posixPermissions: 0o600])
      }
      var configuration = Configuration()
      configuration.busyMode = .timeout(5)
      self.pool = try DatabasePool(path: self.path, configuration: configuration)
      try Self.migrator.migrate(self.pool)
    } catch {
      throw Self.failure(error, path: self.path)
    }
  }

  private static var migrator: DatabaseMigrator {
    var migrator = DatabaseMigrator()
    migrator.registerMigration("calls") { database in
      try database.create(table: StoredCall.databaseTableName) { table in
        table.primaryKey("id", .text)
        table.column("caller", .text).notNull()
        table.column("callerNumber", .text)
        table.column("destination", .text).notNull()
        table.column("callee", .text)
        table.column("began", .integer).notNull().indexed()
        table.column("rang", .integer)
        table.column("answered", .integer)
        table.column("ended", .integer).notNull()
        table.column("cause", .text)
        table.column("causeCode", .integer)
        table.column("sipCode", .integer)
        table.column("sipReason", .text)
        table.column("endedBy", .text).notNull()
        table.column("reattachments", .integer).notNull()
      }
      try database.create(table: UserRow.databaseTableName) { table in
        table.primaryKey("name", .text)
        table.column("passwordHash", .text).notNull()
      }
    }
    migrator.registerMigration("token generations") { database in
      try database.create(table: TokenRow.databaseTableName) { table in
        table.primaryKey("name", .text)
        table.column("generation", .integer).notNull()
      }
    }
    return migrator
  }

  func append(_ calls: [StoredCall]) async throws(VoiceFailure) {
    do {
      try await self.pool.write { database in
        for call in calls { try call.insert(database, onConflict: .ignore) }
      }
    } catch {
      throw Self.failure(error, path: self.path)
    }
  }

  /// The latest calls, newest first.
  func calls(limit: Int) throws(VoiceFailure) -> [StoredCall] {
    do {
      return try self.pool.read { database in
        try StoredCall.order(Column("began").desc, Column("id")).limit(limit).fetchAll(database)
      }
    } catch {
      throw Self.failure(error, path: self.path)
    }
  }

  // MARK: - Users

  func user(named name: String) async throws(VoiceFailure) -> CallUser? {
    do {
      let row = try await self.pool.read { database in try UserRow.fetchOne(database, key: name) }
      return row.map { row in
        CallUser(name: row.name, password: PasswordHash(row.passwordHash).map { .hashed($0) } ?? .none)
      }
    } catch {
      throw Self.failure(error, path: self.path)
    }
  }

  func names() async throws(VoiceFailure) -> Set<String> {
    do {
      return Set(
        try await self.pool.read { database in
          try String.fetchAll(database, sql: "SELECT name FROM user")
        })
    } catch {
      throw Self.failure(error, path: self.path)
    }
  }

  /// Adds a user, or gives one another password.
  func setUser(_ name: String, _ hash: PasswordHash) throws(VoiceFailure) {
    do {
      try self.pool.write { database in
        try UserRow(name: name, passwordHash: hash.text).save(database)
      }
    } catch {
      throw Self.failure(error, path: self.path)
    }
  }

  /// Removes a user, and revokes its tokens.
  ///
  /// - Returns: Whether there was one.
  func removeUser(_ name: String) throws(VoiceFailure) -> Bool {
    do {
      return try self.pool.write { database in
        guard try UserRow.deleteOne(database, key: name) else { return false }
        try Self.revokeTokens(of: name, in: database)
        return true
      }
    } catch {
      throw Self.failure(error, path: self.path)
    }
  }

  // MARK: - Tokens

  func tokenGeneration(of name: String) async throws(VoiceFailure) -> Int {
    do {
      return try await self.pool.read { database in
        try TokenRow.fetchOne(database, key: name)?.generation ?? 0
      }
    } catch {
      throw Self.failure(error, path: self.path)
    }
  }

  /// Makes all tokens of a name worthless that were issued so far.
  func revokeTokens(of name: String) throws(VoiceFailure) {
    do {
      try self.pool.write { database in try Self.revokeTokens(of: name, in: database) }
    } catch {
      throw Self.failure(error, path: self.path)
    }
  }

  private static func revokeTokens(of name: String, in database: Database) throws {
    var row = try TokenRow.fetchOne(database, key: name) ?? TokenRow(name: name, generation: 0)
    row.generation &+= 1
    try row.save(database)
  }

  static func failure(_ error: any Error, path: String) -> VoiceFailure {
    if let failure = error as? VoiceFailure { return failure }
    switch (error as? DatabaseError)?.resultCode {
    case .SQLITE_FULL:
      return VoiceFailure(
        .dataFolderFull, message: "The disk of \(path) is full. Free some space, or name another folder.",
        cause: error)
    case .SQLITE_CORRUPT, .SQLITE_NOTADB:
      return VoiceFailure(
        .keptStateInvalid,
        message: "The file \(path) is not a database of calls. Restore it, or remove it.", cause: error)
    default:
      return VoiceFailure(
        .dataFolderNotWritable,
        message:
          "The file \(path) cannot be used. Give the server's user the right to write it and its folder.",
        cause: error)
    }
  }
}
