public import VoiceCore

/// Secrets in files of mode 0600 in a folder of mode 0700, one for each key.
///
/// A value is replaced as a whole. A file that does not hold what was written to it is treated as missing, and
/// reported; it is overwritten by the next ``set(_:forKey:)``. Several processes may use one folder.
public actor FileSecureStore: SecureStore {
  // A token has a few kilobytes.
  private static let longestValue = 1_048_576
  private static let header = Array("swift-voice 1 ".utf8)

  private let directory: StateDirectory
  private let report: @Sendable (VoiceFailure) -> Void

  /// Creates a store; touches no disk.
  ///
  /// - Parameters:
  ///   - directory: Where the files are; by default this user's state folder.
  ///   - report: Is told of damaged values; called on any thread.
  public init(
    directory: StateDirectory = StateDirectory(path: StateDirectory.standardPath(), codes: .client),
    report: @escaping @Sendable (VoiceFailure) -> Void = { _ in }
  ) {
    self.directory = directory
    self.report = report
  }

  public func string(forKey key: String) async throws(VoiceFailure) -> String? {
    let name = try Self.fileName(forKey: key)
    guard let bytes = try self.directory.read(name, limit: Self.longestValue + 256) else { return nil }
    guard let value = Self.value(in: bytes) else {
      self.report(
        VoiceFailure(
          self.directory.codes.notWritable,
          message: "A stored value in “\(self.directory.path)” is damaged and was treated as missing.",
          recovery: Recovery.none))
      return nil
    }
    return value
  }

  public func set(_ value: String, forKey key: String) async throws(VoiceFailure) {
    guard value.utf8.count <= Self.longestValue else {
      throw VoiceFailure(.usage, message: "A stored value has at most \(Self.longestValue) bytes.")
    }
    try self.directory.write(Self.content(of: value), to: Self.fileName(forKey: key))
  }

  public func removeValue(forKey key: String) async throws(VoiceFailure) {
    try self.directory.remove(Self.fileName(forKey: key))
  }

  /// The name of a key's file: letters, digits, hyphens and dots as they are, other bytes as `%` and two digits.
  static func fileName(forKey key: String) throws(VoiceFailure) -> String {
    var name = "store-"
    for byte in key.utf8 {
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."):
        name.unicodeScalars.append(Unicode.Scalar(byte))
      default:
        name += "%" + String(Int(byte) + 256, radix: 16).dropFirst()
      }
    }
    guard !key.isEmpty, name.utf8.count <= 255 else {
      throw VoiceFailure(.usage, message: "A key of a store has 1 to about 200 bytes.")
    }
    return name
  }

  /// A line with the length and a check sum, then the value: damage shows, whatever made it.
  private static func content(of value: String) -> [UInt8] {
    let bytes = Array(value.utf8)
    return self.header + Array("\(bytes.count) \(checkSum(bytes))\n".utf8) + bytes
  }

  private static func value(in content: [UInt8]) -> String? {
    guard content.starts(with: self.header), let end = content.firstIndex(of: UInt8(ascii: "\n")) else {
      return nil
    }
    let value = Array(content[(end + 1)...])
    let expected = self.content(of: String(decoding: value, as: UTF8.self))
    // Bytes that are not UTF-8 come back as others, so that this comparison finds them too.
    return expected == content ? String(decoding: value, as: UTF8.self) : nil
  }

  /// FNV-1a with 64 bits (draft-eastlake-fnv): against damage, not against an attacker, who could read the secret
  /// anyway.
  private static func checkSum(_ bytes: [UInt8]) -> String {
    let sum = bytes.reduce(0xCBF2_9CE4_8422_2325 as UInt64) { ($0 ^ UInt64($1)) &* 0x0000_0100_0000_01B3 }
    return String(sum, radix: 16)
  }
}
