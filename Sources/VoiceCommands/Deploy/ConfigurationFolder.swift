import Foundation
import SpeechUnderstanding
import VoiceCore
import VoiceServer

/// The files of an app's configuration in a folder of this machine.
struct ConfigurationFolder {
  let path: String

  /// The files that belong to the configuration, in the order of their names: those at the top of the folder that end in
  /// `.yaml`, `.sal` or `.csv`, or the one file that the path names.
  func files() throws(VoiceFailure) -> [ConfigurationFile] {
    var isFolder: ObjCBool = false
    guard FileManager.default.fileExists(atPath: self.path, isDirectory: &isFolder) else {
      throw VoiceFailure(.configurationNotFound, message: "There is no configuration at \(self.path).")
    }
    do {
      guard isFolder.boolValue else {
        return [try Self.file(named: URL(fileURLWithPath: self.path).lastPathComponent, at: self.path)]
      }
      return try self.names().map { try Self.file(named: $0, at: self.path + "/" + $0) }
    } catch {
      throw VoiceFailure(
        .configurationInvalid,
        message: "The configuration at \(self.path) cannot be read. Check that its files may be read.",
        cause: error)
    }
  }

  /// Where the files are, as far as there are any.
  var paths: [String] {
    var isFolder: ObjCBool = false
    guard FileManager.default.fileExists(atPath: self.path, isDirectory: &isFolder) else { return [] }
    return isFolder.boolValue ? ((try? self.names()) ?? []).map { self.path + "/" + $0 } : [self.path]
  }

  private func names() throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: self.path).sorted()
      .filter { TarArchive.isWanted($0) && !$0.lowercased().hasSuffix(".yml") }
  }

  private static func file(named name: String, at path: String) throws -> ConfigurationFile {
    ConfigurationFile(name: name, bytes: Array(try Data(contentsOf: URL(fileURLWithPath: path))))
  }

  /// Writes the files of a configuration into the folder, which is made if it is missing.
  ///
  /// - Throws: ``VoiceFailure`` with `client.usage` if one of the files is already there; then nothing is written.
  func write(_ files: [ConfigurationFile]) throws(VoiceFailure) {
    for file in files where FileManager.default.fileExists(atPath: self.path + "/" + file.name) {
      throw VoiceFailure(
        .usage,
        message:
          "The file \(file.name) is already in \(self.path), and nothing is overwritten. Name an empty folder."
      )
    }
    do {
      try FileManager.default.createDirectory(atPath: self.path, withIntermediateDirectories: true)
      for file in files {
        try Data(file.bytes).write(
          to: URL(fileURLWithPath: self.path + "/" + file.name), options: .withoutOverwriting)
      }
    } catch {
      throw VoiceFailure(
        .dataFolderNotWritable,
        message: "The folder \(self.path) cannot be written. Name one that this user may write.", cause: error
      )
    }
  }
}
