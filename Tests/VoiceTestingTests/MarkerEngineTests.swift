import SpeechPipeline
import Testing
import VoiceCore

@testable import VoiceTesting

struct MarkerEngineTests {
  private func recognize(_ samples: [Int16], adaptation: RecognizerAdaptation? = nil) throws -> (
    RecognitionResult, RecognizerAdaptation?
  ) {
    let recognizer = try MarkerEngine().makeRecognizer()
    try recognizer.begin(adaptation: adaptation)
    _ = try samples.withUnsafeBufferPointer { try recognizer.process($0) }
    return (try recognizer.finish(alternatives: 0), recognizer.adaptation)
  }

  @Test func rejectsAForeignAdaptation() {
    for bytes: [UInt8] in [[], [1], Array(repeating: 255, count: 8), Array(repeating: 0, count: 9)] {
      #expect(throws: VoiceFailure.self) {
        try self.recognize([], adaptation: RecognizerAdaptation(bytes: bytes))
      }
    }
  }

  @Test func recognisesWhatWasSaid() throws {
    var audio = MarkerAudio()
    audio.pause(length: 100)
    audio.say(7, length: 160)
    audio.say(8, length: 20)
    audio.pause(length: -3)
    audio.say(8, length: 10)
    audio.say(99_999, length: 5)
    audio.say(1, length: 0)
    let (result, _) = try recognize(audio.samples)
    #expect(result.words == audio.words)
    #expect(result.words.map(\.text) == ["7x160@100", "8x30@260", "30000x5@290"])
  }

  @Test func everyLostOrDoubledSampleShows() throws {
    let audio = MarkerAudio(sentences: 1, wordsPerSentence: 2, seed: 4)
    let end = try #require(audio.samples.lastIndex { $0 != 0 })
    for index in stride(from: 0, through: end, by: 97) {
      var lost = audio.samples
      lost.remove(at: index)
      #expect(try recognize(lost).0.words != audio.words)
      var doubled = audio.samples
      doubled.insert(doubled[index], at: index)
      #expect(try recognize(doubled).0.words != audio.words)
    }
  }

  @Test func goesOnWhereAnEarlierUtteranceEnded() throws {
    let audio = MarkerAudio(sentences: 2, seed: 9)
    let half = audio.samples.count / 2
    let cut = audio.samples[half...].firstIndex(of: 0) ?? half
    let (first, learned) = try recognize(Array(audio.samples[..<cut]))
    let (second, _) = try recognize(Array(audio.samples[cut...]), adaptation: learned)
    #expect((first.words + second.words).map(\.text) == audio.words.map(\.text))
  }

  @Test func theSameSeedGivesTheSameAudio() {
    #expect(MarkerAudio(sentences: 3, seed: 2) == MarkerAudio(sentences: 3, seed: 2))
    #expect(MarkerAudio(sentences: 3, seed: 2) != MarkerAudio(sentences: 3, seed: 3))
    #expect(MarkerAudio(sentences: -1).samples.isEmpty)
  }
}
