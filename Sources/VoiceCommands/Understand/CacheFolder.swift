/// Where the command line keeps what it can make again.
enum CacheFolder {
  /// `$XDG_CACHE_HOME/swift-voice`, else `~/.cache/swift-voice`; `nil` if there is no home either.
  ///
  /// See the "XDG Base Directory Specification"; relative paths are ignored, as it says.
  static func path(environment: [String: String]) -> String? {
    if let cache = environment["XDG_CACHE_HOME"], cache.hasPrefix("/") { return cache + "/swift-voice" }
    guard let home = environment["HOME"], home.hasPrefix("/") else { return nil }
    return home + "/.cache/swift-voice"
  }
}
