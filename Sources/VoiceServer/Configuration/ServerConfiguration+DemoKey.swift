import Foundation
import VoiceCore
import VoicePlatform

extension ServerConfiguration {
  /// The file in the data folder that holds the API key of a server without configured projects.
  public static let demoKeyName = "api-key"

  /// The configuration that a server without any configured key works with: the demo project has a key of its own, which is
  /// made once and kept in the data folder, readable by the server's user alone.
  ///
  /// - Throws: ``VoiceFailure`` with `server.data-folder.not-writable`, `server.data-folder.full` or
  ///   `server.data-folder.invalid`.
  func withDemoKey(using generator: inout some RandomNumberGenerator) throws(VoiceFailure)
    -> ServerConfiguration
  {
    guard self.projects.isEmpty, self.apps.contains(where: { $0.project == App.demo.project }) else {
      return self
    }
    let folder = StateDirectory(path: self.dataFolder, codes: .server)
    if try folder.read(Self.demoKeyName) == nil {
      let key = (0..<4).map { _ in String(UInt64.random(in: 0 ... .max, using: &generator), radix: 36) }
        .joined()
      try folder.write(Array((key + "\n").utf8), to: Self.demoKeyName)
    }
    // Another server may have been faster; what is in the folder now is the key of both.
    let bytes = try folder.read(Self.demoKeyName) ?? []
    let key = String(decoding: bytes, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
    guard key.utf8.count >= Rules.keyLength, key.utf8.allSatisfy({ (33...126).contains($0) }) else {
      throw VoiceFailure(
        .keptStateInvalid,
        message: "The file \(folder.path)/\(Self.demoKeyName) does not hold an API key. "
          + "Restore it, or remove it to get a new key.")
    }
    var copy = self
    copy.projects = [Project(id: App.demo.project, apiKeys: [key])]
    return copy
  }
}
