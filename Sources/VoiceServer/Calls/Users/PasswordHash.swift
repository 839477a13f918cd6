import CallSignaling
import Crypto
import CryptoExtras
import Foundation
import VoiceCore

/// A password as it may be kept: scrypt (RFC 7914) with its salt and cost, in the PHC string format.
///
/// `$scrypt$ln=14,r=8,p=5$<salt>$<hash>`, both in base 64 without padding. The cost is one of those that OWASP's "Password
/// Storage Cheat Sheet" calls equal: 16 MiB of memory.
struct PasswordHash: Hashable, Sendable {
  /// How much work a hash is.
  struct Cost: Hashable, Sendable {
    /// The binary logarithm of the number of rounds.
    var logRounds = 14
    var blockSize = 8
    var parallelism = 5

    /// Costs that this server computes: a kept hash must not be able to take all memory.
    var isReasonable: Bool {
      (1...20).contains(self.logRounds) && (1...32).contains(self.blockSize)
        && (1...16).contains(self.parallelism)
        && self.logRounds + self.blockSize.bitWidth - self.blockSize.leadingZeroBitCount <= 24
    }
  }

  let cost: Cost
  let salt: [UInt8]
  let hash: [UInt8]

  /// Hashes a new password.
  init(
    of password: Secret, cost: Cost = Cost(), using generator: inout some RandomNumberGenerator
  ) throws(VoiceFailure) {
    let salt = (0..<16).map { _ in UInt8.random(in: 0...255, using: &generator) }
    self.cost = cost
    self.salt = salt
    self.hash = try Self.derive(password, salt: salt, cost: cost)
  }

  /// The hash of no password, to be compared with where there is none to compare with.
  init(ofNothing cost: Cost = Cost(), using generator: inout some RandomNumberGenerator) {
    self.cost = cost
    self.salt = (0..<16).map { _ in UInt8.random(in: 0...255, using: &generator) }
    self.hash = (0..<32).map { _ in UInt8.random(in: 0...255, using: &generator) }
  }

  /// Reads a hash as ``text`` writes it.
  init?(_ text: String) {
    let parts = text.split(separator: "$", omittingEmptySubsequences: false)
    guard parts.count == 5, parts[0].isEmpty, parts[1] == "scrypt" else { return nil }
    var cost = Cost()
    for field in parts[2].split(separator: ",") {
      let pair = field.split(separator: "=")
      guard pair.count == 2, let value = Int(pair[1]) else { return nil }
      switch pair[0] {
      case "ln": cost.logRounds = value
      case "r": cost.blockSize = value
      case "p": cost.parallelism = value
      default: return nil
      }
    }
    guard cost.isReasonable, let salt = Self.decode(parts[3]), let hash = Self.decode(parts[4]),
      (8...64).contains(salt.count), hash.count == 32
    else { return nil }
    self.cost = cost
    self.salt = salt
    self.hash = hash
  }

  /// The hash as it is kept.
  var text: String {
    "$scrypt$ln=\(self.cost.logRounds),r=\(self.cost.blockSize),p=\(self.cost.parallelism)"
      + "$\(Self.encode(self.salt))$\(Self.encode(self.hash))"
  }

  /// Whether this is the hash of a password; takes as long for a wrong one as for the right one.
  func matches(_ password: Secret) -> Bool {
    guard let hash = try? Self.derive(password, salt: self.salt, cost: self.cost) else { return false }
    return ConstantTime.equal(hash, self.hash)
  }

  static func derive(
    _ password: Secret, salt: [UInt8], cost: Cost
  ) throws(VoiceFailure) -> [UInt8] {
    do {
      let key = try KDF.Scrypt.deriveKey(
        from: Array(password.value.utf8), salt: salt, outputByteCount: 32, rounds: 1 << cost.logRounds,
        blockSize: cost.blockSize, parallelism: cost.parallelism)
      return key.withUnsafeBytes { Array($0) }
    } catch {
      throw VoiceFailure(.unexpected, message: "The password could not be hashed.", cause: error)
    }
  }

  private static func encode(_ bytes: [UInt8]) -> String {
    Data(bytes).base64EncodedString().replacingOccurrences(of: "=", with: "")
  }

  private static func decode(_ text: Substring) -> [UInt8]? {
    let padding = String(repeating: "=", count: (4 - text.utf8.count % 4) % 4)
    return Data(base64Encoded: text + padding).map { Array($0) }
  }
}

extension PasswordHash: CustomStringConvertible {
  var description: String { "a password hash" }
}

/// Comparisons that take as long for a difference at the start as for one at the end.
enum ConstantTime {
  static func equal(_ left: [UInt8], _ right: [UInt8]) -> Bool {
    guard left.count == right.count else { return false }
    return zip(left, right).reduce(UInt8(0)) { $0 | ($1.0 ^ $1.1) } == 0
  }

  /// Compares secrets of any length by their digests, so that the length does not show either.
  static func equal(_ left: Secret, _ right: Secret) -> Bool {
    Self.equal(Self.digest(left), Self.digest(right))
  }

  static func digest(_ secret: Secret) -> [UInt8] { Array(SHA256.hash(data: Array(secret.value.utf8))) }
}
