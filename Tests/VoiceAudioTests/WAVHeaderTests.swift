import Testing

@testable import VoiceAudio

struct WAVHeaderTests {
  private let whole = WAVBytes.file(channels: 2, sampleRate: 44_100, data: [1, 2, 3, 4])

  @Test func asksForMoreUntilTheHeaderIsThere() {
    for count in 0..<44 { #expect(WAVHeader.sniff(self.whole.prefix(count)) == .incomplete, "\(count)") }
    let header = WAVHeader(
      format: RawAudioFormat(sampleRate: 44_100, channels: 2), formatTag: 1, dataOffset: 44, dataLength: 4)
    #expect(WAVHeader.sniff(self.whole.prefix(44)) == .header(header))
    #expect(WAVHeader.sniff(self.whole) == .header(header))
  }

  @Test(arguments: ["x", "RIFX", "RIFF....AVI ", "fLaC", "OggS"])
  func knowsWhatIsNotWave(start: String) {
    #expect(WAVHeader.sniff(Array(start.utf8)) == .other)
  }

  @Test(arguments: [0, 0x7FFF_0000, 0x7FFF_FFFF, 0xFFFF_FFFF])
  func takesTheLengthsOfWritersThatDoNotKnowIt(length: Int) throws {
    let header = try #require(self.header(WAVBytes.file(data: [1, 2], declaredLength: length)))
    #expect(header.dataLength == nil)
  }

  @Test func skipsChunksOfOddLengthBeforeTheSamples() throws {
    let list = Array("LIST".utf8) + WAVBytes.little(3, 4) + [1, 2, 3, 0]
    let header = try #require(self.header(WAVBytes.file(data: [9, 9], chunkBeforeData: list)))
    #expect(header.dataOffset == 56)
    #expect(header.dataLength == 2)
  }

  @Test func readsExtensibleFormats() throws {
    var bytes = WAVBytes.file(tag: 0xFFFE, bits: 24, data: [])
    bytes.replaceSubrange(16..<20, with: WAVBytes.little(40, 4))
    let subFormat: [UInt8] = [1, 0] + [UInt8](repeating: 0, count: 14)
    bytes.insert(contentsOf: WAVBytes.little(22, 2) + [24, 0] + [4, 0, 0, 0] + subFormat, at: 36)
    #expect(self.header(bytes)?.format?.encoding == .s24le)
  }

  @Test func readsLengthsBeyondFourGigabytes() throws {
    var bytes = WAVBytes.file(data: [], declaredLength: 0xFFFF_FFFF)
    bytes.replaceSubrange(0..<4, with: Array("RF64".utf8))
    let sizes = WAVBytes.little(0, 8) + WAVBytes.little(6_000_000_000, 8) + WAVBytes.little(0, 12)
    bytes.insert(contentsOf: Array("ds64".utf8) + WAVBytes.little(28, 4) + sizes, at: 12)
    #expect(self.header(bytes)?.dataLength == 6_000_000_000)
  }

  @Test func doesNotLookForSamplesForEver() {
    let endless = Array("junk".utf8) + WAVBytes.little(0x7FFF_FFFF, 4)
    #expect(
      WAVHeader.sniff(WAVBytes.file(data: [], chunkBeforeData: endless))
        == .damaged("there are no samples in the first megabyte"))
  }

  @Test func wantsTheFormatBeforeTheSamples() {
    let bytes = Array("RIFF".utf8) + WAVBytes.little(0, 4) + Array("WAVEdata".utf8) + WAVBytes.little(4, 4)
    #expect(WAVHeader.sniff(bytes) == .damaged("the samples come before their format"))
  }

  @Test func neverTrapsOnDamagedHeaders() {
    var generator = SplitMix(state: 3)
    for _ in 0..<5_000 {
      var bytes = self.whole
      for _ in 0..<Int.random(in: 1...4, using: &generator) {
        bytes[Int.random(in: 4..<44, using: &generator)] = .random(in: 0...255, using: &generator)
      }
      if case .header(let header) = WAVHeader.sniff(bytes) { #expect(header.dataOffset >= 20) }
    }
  }

  private func header(_ bytes: [UInt8]) -> WAVHeader? {
    if case .header(let header) = WAVHeader.sniff(bytes) { header } else { nil }
  }
}
