import Foundation

/// A folder that is removed with its last reference.
final class TemporaryFolder: Sendable {
  let path: String

  init() throws {
    self.path = NSTemporaryDirectory() + "voice-" + UUID().uuidString.prefix(13)
    try FileManager.default.createDirectory(atPath: self.path, withIntermediateDirectories: true)
  }

  deinit {
    try? FileManager.default.removeItem(atPath: self.path)
  }

  /// The names of all files in a folder within.
  func names(in folder: String) -> [String] {
    (try? FileManager.default.contentsOfDirectory(atPath: self.path + "/" + folder).sorted()) ?? []
  }
}
