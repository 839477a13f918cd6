import Foundation

/// Paths as people type them.
enum Paths {
  /// The path from the root; a relative one counts from the current folder.
  static func absolute(_ path: String) -> String {
    URL(fileURLWithPath: path).standardizedFileURL.path
  }

  /// The path with the home folder written as `~`, for people.
  static func abbreviated(_ path: String, environment: [String: String]) -> String {
    guard let home = environment["HOME"], home.count > 1, path.hasPrefix(home + "/") else { return path }
    return "~" + path.dropFirst(home.count)
  }
}
