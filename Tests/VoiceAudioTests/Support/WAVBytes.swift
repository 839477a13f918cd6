/// Makes the bytes of WAV files, broken ones too.
enum WAVBytes {
  static func file(
    tag: Int = 1, bits: Int = 16, channels: Int = 1, sampleRate: Int = 16_000,
    data: [UInt8], declaredLength: Int? = nil, chunkBeforeData: [UInt8] = []
  ) -> [UInt8] {
    let length = declaredLength ?? data.count
    var bytes = Array("RIFF".utf8) + little(36 + length, 4) + Array("WAVEfmt ".utf8) + little(16, 4)
    bytes += little(tag, 2) + little(channels, 2) + little(sampleRate, 4)
    bytes += little(sampleRate * channels * bits / 8, 4) + little(channels * bits / 8, 2) + little(bits, 2)
    bytes += chunkBeforeData + Array("data".utf8) + little(length, 4)
    return bytes + data
  }

  static func pcm16(_ samples: [Int16]) -> [UInt8] {
    samples.flatMap { little(Int(UInt16(bitPattern: $0)), 2) }
  }

  static func float32(_ samples: [Float]) -> [UInt8] {
    samples.flatMap { little(Int($0.bitPattern), 4) }
  }

  static func little(_ value: Int, _ count: Int) -> [UInt8] {
    (0..<count).map { UInt8(truncatingIfNeeded: value >> ($0 * 8)) }
  }
}
