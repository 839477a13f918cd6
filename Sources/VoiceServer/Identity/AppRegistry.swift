import Foundation
import GRPCCore
import Synchronization
import VoiceCore
import VoicePlatform

/// The apps of a server as they are now: those of its configuration, and those that were made through the API, which the
/// data folder keeps (`apps.json`).
final class AppRegistry: Sendable {
  /// An app that was made through the API.
  struct Record: Codable, Hashable, Sendable {
    var id: UUID
    var name: String
    var project: UUID
    var language: String
    var tags: [String]

    var app: ServerConfiguration.App {
      ServerConfiguration.App(id: self.id, name: self.name, project: self.project, language: self.language)
    }
  }

  private struct State: Sendable {
    var directory: AppDirectory
    var records: [UUID: Record]
  }

  /// The most apps that can be made through the API.
  static let limit = 1000

  private static let fileName = "apps.json"

  private let state: Mutex<State>
  private let folder: StateDirectory

  /// Reads what the data folder keeps.
  ///
  /// - Throws: ``VoiceFailure`` with `server.data-folder.invalid` or `server.data-folder.not-writable`.
  init(_ configuration: ServerConfiguration) throws(VoiceFailure) {
    self.folder = StateDirectory(path: configuration.dataFolder, codes: .server)
    var directory = AppDirectory(configuration)
    var records: [UUID: Record] = [:]
    for record in try Self.read(self.folder) {
      directory.put(record.app)
      records[record.id] = record
    }
    self.state = Mutex(State(directory: directory, records: records))
  }

  /// The apps as they are now.
  var directory: AppDirectory { self.state.withLock { $0.directory } }

  /// The tags of an app.
  func tags(of app: UUID) -> [String] { self.state.withLock { $0.records[app]?.tags ?? [] } }

  /// Adds an app, or changes one.
  ///
  /// Blocks for as long as the disk takes.
  ///
  /// - Throws: ``Refusal`` if the app is one of the configuration, if there are too many, or if it cannot be kept; then
  ///   nothing has changed.
  func put(_ record: Record) throws(Refusal) {
    try self.change(record.id) { records throws(Refusal) in
      guard records[record.id] != nil || records.count < Self.limit else {
        throw Refusal(
          .serverOverloaded, "The server has \(Self.limit) apps, its limit. Delete one that nobody uses.",
          status: .resourceExhausted)
      }
      records[record.id] = record
    }
  }

  /// Removes an app.
  ///
  /// Blocks for as long as the disk takes.
  ///
  /// - Throws: ``Refusal`` as ``put(_:)``.
  func remove(_ app: UUID) throws(Refusal) {
    try self.change(app) { records throws(Refusal) in records[app] = nil }
  }

  // The file is written within the lock, so that it never falls behind what is in memory; changes are rare.
  private func change(
    _ id: UUID, _ body: (inout [UUID: Record]) throws(Refusal) -> Void
  ) throws(Refusal) {
    try self.state.withLock { state throws(Refusal) in
      guard !state.directory.isConfigured(id) else { throw Refusal(VoiceFailure(.appReadOnly)) }
      var records = state.records
      try body(&records)
      do {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .prettyPrinted]
        let sorted = records.values.sorted { $0.id.uuidString < $1.id.uuidString }
        try self.folder.write(Array(try encoder.encode(sorted)), to: Self.fileName)
      } catch {
        throw Refusal(error as? VoiceFailure ?? VoiceFailure(.unexpected, cause: error))
      }
      state.records = records
      if let record = records[id] {
        state.directory.put(record.app)
      } else {
        state.directory.remove(id)
      }
    }
  }

  private static func read(_ folder: StateDirectory) throws(VoiceFailure) -> [Record] {
    guard let bytes = try folder.read(self.fileName) else { return [] }
    do {
      return try JSONDecoder().decode([Record].self, from: Data(bytes))
    } catch {
      throw VoiceFailure(
        .keptStateInvalid,
        message: "The file \(folder.path)/\(self.fileName) cannot be read. "
          + "Restore it, or remove it and make its apps again.",
        cause: error)
    }
  }
}
