import CRealtimeMedia

/// A self-signed certificate of ECDSA on P-256 with its private key, which stays inside.
///
/// One may serve any number of connections, one after the other or at once; a new one for each call keeps calls from
/// being linked by it. Making one takes a fraction of a millisecond.
public struct DTLSCertificate: Sendable, CustomStringConvertible, CustomReflectable {
  /// Owns the certificate of the C module, which is never changed and may be used by several threads at once.
  final class Handle: @unchecked Sendable {
    let pointer: OpaquePointer

    init(_ pointer: OpaquePointer) { self.pointer = pointer }

    deinit { crm_certificate_free(self.pointer) }

    func fingerprint(_ function: DTLSHash) -> CertificateFingerprint? {
      var bytes = [UInt8](repeating: 0, count: Int(CRM_HASH_MAX))
      let count = crm_certificate_fingerprint(self.pointer, function.value, &bytes)
      guard count == function.count else { return nil }
      return CertificateFingerprint(function: function.rawValue, bytes: Array(bytes.prefix(count)))
    }
  }

  let handle: Handle

  /// The SHA-256 of the certificate, for the session description.
  public let fingerprint: CertificateFingerprint

  /// Makes a certificate that is valid from a day ago to a year ahead, by the clock of the system.
  ///
  /// - Throws: ``DTLSError/library(_:)`` without memory, or if OpenSSL cannot be used.
  public static func make() throws(DTLSError) -> DTLSCertificate {
    guard let pointer = crm_certificate_create() else { throw .library(nil) }
    let handle = Handle(pointer)
    guard let fingerprint = handle.fingerprint(.sha256) else { throw .library(nil) }
    return DTLSCertificate(handle: handle, fingerprint: fingerprint)
  }

  /// Another fingerprint; ``fingerprint`` is enough for every peer.
  ///
  /// - Throws: ``DTLSError/library(_:)`` without memory.
  public func fingerprint(_ function: DTLSHash) throws(DTLSError) -> CertificateFingerprint {
    guard let fingerprint = self.handle.fingerprint(function) else { throw .library(nil) }
    return fingerprint
  }

  public var description: String { "a certificate for DTLS" }
  public var customMirror: Mirror { Mirror(self, children: ["fingerprint": self.fingerprint]) }
}

/// The hash functions that a certificate may be compared by, by their names in session descriptions; the weakest first.
public enum DTLSHash: String, Hashable, Sendable, CaseIterable {
  case sha256 = "sha-256"
  case sha384 = "sha-384"
  case sha512 = "sha-512"

  /// The bytes of a hash.
  public var count: Int {
    switch self {
    case .sha256: 32
    case .sha384: 48
    case .sha512: 64
    }
  }

  var value: crm_hash {
    switch self {
    case .sha256: CRM_SHA256
    case .sha384: CRM_SHA384
    case .sha512: CRM_SHA512
    }
  }
}
