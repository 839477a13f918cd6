/// The codecs of ITU-T G.711, by their definition and without tables.
public enum G711 {
  /// Encodes a sample of 16 bits with the µ-law.
  public static func encodeMuLaw(_ sample: Int16) -> UInt8 {
    // The law has 14 bits; two bits more are kept, so the bias of 33 becomes 132 and the clip 32635.
    let magnitude = min(Int32(sample.magnitude), 32635) + 132
    let exponent = Int32(24 - magnitude.leadingZeroBitCount)
    let mantissa = magnitude >> (exponent + 3) & 0xf
    return ~(UInt8(sample < 0 ? 0x80 : 0) | UInt8(truncatingIfNeeded: exponent << 4 | mantissa))
  }

  /// Decodes the µ-law to a sample of 16 bits.
  public static func decodeMuLaw(_ code: UInt8) -> Int16 {
    let code = ~code
    let magnitude = (Int16(code & 0xf) << 3 + 132) << Int16(code >> 4 & 7) - 132
    return code & 0x80 == 0 ? magnitude : -magnitude
  }

  /// Encodes a sample of 16 bits with the A-law.
  public static func encodeALaw(_ sample: Int16) -> UInt8 {
    // Negative values are inverted, not negated: −1 is the smallest one below zero.
    let magnitude = Int32(sample < 0 ? ~sample : sample) >> 4
    let exponent = max(0, 28 - Int32(magnitude.leadingZeroBitCount))
    let mantissa = magnitude >> max(0, exponent - 1) & 0xf
    return (UInt8(sample < 0 ? 0 : 0x80) | UInt8(truncatingIfNeeded: exponent << 4 | mantissa)) ^ 0x55
  }

  /// Decodes the A-law to a sample of 16 bits.
  public static func decodeALaw(_ code: UInt8) -> Int16 {
    let code = code ^ 0x55
    let exponent = Int16(code >> 4 & 7)
    var magnitude = Int16(code & 0xf) << 4 + 8
    if exponent > 0 { magnitude = (magnitude + 256) << (exponent - 1) }
    return code & 0x80 == 0 ? -magnitude : magnitude
  }

  /// Encodes samples and appends them.
  public static func appendMuLaw(_ samples: ArraySlice<Int16>, to bytes: inout [UInt8]) {
    for sample in samples { bytes.append(Self.encodeMuLaw(sample)) }
  }

  /// Encodes samples and appends them.
  public static func appendALaw(_ samples: ArraySlice<Int16>, to bytes: inout [UInt8]) {
    for sample in samples { bytes.append(Self.encodeALaw(sample)) }
  }

  /// Decodes bytes and appends them.
  public static func decodeMuLaw(_ bytes: ArraySlice<UInt8>, into samples: inout [Int16]) {
    for byte in bytes { samples.append(Self.decodeMuLaw(byte)) }
  }

  /// Decodes bytes and appends them.
  public static func decodeALaw(_ bytes: ArraySlice<UInt8>, into samples: inout [Int16]) {
    for byte in bytes { samples.append(Self.decodeALaw(byte)) }
  }
}
