public import Foundation
import VoiceCore

/// Runs a body with an empty folder of its own, and removes the folder with all it holds at the end, also after an error.
///
/// - Parameters:
///   - name: The beginning of the folder's name.
///   - isolation: The actor on which the body runs, by default that of the caller.
///   - body: Uses the folder.
/// - Throws: What the body throws; ``VoiceFailure`` `server.data-folder.not-writable` if there can be no folder.
public func withTemporaryFolder<Result>(
  named name: String = "voice-test",
  isolation: isolated (any Actor)? = #isolation,
  _ body: (URL) async throws -> Result
) async throws -> Result {
  let folder = try TemporaryFolder.make(named: name)
  defer { TemporaryFolder.remove(folder) }
  return try await body(folder)
}

enum TemporaryFolder {
  static func make(named name: String) throws -> URL {
    let folder = FileManager.default.temporaryDirectory
      .appending(path: "\(name)-\(UUID().uuidString.lowercased())", directoryHint: .isDirectory)
    do {
      try FileManager.default.createDirectory(
        at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    } catch {
      throw VoiceFailure(
        .dataFolderNotWritable, message: "No temporary folder can be made at \(folder.path).", cause: error)
    }
    return folder
  }

  /// A test may have taken the right to write from a folder in it; that must not leave it behind.
  static func remove(_ folder: URL) {
    let manager = FileManager.default
    guard (try? manager.removeItem(at: folder)) == nil else { return }
    let contents = manager.enumerator(at: folder, includingPropertiesForKeys: nil)
    try? manager.setAttributes([.posixPermissions: 0o700], ofItemAtPath: folder.path)
    while let item = contents?.nextObject() as? URL {
      try? manager.setAttributes([.posixPermissions: 0o700], ofItemAtPath: item.path)
    }
    try? manager.removeItem(at: folder)
  }
}
