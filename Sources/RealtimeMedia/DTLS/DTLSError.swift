public import VoiceCore

/// Why there is no DTLS connection, or no longer one.
public enum DTLSError: Error, Hashable, Sendable, CustomStringConvertible {
  /// Nothing of the other side's description can be compared with its certificate: sha-256, sha-384 or sha-512 is needed.
  case noFingerprint
  /// The other side's certificate is another one than its description says: somebody may be in between.
  case wrongFingerprint
  /// A message was sent as often as may be, and no answer came.
  case timedOut
  /// The other side gave up.
  case alert(DTLSAlert)
  /// The other side knows no profile of SRTP that is offered, or does not do SRTP.
  case noCommonProfile
  /// The other side broke the protocol; with what OpenSSL says of it.
  case protocolViolated(String?)
  /// There was no memory, or OpenSSL failed; with what it says.
  case library(String?)

  public var description: String {
    switch self {
    case .noFingerprint: "There is no fingerprint to compare the other side's certificate with."
    case .wrongFingerprint: "The other side's certificate is not the announced one."
    case .timedOut: "The other side does not answer the handshake of DTLS."
    case .alert(let alert): "The other side ended the handshake of DTLS: \(alert)."
    case .noCommonProfile: "There is no SRTP profile that both sides know."
    case .protocolViolated(let reason): "The other side broke the protocol of DTLS" + Self.suffix(reason)
    case .library(let reason): "OpenSSL failed" + Self.suffix(reason)
    }
  }

  private static func suffix(_ reason: String?) -> String { reason.map { ": \($0)." } ?? "." }

  /// The failure of the call: `call.media.insecure`, with this error as its cause.
  public var failure: VoiceFailure {
    VoiceFailure(.callMediaInsecure, message: "The call could not be secured: \(self)", cause: self)
  }
}

/// A fatal alert (RFC 5246 section 7.2).
public struct DTLSAlert: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
  /// The number on the wire.
  public var rawValue: UInt8

  public init(rawValue: UInt8) { self.rawValue = rawValue }

  /// What was received has no place there.
  public static let unexpectedMessage = Self(rawValue: 10)
  /// There are no parameters that both sides accept.
  public static let handshakeFailure = Self(rawValue: 40)
  /// The certificate is not the announced one (RFC 8122 section 6.2), or is corrupt.
  public static let badCertificate = Self(rawValue: 42)
  /// The certificate is of a kind that the other side does not know.
  public static let unsupportedCertificate = Self(rawValue: 43)
  /// The certificate is not acceptable for another reason.
  public static let certificateUnknown = Self(rawValue: 46)
  /// A field was out of range.
  public static let illegalParameter = Self(rawValue: 47)
  /// The version of the protocol is not supported.
  public static let protocolVersion = Self(rawValue: 70)
  /// The other side failed by itself.
  public static let internalError = Self(rawValue: 80)

  private static let names: [UInt8: String] = [
    10: "unexpected_message", 20: "bad_record_mac", 22: "record_overflow", 40: "handshake_failure",
    42: "bad_certificate", 43: "unsupported_certificate", 44: "certificate_revoked",
    45: "certificate_expired",
    46: "certificate_unknown", 47: "illegal_parameter", 48: "unknown_ca", 49: "access_denied",
    50: "decode_error", 51: "decrypt_error", 70: "protocol_version", 71: "insufficient_security",
    80: "internal_error", 86: "inappropriate_fallback", 109: "missing_extension",
    110: "unsupported_extension", 112: "unrecognized_name", 116: "certificate_required",
  ]

  /// The name in the RFCs, or the number.
  public var description: String { Self.names[self.rawValue] ?? "alert \(self.rawValue)" }
}
