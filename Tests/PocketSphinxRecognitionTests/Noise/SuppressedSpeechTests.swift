import Foundation
import SpeechPipeline
import SpeechUnderstanding
import Testing
import VoiceCore
import VoiceTesting

@testable import PocketSphinxRecognition

/// Commands in noise, with the real decoder.
struct SuppressedSpeechTests {
  private static let robot = """
    direction = [forward | backward | left | right]
    *move go $direction(direction) {[1..20](distance) [meters | steps]}
    *stop [stop | halt]
    """

  private func grammar() throws -> RecognitionGrammar {
    let loaded = VoiceInterface.load(
      files: [ConfigurationFile(name: "app.sal", bytes: Array(Self.robot.utf8))], packs: [EnglishPack()])
    let interface = try #require(loaded.interface, "\(loaded.rendered())")
    return RecognitionGrammar(try Understanding(interface, language: EnglishPack()).grammar)
  }

  private func recognizer(_ library: String?) throws -> PocketSphinxRecognizer {
    var configuration = try PocketSphinxEngine().configuration
    configuration.noiseLibrary = library
    return try PocketSphinxRecognizer(configuration: configuration)
  }

  /// The recording in white noise, always the same.
  private func noisy(level: Double) -> [Int16] {
    var random = SeededGenerator(seed: 1)
    return Recording.goForward.samples.map { sample in
      let noise = Double.random(in: -1...1, using: &random) * level
      return Int16(max(-32_768, min(32_767, Double(sample) + noise)))
    }
  }

  private func hear(_ samples: [Int16], with recognizer: PocketSphinxRecognizer) throws -> RecognitionResult {
    try recognizer.begin(RecognitionTask(grammar: try self.grammar()))
    for start in stride(from: 0, to: samples.count, by: 1_600) {
      try samples[start..<min(start + 1_600, samples.count)].withUnsafeBufferPointer {
        _ = try recognizer.process($0)
      }
    }
    return try recognizer.finish(alternatives: 0)
  }

  @Test func anUtteranceWithoutSamplesHasNoWords() async throws {
    try await withTemporaryFolder(named: "rnnoise") { folder in
      let recognizer = try self.recognizer(try DelayLibrary.make(in: folder))
      for samples in [[], [0]] as [[Int16]] {
        let result = try self.hear(samples, with: recognizer)
        #expect(result.words.isEmpty)
      }
    }
  }

  @Test func wordsKeepTheirTimes() async throws {
    try await withTemporaryFolder(named: "rnnoise") { folder in
      let samples = self.noisy(level: 300)
      let plain = try self.hear(samples, with: try self.recognizer(nil)).words
      let suppressed = try self.hear(samples, with: try self.recognizer(try DelayLibrary.make(in: folder)))
        .words
      #expect(suppressed.map(\.text) == ["go", "forward", "ten", "meters"])
      try #require(suppressed.count == plain.count)
      for (one, other) in zip(suppressed, plain) {
        #expect(abs((one.start - other.start) / .milliseconds(1)) <= 100)
      }
    }
  }

  @Test func wordsKeepTheirTimesAfterALongSilence() async throws {
    try await withTemporaryFolder(named: "rnnoise") { folder in
      let recognizer = try self.recognizer(try DelayLibrary.make(in: folder))
      let samples = self.noisy(level: 300)
      let silence = Array(repeating: samples.prefix(4_000), count: 30).flatMap(\.self)
      let words = try self.hear(samples, with: recognizer).words
      let later = try self.hear(silence + samples, with: recognizer).words
      #expect(later.map(\.text) == words.map(\.text))
      for (one, other) in zip(later, words) {
        #expect(abs((one.start - other.start) / .milliseconds(1) - 7_500) <= 100)
      }
    }
  }

  @Test func utterancesDoNotDependOnThoseBefore() async throws {
    try await withTemporaryFolder(named: "rnnoise") { folder in
      let recognizer = try self.recognizer(try DelayLibrary.make(in: folder))
      let samples = self.noisy(level: 300)
      let first = try self.hear(samples, with: recognizer)
      try recognizer.begin(RecognitionTask(grammar: try self.grammar()))
      try samples.prefix(20_000).withUnsafeBufferPointer { _ = try recognizer.process($0) }
      recognizer.cancel()
      let second = try self.hear(samples, with: recognizer)
      #expect(second.words == first.words)
    }
  }

  @Test(.enabled(if: ProcessInfo.processInfo.environment[PocketSphinxEngine.noiseLibraryVariable] != nil))
  func theRealLibraryLetsCommandsBeHeardInLoudNoise() throws {
    let library = ProcessInfo.processInfo.environment[PocketSphinxEngine.noiseLibraryVariable]
    let result = try self.hear(self.noisy(level: 600), with: try self.recognizer(library))
    #expect(result.words.map(\.text) == ["go", "forward", "ten", "meters"])
    #expect(!result.isRejected)
  }

  // MARK: When

  @Test func noiseIsSuppressedOnlyWhereItIsLoud() {
    func isNoisy(_ speech: Float, _ noise: Float) -> Bool {
      UtteranceSignal(
        levels: SignalLevels(speech: speech, noise: noise), high: .unknown, isFaint: false
      ).isNoisy
    }
    #expect(!isNoisy(0, 0))
    #expect(!isNoisy(.nan, 1))
    #expect(!isNoisy(3_000, 3))
    #expect(isNoisy(3_000, 300))
  }
}
