import Foundation
import Testing
import VoiceTesting

@testable import PocketSphinxRecognition

struct NoiseSuppressorTests {
  private func suppressed(_ samples: [Int16], by path: String, block: Int) throws -> [Int16] {
    let suppressor = try NoiseSuppressor(try RNNoiseLibrary.load(path))
    var result: [Int16] = []
    for start in stride(from: 0, to: samples.count, by: block) {
      result += suppressor.process(samples[start..<min(start + block, samples.count)])
    }
    return result + suppressor.finish()
  }

  @Test func nothingComesOfNothing() async throws {
    try await withTemporaryFolder(named: "rnnoise") { folder in
      let result = try self.suppressed([], by: try DelayLibrary.make(in: folder), block: 1)
      #expect(result.isEmpty)
    }
  }

  @Test(arguments: [0, 2, 4]) func samplesStayAtTheirPlaces(frames: Int) async throws {
    try await withTemporaryFolder(named: "rnnoise") { folder in
      let library = try DelayLibrary.make(in: folder, frames: frames)
      // Below the half of the band, what is sampled up and down again is the same.
      let samples = (0..<8_001).map { Int16(8_000 * sin(Double($0 * $0) / 100_000)) }
      let result = try self.suppressed(samples, by: library, block: 1_000)
      #expect(result.count == samples.count)
      let worst = zip(samples, result).dropFirst(100).dropLast(100).map { abs(Int($0) - Int($1)) }.max()
      #expect((worst ?? .max) < 100)
    }
  }

  @Test func theSizeOfTheBlocksChangesNothing() async throws {
    try await withTemporaryFolder(named: "rnnoise") { folder in
      let library = try DelayLibrary.make(in: folder)
      let samples = Array(Recording.goForward.samples.prefix(8_000))
      let whole = try self.suppressed(samples, by: library, block: samples.count)
      for block in [7, 160, 1_280] {
        let parts = try self.suppressed(samples, by: library, block: block)
        #expect(parts == whole)
      }
    }
  }

  @Test func theLoudestSamplesAreClipped() async throws {
    try await withTemporaryFolder(named: "rnnoise") { folder in
      let library = try DelayLibrary.make(in: folder, gain: 100)
      let samples = (0..<4_000).map { $0 / 40 % 2 == 0 ? Int16.max : Int16.min }
      let result = try self.suppressed(samples, by: library, block: 500)
      #expect(result.contains(.max) && result.contains(.min))
    }
  }
}
