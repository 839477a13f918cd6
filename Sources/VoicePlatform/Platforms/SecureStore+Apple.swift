#if canImport(Security)
  import Foundation
  import Security
  import VoiceCore

  enum PlatformSecureStore {
    static func standard(report: @escaping @Sendable (VoiceFailure) -> Void) -> any SecureStore {
      KeychainStore(report: report)
    }
  }

  /// Secrets as generic passwords of the keychain, available after the first unlock and on this device only.
  actor KeychainStore: SecureStore {
    private let report: @Sendable (VoiceFailure) -> Void

    init(report: @escaping @Sendable (VoiceFailure) -> Void) {
      self.report = report
    }

    func string(forKey key: String) async throws(VoiceFailure) -> String? {
      var query = Self.query(key)
      query[kSecReturnData] = true
      var item: CFTypeRef?
      let status = SecItemCopyMatching(query as CFDictionary, &item)
      if status == errSecItemNotFound { return nil }
      try Self.check(status)
      guard let data = item as? Data, let value = String(data: data, encoding: .utf8) else {
        self.report(
          VoiceFailure(
            .tokenNotStored, message: "A stored value in the keychain is damaged and was treated as missing.",
            recovery: Recovery.none))
        return nil
      }
      return value
    }

    func set(_ value: String, forKey key: String) async throws(VoiceFailure) {
      let content: [CFString: Any] = [
        kSecValueData: Data(value.utf8),
        kSecAttrAccessible: kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly,
      ]
      let status = SecItemUpdate(Self.query(key) as CFDictionary, content as CFDictionary)
      guard status == errSecItemNotFound else { return try Self.check(status) }
      let item = Self.query(key).merging(content) { _, new in new }
      try Self.check(SecItemAdd(item as CFDictionary, nil))
    }

    func removeValue(forKey key: String) async throws(VoiceFailure) {
      let status = SecItemDelete(Self.query(key) as CFDictionary)
      if status != errSecItemNotFound { try Self.check(status) }
    }

    private static func query(_ key: String) -> [CFString: Any] {
      [kSecClass: kSecClassGenericPassword, kSecAttrService: "swift-voice", kSecAttrAccount: key]
    }

    private static func check(_ status: OSStatus) throws(VoiceFailure) {
      guard status != errSecSuccess else { return }
      throw VoiceFailure(
        .tokenNotStored, message: "The keychain cannot be used.",
        cause: NSError(domain: NSOSStatusErrorDomain, code: Int(status)))
    }
  }
#endif
