import Testing
import VoiceCore

@testable import VoiceAudio

struct PCMConverterTests {
  @Test(arguments: [0, -1, 65, Int.max])
  func refusesChannelCountsThatCannotBeMixed(channels: Int) {
    #expect(throws: VoiceFailure.self) { try PCMConverter(format: RawAudioFormat(channels: channels)) }
  }

  @Test func passesSixteenBitSamplesBitForBit() throws {
    let samples = (Int(Int16.min)...Int(Int16.max)).map { Int16($0) }
    #expect(try convert(WAVBytes.pcm16(samples), .init()) == samples)
  }

  @Test(arguments: SampleEncoding.allCases)
  func decodesTheLevelsOfEachEncoding(encoding: SampleEncoding) throws {
    let bytes: [UInt8] =
      switch encoding {
      case .s16le: [0, 0, 0, 0x40, 0, 0xC0, 0, 0x80]
      case .u8: [128, 192, 64, 0]
      case .s24le: [0, 0, 0, 0, 0, 0x40, 0, 0, 0xC0, 0, 0, 0x80]
      case .s32le: [0, 0, 0, 0, 0, 0, 0, 0x40, 0, 0, 0, 0xC0, 0, 0, 0, 0x80]
      case .f32le: WAVBytes.float32([0, 0.5, -0.5, -1])
      case .f64le:
        [0, 0.5, -0.5, -1].flatMap { WAVBytes.little(Int(bitPattern: UInt(Double($0).bitPattern)), 8) }
      case .mulaw: [0xFF, 0x90, 0x10, 0x00]
      }
    let samples = try convert(bytes, RawAudioFormat(encoding: encoding))
    #expect(samples == (encoding == .mulaw ? [0, 15_996, -15_996, -32_124] : [0, 16_384, -16_384, -32_768]))
  }

