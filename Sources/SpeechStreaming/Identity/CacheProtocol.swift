public import Foundation

/// A place for small strings that survives a restart. (Source: protocol §1.7.)
///
/// Called from several threads at once.
public protocol CacheProtocol: Sendable {
  /// Stores a value.
  func setValue(_ value: String, forKey key: String)

  /// The stored value, or `nil`.
  func getValue(forKey key: String) -> String?
}

/// A cache in user defaults. On Linux and for tokens prefer the default cache of ``SpeechClient``, a file that only the
/// user can read.
public final class UserDefaultsCache: CacheProtocol {
  private let storage: Storage

  /// Uses the standard user defaults.
  public convenience init() {
    self.init(storage: UserDefaults.standard)
  }

  /// Uses the given user defaults.
  public init(storage: UserDefaults) {
    self.storage = Storage(storage)
  }

  public func setValue(_ value: String, forKey key: String) {
    self.storage.defaults.set(value, forKey: "swift-voice." + key)
  }

  public func getValue(forKey key: String) -> String? {
    self.storage.defaults.string(forKey: "swift-voice." + key)
  }

  // @unchecked: `UserDefaults` is thread-safe (Foundation documents it, and locks inside), which its declaration does not say
  // on all platforms; the reference to it never changes.
  private final class Storage: @unchecked Sendable {
    let defaults: UserDefaults
    init(_ defaults: UserDefaults) { self.defaults = defaults }
  }
}
