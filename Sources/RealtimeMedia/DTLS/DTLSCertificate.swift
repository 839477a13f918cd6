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
    var bytes = [UInt8](repeating: 0, count: 32)
    crm_certificate_fingerprint(pointer, &bytes)
    return DTLSCertificate(
      handle: handle, fingerprint: CertificateFingerprint(function: "sha-256", bytes: bytes))
  }

  public var description: String { "a certificate for DTLS" }
  public var customMirror: Mirror { Mirror(self, children: ["fingerprint": self.fingerprint]) }
}