  @Test func decodesTheCornersOfMuLaw() {
    // ITU-T G.711, table 2a/2b, scaled from 14 to 16 bits.
    let expected: [(UInt8, Int16)] = [
      (0x00, -32_124), (0x0F, -16_764), (0x7E, -8), (0x7F, 0), (0x80, 32_124), (0xAF, 4_092), (0xFE, 8),
      (0xFF, 0),
    ]
    for (byte, value) in expected { #expect(MuLaw.decode(byte) == value, "\(byte)") }
  }

  @Test func replacesWhatIsNotANumberBySilenceAndCountsIt() throws {
    let converter = try PCMConverter(format: RawAudioFormat(encoding: .f32le))
    let chunks =
      converter.append(WAVBytes.float32([0.5, .nan, .infinity, -.infinity, 0.5])) + converter.finish()
    #expect(chunks.flatMap(\.samples) == [16_384, 0, 0, 0, 16_384])
    #expect(converter.notFiniteCount == 3)
  }

  @Test func clipsWhatIsTooLoudWithoutCountingIt() throws {
    for encoding in [SampleEncoding.f32le, .f64le] {
      let converter = try PCMConverter(format: RawAudioFormat(sampleRate: 48_000, encoding: encoding))
      let loud =
        encoding == .f32le
        ? WAVBytes.float32([Float](repeating: .greatestFiniteMagnitude, count: 9_600))
        : (0..<9_600).flatMap { _ in WAVBytes.little(Int(Double.greatestFiniteMagnitude.bitPattern), 8) }
      let samples = (converter.append(loud) + converter.finish()).flatMap(\.samples)
      #expect(samples.count == 3_200)
      #expect(samples[200..<3_000].allSatisfy { $0 == .max })
      #expect(converter.notFiniteCount == 0)
    }
  }

  @Test func averagesAllChannels() throws {
    let frames: [Int16] = [300, 600, 900, -32_768, -32_768, -32_768, 32_767, 32_767, 32_767, 1, 1, 0]
    #expect(try convert(WAVBytes.pcm16(frames), RawAudioFormat(channels: 3)) == [600, -32_768, 32_767, 1])
  }

  @Test(arguments: SampleEncoding.allCases, [16_000, 44_100])
  func doesNotDependOnHowTheBytesAreCut(encoding: SampleEncoding, rate: Int) throws {
    let format = RawAudioFormat(sampleRate: rate, channels: 3, encoding: encoding)
    var generator = SplitMix(state: 7)
    // Random bits make every encoding, NaN included.
    let bytes = (0..<format.bytesPerFrame * 5_000).map { _ in UInt8.random(in: 0...255, using: &generator) }
    let whole = try convert(bytes, format)
    #expect(whole.count == (5_000 * 16_000 + rate - 1) / rate)
    #expect(try convert(bytes, format, pieces: 1) == whole)
    #expect(try convert(bytes, format, pieces: format.bytesPerFrame + 1) == whole)
  }

  @Test func cutsChunksOfTheDurationAskedFor() throws {
    let converter = try PCMConverter(format: .init(), chunkDuration: .milliseconds(20), startPosition: 1_000)
    var chunks = converter.append([UInt8](repeating: 0, count: 2 * 1_000))
    chunks += converter.finish()
    #expect(chunks.map(\.samples.count) == [320, 320, 320, 40])
    #expect(chunks.map(\.position) == [1_000, 1_320, 1_640, 1_960])
  }

  @Test func keepsTheIncompleteSampleAndLeavesItOutAtTheEnd() throws {
    let converter = try PCMConverter(format: .init())
    #expect(converter.append([1]).isEmpty)
    #expect(converter.incompleteByteCount == 1)
    #expect(converter.append([2, 3]).isEmpty)
    #expect(converter.incompleteByteCount == 1)
    #expect(converter.finish().map(\.samples) == [[0x0201]])
  }

  @Test func deliversAPartOfAChunkWhenAsked() throws {
    let converter = try PCMConverter(format: .init())
    _ = converter.append([1, 0, 2, 0])
    #expect(converter.hasPendingSamples)
    #expect(converter.flush() == [AudioChunk(position: 0, samples: [1, 2])])
    #expect(!converter.hasPendingSamples)
    _ = converter.append([3, 0])
    #expect(converter.finish() == [AudioChunk(position: 2, samples: [3])])
  }

  @Test(arguments: [16_000, 44_100, 48_000])
  func keepsTimeAcrossAGap(rate: Int) throws {
    let converter = try PCMConverter(format: RawAudioFormat(sampleRate: rate))
    let half = [UInt8](repeating: 0, count: rate)
    var chunks = converter.append(half)
    chunks += converter.skip(frames: Int64(rate))
    let before = chunks.map(\.samples.count).reduce(0, +)
    chunks += converter.append(half)
    chunks += converter.finish()
    #expect(before == 8_000)
    #expect(chunks.map(\.samples.count).reduce(0, +) == 16_000)
    #expect(chunks.last?.endPosition == 32_000)
    #expect(
      zip(chunks, chunks.dropFirst()).filter { $0.endPosition != $1.position }.map(\.1.position) == [24_000])
  }

  @Test func aGapOfImpossibleLengthDoesNotTrap() throws {
    let converter = try PCMConverter(format: RawAudioFormat(sampleRate: 768_000))
    #expect(converter.skip(frames: .max).isEmpty)
    #expect(converter.skip(frames: .min).isEmpty)
    #expect(converter.position > 0)
  }

  private func convert(_ bytes: [UInt8], _ format: RawAudioFormat, pieces: Int? = nil) throws -> [Int16] {
    let converter = try PCMConverter(format: format)
    var chunks: [AudioChunk] = []
    for start in stride(from: 0, to: bytes.count, by: pieces ?? bytes.count) {
      chunks += converter.append(bytes[start..<min(start + (pieces ?? bytes.count), bytes.count)])
    }
    return (chunks + converter.finish()).flatMap(\.samples)
  }
}

/// A small generator with a seed (Steele, Lea, Flood: "Fast splittable pseudorandom number generators").
struct SplitMix: RandomNumberGenerator {
  var state: UInt64

  mutating func next() -> UInt64 {
    self.state &+= 0x9E37_79B9_7F4A_7C15
    var word = self.state
    word = (word ^ (word >> 30)) &* 0xBF58_476D_1CE4_E5B9
    word = (word ^ (word >> 27)) &* 0x94D0_49BB_1331_11EB
    return word ^ (word >> 31)
  }
}
