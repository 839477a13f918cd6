import CRealtimeMedia

/// DTLS 1.2 with keys for SRTP (RFC 6347, RFC 5763, RFC 5764), by OpenSSL.
///
/// It does no I/O: datagrams come in by ``received(_:)`` and go out by ``poll()``. It is for one thread at a time.
///
/// The other side's certificate is compared with its fingerprints while the handshake runs, so that there are no keys
/// for a wrong one, and the other side gets the alert `bad_certificate`. Of several fingerprints those of the strongest
/// hash function count, and one of them must be right (RFC 8122 section 5); SHA-1 and weaker ones do not count.
///
/// Timers are those of OpenSSL, which reads the clock of the system: a flight without an answer is sent again after
/// `firstTimeout`, then after twice as long, up to `longestTimeout`. OpenSSL takes what is due within 15 ms for due at
/// once. After 12 repetitions of a flight the next timeout ends the handshake with ``DTLSError/timedOut``: with the
/// default values some 9 s after the last sign of life.
public final class DTLSConnection: DTLSHandshaking {
  private let pointer: OpaquePointer
  private var wasEstablished = false
  private var hasEnded: Bool

  /// Makes a connection.
  ///
  /// - Parameters:
  ///   - certificate: the own certificate, whose fingerprint the other side knows.
  ///   - role: who begins, as negotiated.
  ///   - remoteFingerprints: what the other side's certificate must be.
  ///   - profiles: the profiles of SRTP to agree on, the most wanted one first.
  ///   - firstTimeout: how long to wait before a flight is sent again for the first time.
  ///   - longestTimeout: how long to wait at most.
  /// - Throws: ``DTLSError/noFingerprint``, ``DTLSError/noCommonProfile`` without profiles, or
  ///   ``DTLSError/library(_:)`` without memory.
  public init(
    certificate: DTLSCertificate, role: NegotiatedAudio.DTLSRole,
    remoteFingerprints: [CertificateFingerprint],
    profiles: [SRTPProfile] = SRTPProfile.preferred, firstTimeout: Duration = .milliseconds(100),
    longestTimeout: Duration = .milliseconds(800)
  ) throws(DTLSError) {
    let fingerprints = Self.strongest(remoteFingerprints)
    guard !fingerprints.isEmpty else { throw .noFingerprint }
    guard !profiles.isEmpty else { throw .noCommonProfile }
    let values = profiles.map(\.value)
    guard
      let pointer = crm_dtls_create(
        certificate.handle.pointer, role == .client, values, values.count, firstTimeout.microseconds,
        longestTimeout.microseconds)
    else { throw .library(nil) }
    for (function, bytes) in fingerprints where !crm_dtls_accept(pointer, function, bytes, bytes.count) {
      crm_dtls_free(pointer)
      throw .library(nil)
    }
    self.pointer = pointer
    self.hasEnded = false
  }

  deinit { crm_dtls_free(self.pointer) }

  private static func strongest(_ all: [CertificateFingerprint]) -> [(crm_hash, [UInt8])] {
    for hash in DTLSHash.allCases.reversed() {
      let found = all.filter { $0.function.lowercased() == hash.rawValue && $0.bytes.count == hash.count }
      if !found.isEmpty { return found.map { (hash.value, $0.bytes) } }
    }
    return []
  }

  public func start() {
    guard !self.hasEnded else { return }
    crm_dtls_start(self.pointer)
  }

  public func received(_ datagram: ArraySlice<UInt8>) {
    guard !self.hasEnded else { return }
    datagram.withUnsafeBufferPointer { crm_dtls_receive(self.pointer, $0.baseAddress, $0.count) }
  }

  public func handleTimeout() { crm_dtls_handle_timeout(self.pointer) }

  public var timeout: Duration? {
    let time = crm_dtls_timeout(self.pointer)
    return time < 0 ? nil : .microseconds(time)
  }

  public func poll() -> DTLSOutput? {
    if let datagram = self.nextDatagram() { return .send(datagram) }
    guard !self.hasEnded else { return nil }
    let state = crm_dtls_state(self.pointer)
    // It may be established and closed again by one datagram.
    if !self.wasEstablished, let keys = self.exportedKeys() {
      self.wasEstablished = true
      return .established(keys)
    }
    switch state {
    case CRM_DTLS_CLOSED:
      self.hasEnded = true
      return .closed
    case CRM_DTLS_FAILED:
      self.hasEnded = true
      return .failed(self.failure)
    case CRM_DTLS_ESTABLISHED where !self.wasEstablished:
      self.hasEnded = true
      return .failed(.library(nil))
    default:
      return nil
    }
  }

  public func close() {
    self.hasEnded = true
    crm_dtls_close(self.pointer)
  }

  private func nextDatagram() -> [UInt8]? {
    let datagram = [UInt8](unsafeUninitializedCapacity: Int(CRM_DATAGRAM_MAX)) { buffer, count in
      guard let start = buffer.baseAddress else { return }
      count = crm_dtls_take(self.pointer, start)
    }
    return datagram.isEmpty ? nil : datagram
  }

  private func exportedKeys() -> SRTPKeys? {
    var keys = crm_dtls_keys()
    defer { crm_wipe(&keys, MemoryLayout.size(ofValue: keys)) }
    guard crm_dtls_export(self.pointer, &keys), let profile = SRTPProfile(keys.profile) else { return nil }
    let count = keys.key_count + keys.salt_count
    let local = withUnsafeBytes(of: &keys.local) { SRTPMasterKey($0.prefix(count)) }
    let remote = withUnsafeBytes(of: &keys.remote) { SRTPMasterKey($0.prefix(count)) }
    return try? SRTPKeys(profile: profile, local: local, remote: remote)
  }

  private var failure: DTLSError {
    let reason = crm_dtls_reason(self.pointer).map { String(cString: $0) }
    return switch crm_dtls_failure(self.pointer) {
    case CRM_DTLS_TIMED_OUT: .timedOut
    case CRM_DTLS_WRONG_FINGERPRINT: .wrongFingerprint
    case CRM_DTLS_ALERTED:
      .alert(DTLSAlert(rawValue: UInt8(truncatingIfNeeded: crm_dtls_alert(self.pointer))))
    case CRM_DTLS_NO_PROFILE: .noCommonProfile
    case CRM_DTLS_PROTOCOL: .protocolViolated(reason)
    default: .library(reason)
    }
  }
}

extension Duration {
  /// As OpenSSL's timers have it; what is out of its range is the nearest value in it.
  fileprivate var microseconds: UInt32 {
    let longest: Duration = .seconds(3600)
    let time = min(max(self, .microseconds(1)), longest)
    return UInt32(time / .microseconds(1))
  }
}
