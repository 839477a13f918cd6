import SpeechPipeline
import Testing
import VoiceCore

@testable import PocketSphinxRecognition

struct CepstralMeanTests {
  /// The bytes of a state of two dimensions.
  private func bytes(version: UInt8 = 1, dimension: UInt8 = 2, frames: Int32 = 100, numbers: [Float] = [1, 2, 100, 200]) -> [UInt8] {
    let words = [UInt32(bitPattern: frames)] + numbers.map(\.bitPattern)
    return [version, dimension]
      + words.flatMap { word in [0, 8, 16, 24].map { UInt8(truncatingIfNeeded: word >> $0) } }
  }

  private func code(_ bytes: [UInt8]) -> VoiceFailure.Code? {
    do throws(VoiceFailure) {
      _ = try CepstralMean(RecognizerAdaptation(bytes: bytes), dimension: 2)
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
      for index in 0..<4 {
        var numbers: [Float] = [1, 2, 100, 200]
        numbers[index] = bad
        #expect(code(bytes(numbers: numbers)) == .requestInvalid)
      }
    }
  }

  @Test(arguments: 0..<500)
  func noiseIsRejectedOrUsable(seed: UInt32) {
    var state = seed &* 2_654_435_761 | 1
    let noise = (0..<22).map { index -> UInt8 in
      state = state &* 1_664_525 &+ 1_013_904_223
      return index < 2 ? UInt8(index + 1) : UInt8(state >> 24)
    }
    if let mean = try? CepstralMean(RecognizerAdaptation(bytes: noise), dimension: 2) {
      #expect((mean.mean + mean.sum).allSatisfy { $0.isFinite })
    }
  }

  @Test func survivesTheWayThroughBytes() throws {
    let mean = try CepstralMean(RecognizerAdaptation(bytes: bytes()), dimension: 2)
    #expect(mean.adaptation.bytes == bytes())
    #expect(mean.frameCount == 100)
    #expect(mean.mean == [1, 2])
    #expect(mean.sum == [100, 200])
  }
}
