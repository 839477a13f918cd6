/// What can be known of an Opus packet without decoding it (RFC 6716 section 3, RFC 7587 section 4.2).
public enum OpusPacket {
  /// The length of the audio in a packet, in samples at 48 kHz; `nil` if it is no Opus packet.
  public static func duration(of payload: ArraySlice<UInt8>) -> Int? {
    guard let first = payload.first else { return nil }
    let configuration = Int(first >> 3)
    let frame: Int
    switch configuration {
    case 0..<12: frame = [480, 960, 1920, 2880][configuration % 4]
    case 12..<16: frame = [480, 960][configuration % 2]
    default: frame = [120, 240, 480, 960][configuration % 4]
    }
    let count: Int
    switch first & 3 {
    case 0: count = 1
    case 1, 2: count = 2
    default:
      guard let second = payload.dropFirst().first else { return nil }
      count = Int(second & 0x3f)
    }
    // At most 120 ms (RFC 6716 section 3.2.5).
    guard count > 0, frame * count <= 5760 else { return nil }
    return frame * count
  }

  /// Whether a packet may hold data to recover the one before: only SILK and hybrid modes have it.
  public static func mayHoldFEC(_ payload: ArraySlice<UInt8>) -> Bool {
    guard let first = payload.first else { return false }
    return first >> 3 < 16 && payload.count > 2
  }
}
