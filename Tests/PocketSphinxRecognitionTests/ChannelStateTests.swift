import SpeechPipeline
import Testing
import VoiceCore

@testable import PocketSphinxRecognition

struct ChannelStateTests {
  /// The bytes of a state of two dimensions.
  private func bytes(
    version: UInt8 = 1, dimension: UInt8 = 2, frames: Int32 = 100,
    numbers: [Float] = [1, 2, 100, 200, 3000, 4]
  ) -> [UInt8] {
    let words = [UInt32(bitPattern: frames)] + numbers.map(\.bitPattern)
    return [version, dimension]
      + words.flatMap { word in [0, 8, 16, 24].map { UInt8(truncatingIfNeeded: word >> $0) } }
  }

  private func code(_ bytes: [UInt8]) -> VoiceFailure.Code? {
    do throws(VoiceFailure) {
      _ = try ChannelState(RecognizerAdaptation(bytes: bytes), dimension: 2)
      return nil
    } catch {
      return error.code
    }
  }

  @Test func rejectsWhatItDidNotWrite() {
    let good = bytes()
    #expect(code(good) == nil)
    #expect(code([]) == .requestInvalid)
    #expect(code([1]) == .requestInvalid)
    #expect(code(Array(good.dropLast())) == .requestInvalid)
    #expect(code(good + [0]) == .requestInvalid)
    #expect(code(bytes(version: 2)) == .requestInvalid)
    #expect(code(bytes(dimension: 13)) == .requestInvalid)
    #expect(code(bytes(frames: -1)) == .requestInvalid)
    #expect(code(bytes(frames: .max)) == .requestInvalid)
    for bad in [Float.nan, .infinity, -.infinity, 1e30, .signalingNaN] {
      for index in 0..<6 {
        var numbers: [Float] = [1, 2, 100, 200, 3000, 4]
        numbers[index] = bad
        #expect(code(bytes(numbers: numbers)) == .requestInvalid)
      }
    }
  }

  @Test func rejectsLevelsThatNoSampleHas() {
    #expect(code(bytes(numbers: [1, 2, 100, 200, -1, 4])) == .requestInvalid)
    #expect(code(bytes(numbers: [1, 2, 100, 200, 3000, 40_000])) == .requestInvalid)
  }

  @Test(arguments: 0..<500)
  func randomBytesAreRejectedOrUsable(seed: UInt32) {
    var random = seed &* 2_654_435_761 | 1
    let noise = (0..<30).map { index -> UInt8 in
      random = random &* 1_664_525 &+ 1_013_904_223
      return index < 2 ? UInt8(index + 1) : UInt8(random >> 24)
    }
    if let state = try? ChannelState(RecognizerAdaptation(bytes: noise), dimension: 2) {
      #expect((state.mean + state.sum).allSatisfy { $0.isFinite })
    }
  }

  @Test func survivesTheWayThroughBytes() throws {
    let state = try ChannelState(RecognizerAdaptation(bytes: bytes()), dimension: 2)
    #expect(state.adaptation.bytes == bytes())
    #expect(state.frameCount == 100)
    #expect(state.mean == [1, 2])
    #expect(state.sum == [100, 200])
    #expect(state.levels == SignalLevels(speech: 3000, noise: 4))
  }
}
