import CRealtimeMedia

/// How packets are encrypted and authenticated (RFC 5764 section 4.1.2, RFC 7714 section 14.2).
public enum SRTPProfile: Hashable, Sendable, CaseIterable {
  /// AES-128 in Galois/counter mode.
  case aeadAES128GCM
  /// AES-256 in Galois/counter mode.
  case aeadAES256GCM
  /// AES-128 in counter mode with 80 bits of HMAC-SHA1.
  case aes128CMSHA1_80

  /// All, the most wanted one first.
  public static let preferred: [SRTPProfile] = [.aeadAES128GCM, .aeadAES256GCM, .aes128CMSHA1_80]

  /// The bytes of a master key.
  public var keyCount: Int {
    switch self {
    case .aeadAES128GCM, .aes128CMSHA1_80: 16
    case .aeadAES256GCM: 32
    }
  }

  /// The bytes of a master salt.
  public var saltCount: Int {
    switch self {
    case .aeadAES128GCM, .aeadAES256GCM: 12
    case .aes128CMSHA1_80: 14
    }
  }

  /// The bytes that a packet of RTP grows by.
  public var tagCount: Int {
    switch self {
    case .aeadAES128GCM, .aeadAES256GCM: 16
    case .aes128CMSHA1_80: 10
    }
  }

  var value: crm_profile {
    switch self {
    case .aeadAES128GCM: CRM_PROFILE_AEAD_AES_128_GCM
    case .aeadAES256GCM: CRM_PROFILE_AEAD_AES_256_GCM
    case .aes128CMSHA1_80: CRM_PROFILE_AES128_CM_SHA1_80
    }
  }

  init?(_ value: crm_profile) {
    guard let profile = Self.allCases.first(where: { $0.value == value }) else { return nil }
    self = profile
  }
}

/// A master key with its salt. The memory is overwritten when the last copy goes away.
public struct SRTPMasterKey: Sendable, CustomStringConvertible, CustomReflectable {
  /// Owns the bytes, which are written by the initialiser only.
  private final class Storage: @unchecked Sendable {
    let bytes: UnsafeMutableRawBufferPointer

    init(_ count: Int) { self.bytes = .allocate(byteCount: count, alignment: 1) }

    deinit {
      if let start = self.bytes.baseAddress { crm_wipe(start, self.bytes.count) }
      self.bytes.deallocate()
    }
  }

  private let storage: Storage

  /// Takes a key and its salt, in one piece.
  init(_ bytes: some Collection<UInt8>) {
    self.storage = Storage(bytes.count)
    self.storage.bytes.copyBytes(from: bytes)
  }

  /// Takes a key and its salt. The arrays given are the caller's to forget.
  public init(key: [UInt8], salt: [UInt8]) {
    self.storage = Storage(key.count + salt.count)
    self.storage.bytes.copyBytes(from: key)
    UnsafeMutableRawBufferPointer(rebasing: self.storage.bytes[key.count...]).copyBytes(from: salt)
  }

  var count: Int { self.storage.bytes.count }

  /// Lends the key with the salt behind it.
  func withUnsafeBytes<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
    body(UnsafeRawBufferPointer(self.storage.bytes))
  }

  public var description: String { "a master key of \(self.count) bytes" }
  public var customMirror: Mirror { Mirror(self, children: [:]) }
}

/// What two peers encrypt with: the outcome of a handshake.
public struct SRTPKeys: Sendable, CustomStringConvertible, CustomReflectable {
  /// How.
  public let profile: SRTPProfile
  /// The key for what this side sends.
  public let local: SRTPMasterKey
  /// The key for what the other side sends.
  public let remote: SRTPMasterKey

  /// Takes keys.
  ///
  /// - Throws: ``SRTPError/wrongKeyLength`` if one does not fit the profile.
  public init(profile: SRTPProfile, local: SRTPMasterKey, remote: SRTPMasterKey) throws(SRTPError) {
    let count = profile.keyCount + profile.saltCount
    guard local.count == count, remote.count == count else { throw .wrongKeyLength }
    self.profile = profile
    self.local = local
    self.remote = remote
  }

  public var description: String { "keys for \(self.profile)" }
  public var customMirror: Mirror { Mirror(self, children: ["profile": self.profile]) }
}
