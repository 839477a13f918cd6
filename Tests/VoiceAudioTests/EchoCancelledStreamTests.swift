import Foundation
import Testing
import VoiceAudio
import VoiceCore

struct EchoCancelledStreamTests {
  /// What arrives of a microphone in a room with a loudspeaker, with devices that are late and irregular.
  private struct Devices {
    /// How long the microphone's samples take, at least.
    var captureDelay = 30.0
    /// How much later some of them come.
    var jitter = 15.0
    /// How much the loudspeaker's tale of its delay is wrong, now and then.
    var delayError = 2.0
    /// How much faster the microphone's clock is.
    var drift = 0.0
    var chunkLength = 320
  }

  private static let far = Speech.babble(seconds: 12, sampleRate: 16_000, seed: 6)
  private static let echo = Room(sampleRate: 16_000).answer(to: far)

  @Test(arguments: [320, 100, 1_600])
  func theEchoIsFoundByTheTimesOfBothDevices(chunkLength: Int) throws {
    let loss = try self.loss(
      Devices(chunkLength: chunkLength), far: Array(Self.far[..<80_000]), echo: Array(Self.echo[..<80_000]),
      from: 2)
    print("Echo return loss enhancement with devices' times, chunks of \(chunkLength): \(loss.rounded()) dB")
    #expect(loss >= 15)
  }

  /// Two cards of their own; the loudspeaker and the microphone of one card do not drift apart.
  @Test(arguments: [(0.000_02, 15.0), (-0.000_02, 15), (0.000_1, 10), (-0.000_1, 10)])
  func theEchoStaysAwayWhenClocksDrift(drift: Double, least: Double) throws {
    let loss = try self.loss(Devices(drift: drift), far: Self.far, echo: Self.echo, from: 4)
    print("Echo return loss enhancement with a drift of \(drift * 1e6) ppm: \(loss.rounded()) dB")
    #expect(loss >= least)
  }

  @Test func positionsAndLengthsStay() throws {
    let stream = try EchoCancelledStream(played: PlayedAudio())
    var chunks: [AudioChunk] = []
    var now = VoiceInstant()
    // A gap of 1,000 samples after the third chunk, none of which is as long as a frame.
    for position in [0, 100, 200, 1_300, 1_400] as [Int64] {
      now = now.advanced(by: .milliseconds(10))
      chunks += stream.heard(
        AudioChunk(position: position, samples: [Int16](repeating: 1_000, count: 100)), at: now)
    }
    chunks += stream.finish()
    let ranges = chunks.map { $0.position..<$0.endPosition }
    #expect(ranges.map(\.count).reduce(0, +) == 500)
    #expect(ranges.first?.lowerBound == 0)
    #expect(ranges.last?.upperBound == 1_500)
    #expect(ranges.contains { $0.upperBound == 300 })
    #expect(ranges.contains { $0.lowerBound == 1_300 })
    #expect(stream.finish().isEmpty)
  }

  @Test func whatWasHeardIsWhereItWas() throws {
    let near = Speech.babble(seconds: 2, sampleRate: 16_000, seed: 9)
    let stream = try EchoCancelledStream(played: PlayedAudio())
    var chunks: [AudioChunk] = []
    for start in stride(from: 0, to: near.count, by: 320) {
      let samples = Array(near[start..<min(start + 320, near.count)])
      chunks += stream.heard(
        AudioChunk(position: Int64(start), samples: samples),
        at: VoiceInstant(offset: .milliseconds(start / 16 + 20)))
    }
    chunks += stream.finish()
    let output = chunks.flatMap(\.samples)
    #expect(output.count == near.count)
    #expect(Speech.correlation(output[8_000...], near[8_000...]) > 0.98)
  }

  @Test func whatWasHeardIsWhereItWasAfterAGapToo() throws {
    let loss = try self.loss(
      Devices(), far: Array(Self.far[..<96_000]), echo: Array(Self.echo[..<96_000]), from: 3,
      without: 40_000..<41_234)
    #expect(loss >= 15)
  }

  private func loss(
    _ devices: Devices, far: [Int16], echo: [Int16], from start: Int, without missing: Range<Int> = 0..<0
  ) throws -> Double {
    let played = PlayedAudio()
    let stream = try EchoCancelledStream(played: played)
    var generator = Speech.Generator(seed: 11)
    var heard: [Int16] = []
    var output: [Int16] = []
    var outputStart: Int64?
    var block = 0
    var position = 0
    // The loudspeaker plays 20 ms at a time and tells it 60 ms ahead; the microphone records by its own clock.
    while position + devices.chunkLength < echo.count - 640 {
      let end = position + devices.chunkLength
      let recorded = Double(end) / 16 / (1 + devices.drift)
      let arrival = recorded + devices.captureDelay + abs(generator.next()) * devices.jitter
      while Double(block * 20) <= arrival + 60, (block + 1) * 320 <= far.count {
        let told = Double(block * 20) + generator.next() * devices.delayError
        far[block * 320..<(block + 1) * 320].withUnsafeBufferPointer {
          played.append($0, sampleRate: 16_000, heardAt: VoiceInstant(offset: .milliseconds(1) * told))
        }
        block += 1
      }
      let samples = (position..<end).map { index -> Int16 in
        let exact = Double(index) / (1 + devices.drift)
        let whole = min(Int(exact), echo.count - 2)
        let rest = exact - Double(whole)
        return Int16(Double(echo[whole]) * (1 - rest) + Double(echo[whole + 1]) * rest)
      }
      heard += samples
      if !missing.overlaps(position..<end) {
        let chunks = stream.heard(
          AudioChunk(position: Int64(position), samples: samples),
          at: VoiceInstant(offset: .milliseconds(1) * arrival))
        for chunk in chunks {
          outputStart = outputStart ?? chunk.position
          output += [Int16](repeating: 0, count: Int(chunk.position) - output.count) + chunk.samples
        }
      }
      position = end
    }
    #expect(outputStart == 0)
    #expect(stream.realignmentCount == 0)
    let range = start * 16_000..<output.count
    return Speech.level(of: heard[range]) - Speech.level(of: output[range])
  }
}
