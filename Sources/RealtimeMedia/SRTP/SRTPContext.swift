import CRealtimeMedia

/// Protects what is sent and opens what is received, in both directions (RFC 3711, RFC 7714), by libsrtp2.
///
/// Any number of sources up to ``mostSources`` may come and go in each direction, each with its own rollover counter and
/// replay window. It is for one thread at a time. Begin with a sequence number below 32,768: around the first wrap
/// nobody could tell what a late first packet belongs to (RFC 3711 section 3.3.1).
public final class SRTPContext {
  /// The most sources in one direction.
  public static let mostSources = Int(CRM_SRTP_SOURCES_MAX)
  /// How many packets below the newest one are still accepted.
  public static let replayWindow = Int(CRM_SRTP_WINDOW)
  /// The bytes that a packet may grow by: what to reserve beyond the plain packet, so that nothing is allocated.
  public static let overhead = Int(CRM_SRTP_OVERHEAD)

  private let outbound: OpaquePointer
  private let inbound: OpaquePointer

  /// Makes a context.
  ///
  /// - Throws: ``SRTPError/library`` without memory.
  public init(keys: SRTPKeys) throws(SRTPError) {
    guard let outbound = Self.create(keys.profile, keys.local, isOutbound: true) else { throw .library }
    guard let inbound = Self.create(keys.profile, keys.remote, isOutbound: false) else {
      crm_srtp_free(outbound)
      throw .library
    }
    self.outbound = outbound
    self.inbound = inbound
  }

  deinit {
    crm_srtp_free(self.outbound)
    crm_srtp_free(self.inbound)
  }

  private static func create(_ profile: SRTPProfile, _ key: SRTPMasterKey, isOutbound: Bool) -> OpaquePointer?
  {
    key.withUnsafeBytes { bytes in
      crm_srtp_create(
        profile.value, bytes.baseAddress?.assumingMemoryBound(to: UInt8.self), bytes.count, isOutbound)
    }
  }

  /// Protects a packet of RTP in place. After an error the packet is empty.
  public func protect(_ packet: inout [UInt8]) throws(SRTPError) {
    try self.protect(&packet, isRTCP: false)
  }

  /// Protects a compound packet of RTCP in place. After an error the packet is empty.
  public func protectRTCP(_ packet: inout [UInt8]) throws(SRTPError) {
    try self.protect(&packet, isRTCP: true)
  }

  /// Opens a packet of RTP in place. After an error the packet is empty.
  public func unprotect(_ packet: inout [UInt8]) throws(SRTPError) {
    try self.unprotect(&packet, isRTCP: false)
  }

  /// Opens a compound packet of RTCP in place. After an error the packet is empty.
  public func unprotectRTCP(_ packet: inout [UInt8]) throws(SRTPError) {
    try self.unprotect(&packet, isRTCP: true)
  }

  private func protect(_ packet: inout [UInt8], isRTCP: Bool) throws(SRTPError) {
    var count = packet.count
    packet.append(contentsOf: repeatElement(0, count: Self.overhead))
    let status = packet.withUnsafeMutableBufferPointer { buffer in
      crm_srtp_protect(self.outbound, buffer.baseAddress, &count, isRTCP)
    }
    try Self.finish(&packet, count, status)
  }

  private func unprotect(_ packet: inout [UInt8], isRTCP: Bool) throws(SRTPError) {
    var count = packet.count
    guard count > 0 else { throw .malformed }
    let status = packet.withUnsafeMutableBufferPointer { buffer in
      crm_srtp_unprotect(self.inbound, buffer.baseAddress, &count, isRTCP)
    }
    try Self.finish(&packet, count, status)
  }

  /// What is left of a packet that was not accepted means nothing, so nobody gets to see it.
  private static func finish(_ packet: inout [UInt8], _ count: Int, _ status: crm_srtp_status)
    throws(SRTPError)
  {
    guard status == CRM_SRTP_OK, count <= packet.count else {
      packet.removeAll(keepingCapacity: true)
      throw SRTPError(status)
    }
    packet.removeLast(packet.count - count)
  }
}

extension SRTPError {
  fileprivate init(_ status: crm_srtp_status) {
    self =
      switch status {
      case CRM_SRTP_MALFORMED: .malformed
      case CRM_SRTP_UNAUTHENTIC: .authentication
      case CRM_SRTP_REPLAYED: .replayed
      case CRM_SRTP_OLD: .old
      case CRM_SRTP_KEY_EXPIRED: .keyExpired
      case CRM_SRTP_TOO_MANY_SOURCES: .tooManySources
      default: .library
      }
  }
}
