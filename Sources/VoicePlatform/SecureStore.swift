public import VoiceCore

/// Keeps small secrets, such as tokens, from one launch to the next.
public protocol SecureStore: Sendable {
  /// The value of a key, or `nil` if there is none.
  ///
  /// - Throws: ``VoiceFailure`` if the store cannot be read.
  func string(forKey key: String) async throws(VoiceFailure) -> String?

  /// Stores a value in place of an earlier one: wholly, or not at all.
  ///
  /// - Throws: ``VoiceFailure`` if the store cannot be written.
  func set(_ value: String, forKey key: String) async throws(VoiceFailure)

  /// Removes a value; does nothing if there is none.
  ///
  /// - Throws: ``VoiceFailure`` if the store cannot be written.
  func removeValue(forKey key: String) async throws(VoiceFailure)
}

/// The store that the operating system offers: the keychain on Apple platforms, files that only the user may read
/// elsewhere.
public enum SystemSecureStore {
  /// The store of this user.
  ///
  /// - Parameter report: Is told of values that were found damaged and are treated as missing; called on any
  ///   thread.
  public static func standard(
    report: @escaping @Sendable (VoiceFailure) -> Void = { _ in }
  ) -> any SecureStore {
    PlatformSecureStore.standard(report: report)
  }
}
