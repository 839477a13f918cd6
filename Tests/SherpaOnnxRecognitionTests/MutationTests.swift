import Foundation
import SpeechPipeline
import Testing
import VoiceCore
import VoiceTesting

@testable import SherpaOnnxRecognition

/// Files of which a few bytes are wrong, all the way through the library: it must fail, or recognise something, and go on.
struct MutationTests {
  @Test(arguments: TinyModel.files)
  func aFileWithWrongBytesIsUsedOrRefused(file: String) async throws {
    try await TinyModel.withCopy { folder in
      let place = folder.appending(path: file)
      let good = try Data(contentsOf: place)
      let count = Int(ProcessInfo.processInfo.environment["VOICE_MUTATIONS"] ?? "") ?? 40
      for seed in 0..<count {
        var random = SeededGenerator(seed: UInt64(seed))
        var broken = good
        for _ in 0..<Int.random(in: 1...4, using: &random) {
          broken[Int.random(in: 0..<broken.count, using: &random)] = UInt8.random(in: 0...255, using: &random)
        }
        try broken.write(to: place)
        do {
          let engine = try TinyModel.engine(
            folder: folder.path, search: seed.isMultiple(of: 2) ? .greedy : .beam(width: 3))
          let task = RecognitionTask(vocabulary: ["for", "one two"])
          _ = try engine.makeRecognizer().recognize(TinyModel.speech(["one", "three", "four"]), task: task)
        } catch {
          let failure = try #require(error as? VoiceFailure)
          #expect([.modelInvalid, .engineFailed].contains(failure.code))
        }
      }
    }
  }
}
