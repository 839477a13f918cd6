/// Turns interleaved samples of any encoding into the average of their channels.
///
/// Values are in units of 16-bit samples (full scale 32,768), so that 16-bit audio passes bit for bit and a
/// resampler built for fixed-point arithmetic hears the same. Samples that are not numbers become silence and are
/// counted.
struct SampleMixer {
  /// Beyond this a value is clipped before it can spoil sums and filters; 30 dB above full scale.
  static let limit: Float = 1_048_576

  let channels: Int

  /// How many samples were not finite numbers.
  private(set) var notFiniteCount = 0

  init(channels: Int) {
    self.channels = max(1, channels)
  }

  /// Mixes whole frames and appends one value for each.
  ///
  /// - Parameter bytes: A whole number of frames; a rest is ignored.
  mutating func mix(_ bytes: UnsafeRawBufferPointer, encoding: SampleEncoding, into output: inout [Float]) {
    let count = bytes.count / encoding.bytesPerSample
    switch encoding {
    case .s16le:
      self.mix(count, into: &output) { index in
        Float(Int16(littleEndian: bytes.loadUnaligned(fromByteOffset: index * 2, as: Int16.self)))
      }
    case .u8:
      self.mix(count, into: &output) { index in Float(Int(bytes[index]) - 128) * 256 }
    case .s24le:
      self.mix(count, into: &output) { index in
        let low = UInt32(bytes[index * 3]) | UInt32(bytes[index * 3 + 1]) << 8
        return Float(Int32(bitPattern: low << 8 | UInt32(bytes[index * 3 + 2]) << 24) >> 8) / 256
      }
    case .s32le:
      self.mix(count, into: &output) { index in
        Float(Int32(littleEndian: bytes.loadUnaligned(fromByteOffset: index * 4, as: Int32.self))) / 65_536
      }
    case .f32le:
      self.mix(count, into: &output) { index in
        let bits = UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: index * 4, as: UInt32.self))
        return Self.scale(Float(bitPattern: bits))
      }
    case .f64le:
      self.mix(count, into: &output) { index in
        let bits = UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: index * 8, as: UInt64.self))
        let value = Double(bitPattern: bits)
        // A finite double may be too large for a float, which is not the same as not being a number.
        return value.isFinite ? Float(min(max(value * 32_768, -1e30), 1e30)) : .nan
      }
    case .mulaw:
      self.mix(count, into: &output) { index in Float(MuLaw.decode(bytes[index])) }
    }
  }

  /// Mixes whole frames of 16-bit samples in host byte order.
  mutating func mix(_ samples: UnsafeBufferPointer<Int16>, into output: inout [Float]) {
    self.mix(samples.count, into: &output) { index in Float(samples[index]) }
  }

  /// Mixes whole frames of floating-point samples with full scale at 1.0.
  mutating func mix(_ samples: UnsafeBufferPointer<Float>, into output: inout [Float]) {
    self.mix(samples.count, into: &output) { index in Self.scale(samples[index]) }
  }

  /// From full scale 1.0 to full scale 32,768; a large finite value stays finite.
  private static func scale(_ value: Float) -> Float {
    value.isFinite ? min(max(value, -Self.limit), Self.limit) * 32_768 : value
  }

  @inline(__always)
  private mutating func mix(_ count: Int, into output: inout [Float], sample: (Int) -> Float) {
    let frames = count / self.channels
    output.reserveCapacity(output.count + frames)
    let share = 1 / Float(self.channels)
    var index = 0
    for _ in 0..<frames {
      var sum: Float = 0
      for _ in 0..<self.channels {
        let value = sample(index)
        if value.isFinite {
          sum += min(max(value, -Self.limit), Self.limit)
        } else {
          self.notFiniteCount += 1
        }
        index += 1
      }
      output.append(self.channels == 1 ? sum : sum * share)
    }
  }
}

/// µ-law companding (ITU-T G.711).
enum MuLaw {
  /// The 16-bit value of a byte.
  static func decode(_ byte: UInt8) -> Int16 {
    let code = ~byte
    let exponent = Int(code >> 4) & 7
    let magnitude = ((Int(code & 0x0F) << 3) + 0x84) << exponent - 0x84
    return Int16(clamping: code & 0x80 == 0 ? magnitude : -magnitude)
  }
}
