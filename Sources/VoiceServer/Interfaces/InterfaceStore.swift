import Foundation
import VoiceCore
import VoicePlatform

/// Keeps the configurations of apps in the data folder: `interfaces/<app>/<configuration>.tar` (or `.yaml`), byte by byte
/// as they were sent, and `current.json`, which says which one holds.
///
/// What is kept appears whole or not at all: a server that loses power goes on with the old configuration or the new.
/// Operations block for as long as the disk takes.
struct InterfaceStore: Sendable {
  /// A configuration that was deployed.
  struct Record: Codable, Hashable, Sendable {
    var configID: UUID
    var form: InterfaceSource.Form
    /// Seconds since 1970-01-01T00:00:00 UTC.
    var deployedAt: Int64
  }

  /// The largest kept configuration that is read.
  private static let sizeLimit = 1 << 30
  private static let currentName = "current.json"

  private let folder: String

  init(dataFolder: String) {
    self.folder = dataFolder + "/interfaces"
  }

  /// Keeps a configuration and makes it the current one of the app.
  ///
  /// - Throws: ``VoiceFailure`` with `server.data-folder.not-writable` or `server.data-folder.full`; then the old
  ///   configuration is still the current one.
  func keep(_ source: InterfaceSource, _ record: Record, for app: UUID) throws(VoiceFailure) {
    let directory = self.directory(of: app)
    let previous = try? self.current(of: app)
    try directory.write(source.bytes, to: Self.name(of: record))
    do {
      let json = try Self.encoder.encode(record)
      try directory.write(Array(json), to: Self.currentName)
    } catch {
      try? directory.remove(Self.name(of: record))
      throw error as? VoiceFailure ?? VoiceFailure(.unexpected, cause: error)
    }
    // The one before stays, for whoever wants to look at it or go back.
    self.removeAll(of: app, except: [record, previous ?? record])
  }

  /// What was deployed last to an app.
  ///
  /// - Throws: ``VoiceFailure`` with `server.data-folder.invalid` or `server.data-folder.not-writable`.
  func current(of app: UUID) throws(VoiceFailure) -> Record? {
    let directory = self.directory(of: app)
    guard let bytes = try directory.read(Self.currentName) else { return nil }
    do {
      return try JSONDecoder().decode(Record.self, from: Data(bytes))
    } catch {
      throw VoiceFailure(
        .keptStateInvalid,
        message: "The file \(directory.path)/\(Self.currentName) cannot be read. "
          + "Restore it, or remove it and deploy again.",
        cause: error)
    }
  }

  /// The content of a kept configuration.
  ///
  /// - Throws: ``VoiceFailure`` with `server.data-folder.invalid` or `server.data-folder.not-writable`.
  func source(of record: Record, for app: UUID) throws(VoiceFailure) -> InterfaceSource {
    let directory = self.directory(of: app)
    guard let bytes = try directory.read(Self.name(of: record), limit: Self.sizeLimit) else {
      throw VoiceFailure(
        .keptStateInvalid,
        message: "The file \(directory.path)/\(Self.name(of: record)) is gone. "
          + "Restore it, or remove \(Self.currentName) beside it and deploy again.")
    }
    return InterfaceSource(form: record.form, bytes: bytes)
  }

  /// The content of the configuration with an id, or `nil` if it is not kept any more.
  func source(of configID: UUID, for app: UUID) throws(VoiceFailure) -> InterfaceSource? {
    for form in [InterfaceSource.Form.tar, .yaml] {
      let name = Self.name(of: Record(configID: configID, form: form, deployedAt: 0))
      if let bytes = try self.directory(of: app).read(name, limit: Self.sizeLimit) {
        return InterfaceSource(form: form, bytes: bytes)
      }
    }
    return nil
  }

  /// Forgets all configurations of an app.
  func remove(_ app: UUID) {
    try? FileManager.default.removeItem(atPath: self.directory(of: app).path)
  }

  private func removeAll(of app: UUID, except kept: [Record]) {
    let directory = self.directory(of: app)
    let names = Set(kept.map(Self.name(of:)) + [Self.currentName])
    let found = (try? FileManager.default.contentsOfDirectory(atPath: directory.path)) ?? []
    // What cannot be removed takes space and does no other harm.
    for name in found where !names.contains(name) { try? directory.remove(name) }
  }

  private func directory(of app: UUID) -> StateDirectory {
    StateDirectory(path: self.folder + "/" + app.uuidString.lowercased(), codes: .server)
  }

  private static func name(of record: Record) -> String {
    "\(record.configID.uuidString.lowercased()).\(record.form.rawValue)"
  }

  private static var encoder: JSONEncoder {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .prettyPrinted]
    return encoder
  }
}
