import Synchronization
public import VoiceCore

/// A store that forgets everything with the process: for tests, and where nothing may be kept.
public final class MemorySecureStore: SecureStore {
  private let values: Mutex<[String: String]>

  /// Creates a store.
  public init(_ values: [String: String] = [:]) {
    self.values = Mutex(values)
  }

  public func string(forKey key: String) async throws(VoiceFailure) -> String? {
    self.values.withLock { $0[key] }
  }

  public func set(_ value: String, forKey key: String) async throws(VoiceFailure) {
    self.values.withLock { $0[key] = value }
  }

  public func removeValue(forKey key: String) async throws(VoiceFailure) {
    self.values.withLock { _ = $0.removeValue(forKey: key) }
  }
}
