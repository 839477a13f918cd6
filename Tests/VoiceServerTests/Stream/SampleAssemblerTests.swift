import Testing
import VoiceTesting

@testable import VoiceServer

@Suite struct SampleAssemblerTests {
  @Test func joinsASampleThatWasCutInTwo() {
    var assembler = SampleAssembler(channels: 1)
    #expect(assembler.append([0x34], limit: 10).samples == [])
    #expect(assembler.hasPartialFrame)
    #expect(assembler.append([0x12, 0xff], limit: 10).samples == [0x1234])
    #expect(assembler.append([0xff], limit: 10).samples == [-1])
    #expect(!assembler.hasPartialFrame)
    #expect(assembler.frameCount == 2)
  }

  @Test func mixesChannelsByTheirMean() {
    var assembler = SampleAssembler(channels: 2)
    // 100 and 300; -32768 twice.
    let bytes: [UInt8] = [100, 0, 0x2c, 0x01, 0x00, 0x80, 0x00, 0x80]
    #expect(assembler.append(bytes, limit: 10).samples == [200, .min])
  }

  @Test func dropsWhatIsBeyondTheLimit() {
    var assembler = SampleAssembler(channels: 1)
    let first = assembler.append([1, 0, 2, 0], limit: 3)
    #expect(first.samples == [1, 2] && !first.isBeyond)
    let second = assembler.append([3, 0, 4, 0, 5], limit: 3)
    #expect(second.samples == [3] && second.isBeyond)
    #expect(assembler.frameCount == 3)
    #expect(assembler.append([6, 0], limit: 3).isBeyond)
  }

  @Test func exactlyTheLimitIsNotBeyond() {
    var assembler = SampleAssembler(channels: 1)
    #expect(!assembler.append([1, 0, 2, 0], limit: 2).isBeyond)
    #expect(!assembler.append([], limit: 2).isBeyond)
  }

  @Test(arguments: 0..<40)
  func cutsDoNotMatter(_ seed: Int) {
    var generator = SeededGenerator(seed: UInt64(seed))
    let channels = Int.random(in: 1...6, using: &generator)
    let bytes = (0..<997).map { _ in UInt8.random(in: 0...255, using: &generator) }
    var whole = SampleAssembler(channels: channels)
    let expected = whole.append(bytes, limit: .max).samples
    var cut = SampleAssembler(channels: channels)
    var samples: [Int16] = []
    var rest = bytes[...]
    while !rest.isEmpty {
      let count = min(rest.count, Int.random(in: 0...13, using: &generator))
      samples += cut.append(rest.prefix(count), limit: .max).samples
      rest = rest.dropFirst(count)
    }
    #expect(samples == expected)
    #expect(cut == whole)
  }
}
