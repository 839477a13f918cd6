package import Foundation

/// Additions to the file actions of `posix_spawn`.
package enum SpawnActions {
  /// Closes, in the child, all descriptors from 3 on.
  ///
  /// A listening socket of this process that a child inherits goes on listening after it was closed here: clients connect to it,
  /// and nobody ever answers them.
  package static func closeInheritedDescriptors(_ actions: inout posix_spawn_file_actions_t) {
    // Closing a number that is not in use does no harm, so those that other threads open meanwhile are covered too.
    let highest = Self.openDescriptors.max() ?? 1024
    for descriptor in 3...highest + 256 { posix_spawn_file_actions_addclose(&actions, descriptor) }
  }

  private static var openDescriptors: [Int32] {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: "/dev/fd")) ?? []
    return names.compactMap { Int32($0) }
  }
}
