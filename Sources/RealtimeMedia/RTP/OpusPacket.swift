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

  /// Whether a packet does hold data to recover the one before (the LBRR flag of RFC 6716 section 4.2.4).
  public static func holdsFEC(_ payload: ArraySlice<UInt8>) -> Bool {
    guard Self.mayHoldFEC(payload), let first = payload.first else { return false }
    let configuration = first >> 3
    // The frames of SILK that follow each other in one frame of Opus: those of 40 and 60 ms have several.
    let frames: UInt8 = configuration < 12 ? max(1, configuration % 4) : 1
    var frame = payload.dropFirst()
    switch first & 3 {
    case 0, 1: break
    case 2: frame = frame.dropFirst(frame.first ?? 0 >= 252 ? 2 : 1)
    default:
      guard let second = frame.first else { return false }
      frame = frame.dropFirst()
      if second & 0x40 != 0 {
        // Each 255 of padding is followed by another length.
        while let padding = frame.first {
          frame = frame.dropFirst()
          if padding < 255 { break }
        }
      }
      if second & 0x80 != 0 {
        for _ in 0..<max(1, second & 0x3f) - 1 { frame = frame.dropFirst(frame.first ?? 0 >= 252 ? 2 : 1) }
      }
    }
    guard let flags = frame.first else { return false }
    // A flag of voice activity for each frame, then the one of the redundancy; for two channels the same again.
    let isStereo = first & 4 != 0
    return flags >> (7 - frames) & 1 != 0 || isStereo && flags >> (6 - frames * 2) & 1 != 0
  }
}
