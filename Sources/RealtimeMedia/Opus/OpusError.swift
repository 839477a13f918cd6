import CRealtimeMedia

/// Why audio is not encoded or decoded.
public enum OpusError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The payload is no packet of Opus (RFC 6716 section 3.4).
  case malformedPacket
  /// There is no packet of so many samples.
  case wrongLength(Int)
  /// There was no memory, or libopus failed.
  case library

  public var description: String {
    switch self {
    case .malformedPacket: "It is no packet of Opus."
    case .wrongLength(let count): "There is no packet of \(count) samples in Opus."
    case .library: "libopus failed."
    }
  }

  init(_ result: Int32) {
    self = result == Int32(CRM_OPUS_INVALID_PACKET) ? .malformedPacket : .library
  }
}
