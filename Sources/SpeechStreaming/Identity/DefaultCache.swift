import VoicePlatform

enum DefaultCache {
  static let standard: any CacheProtocol = UserDefaultsCache()
}
