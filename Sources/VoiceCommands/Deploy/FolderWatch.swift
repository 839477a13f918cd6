import Foundation
import VoiceCore

/// Notices that the files of a configuration have changed.
///
/// It looks at their sizes and dates twice a second: that works on every file system, those of containers and networks included.
struct FolderWatch: Sendable {
  /// What tells one state of the files from another.
  struct Stamp: Hashable, Sendable {
    fileprivate struct File: Hashable {
      var size: Int
      var modified: Date
    }

    fileprivate var files: [String: File] = [:]
  }

  let folder: ConfigurationFolder
  let clock: any VoiceClock

  static let interval = Duration.milliseconds(500)

  /// The present state; empty while there are no files.
  func stamp() -> Stamp {
    var stamp = Stamp()
    for path in self.folder.paths {
      guard let attributes = try? FileManager.default.attributesOfItem(atPath: path) else { continue }
      stamp.files[path] = Stamp.File(
        size: (attributes[.size] as? Int) ?? 0,
        modified: (attributes[.modificationDate] as? Date) ?? .distantPast)
    }
    return stamp
  }

  /// Waits until the files differ from what they were, and nobody is writing them.
  ///
  /// - Throws: `CancellationError`.
  func change(from old: Stamp) async throws -> Stamp {
    var last = old
    while true {
      try await self.clock.sleep(until: self.clock.now.advanced(by: Self.interval), tolerance: nil)
      let present = self.stamp()
      // An editor writes a file in several steps; half of it is no configuration.
      if present == last, present != old { return present }
      last = present
    }
  }
}
