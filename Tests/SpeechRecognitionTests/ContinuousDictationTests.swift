import Foundation
import SpeechPipeline
import SpeechUnderstanding
import Testing
import VoiceAudio
import VoiceCore
import VoiceTesting

@testable import SpeechRecognition

/// Whole recordings through everything, with the real engine where the words matter.
@Suite(.timeLimit(.minutes(20)))
struct ContinuousDictationTests {
  private func listen(
    _ source: any AudioSource, timeout: Duration? = .milliseconds(1500),
    change: (inout Configuration) -> Void = { _ in }
  ) async throws -> [SpeechRecognitionEvent] {
    var configuration = Configuration.test(MarkerEngine(), source)
    configuration.engine = .pool(try RealSpeech.pool.get())
    configuration.timeoutPeriod = timeout
    configuration.recognizerPatience = .seconds(240)
    configuration.eventCapacity = 100_000
    change(&configuration)
    let utility = SpeechRecognitionUtility(configuration: configuration)
    var listener = Listener(utility)
    try await utility.start()
    return await listener.readToStop()
  }

  private func words(_ events: [SpeechRecognitionEvent]) -> [SpeechTranscription.Segment] {
    events.finalResults.flatMap(\.engineBest.segments)
  }

  /// Ten minutes of speech in which one sample too many or too few changes a word.
  @Test func tenMinutesHaveTheWordsOfTheirPieces() async throws {
    var audio = MarkerAudio(sentences: 310, seed: 7)
    audio.pause(length: 16_000)
    #expect(audio.duration > .seconds(600))
    for timeout in [Duration.milliseconds(1500), .milliseconds(700), .milliseconds(100)] {
      let events = try await self.listen(SamplesSource(samples: audio.samples), timeout: timeout) {
        $0.engine = .engine(MarkerEngine())
      }
      let heard = self.words(events)
      #expect(heard.map(\.text) == audio.words.map(\.text))
      #expect(heard.map(\.timestamp) == audio.words.map(\.start))
      #expect(zip(heard, heard.dropFirst()).allSatisfy { $0.timestamp + $0.duration <= $1.timestamp })
      #expect(events.failures == [])
    }
  }

  /// Takes 42 s of a processor: more than ten minutes with the real engine.
  @Test func aLoopedRecordingHasTheSameWordsInEveryRound() async throws {
    let piece =
      RealSpeech.recording("goforward.raw") + RealSpeech.room(.seconds(2))
      + RealSpeech.recording("something.raw")
      + RealSpeech.room(.seconds(2))
    let rounds = 64
    let events = try await self.listen(LoopedSource(samples: piece, times: rounds))
    let texts = events.finalResults.map(\.engineBest.formattedString)
    #expect(texts.count == 2 * rounds)
    let first = texts.indices.filter { $0 % 2 == 0 }.map { texts[$0] }
    let second = texts.indices.filter { $0 % 2 == 1 }.map { texts[$0] }
    #expect(Set(first) == ["go forward ten meters"])
    #expect(Set(second) == ["go somewhere and do something"])
    let length = AudioChunk.time(ofSample: Int64(piece.count), sampleRate: 16_000)
    #expect(length * rounds > .seconds(600))
    let starts = stride(from: 0, to: events.finalResults.count, by: 2).compactMap {
      events.finalResults[$0].engineBest.segments.first?.timestamp
    }
    for (round, start) in starts.enumerated() {
      let expected = (starts.first ?? .zero) + length * round
      #expect(start > expected - .milliseconds(150) && start < expected + .milliseconds(150))
    }
    let words = self.words(events)
    #expect(zip(words, words.dropFirst()).allSatisfy { $0.timestamp + $0.duration <= $1.timestamp })
  }

  @Test func aRecordingBecomesOneFinalTextWithItsTranscriptions() async throws {
    let samples = RealSpeech.recording("goforward.raw") + RealSpeech.room(.seconds(3))
    let events = try await self.listen(SamplesSource(samples: samples))
    #expect(events.finalTexts.count == 1)
    let result = try #require(events.finalResults.first)
    #expect(result.engineBest.formattedString == "go forward ten meters")
    #expect(result.transcriptions.count > 1)
    #expect(result.transcriptions.count <= 5)
    let segments = result.engineBest.segments
    #expect(segments.allSatisfy { ($0.confidence ?? -1) >= 0 && ($0.confidence ?? 2) <= 1 })
    #expect(events.results.filter { !$0.isFinal }.count > 1)
    #expect(result.bestTranscription.summedConfidence >= result.engineBest.summedConfidence)
  }

  @Test(arguments: ["rms", "slt"]) func aVoiceWithPausesIsCutWhereThePauseIsLong(voice: String) async throws {
    let first = try RealSpeech.flite("turn on the lights", voice: voice)
    let second = try RealSpeech.flite("in the kitchen", voice: voice)
    let third = try RealSpeech.flite("thank you very much", voice: voice)
    let samples =
      RealSpeech.room(.milliseconds(500)) + first + RealSpeech.room(.milliseconds(700)) + second
      + RealSpeech.room(.milliseconds(2500)) + third + RealSpeech.room(.milliseconds(2500))
    let events = try await self.listen(SamplesSource(samples: samples))
    #expect(events.finalResults.count == 2)
    let firstText = events.finalResults.first?.engineBest.segments ?? []
    let boundary =
      AudioChunk.time(ofSample: Int64(first.count + second.count), sampleRate: 16_000) + .seconds(2)
    #expect(firstText.allSatisfy { $0.timestamp + $0.duration < boundary })
    #expect(firstText.count >= 4)
    #expect(events.finalResults.last?.engineBest.segments.allSatisfy { $0.timestamp > boundary } == true)
  }

  @Test func oneUtteranceOfARecordingIsItsFirstSentence() async throws {
    let samples =
      RealSpeech.recording("goforward.raw") + RealSpeech.room(.seconds(3))
      + RealSpeech.recording("something.raw") + RealSpeech.room(.seconds(3))
    let events = try await self.listen(SamplesSource(samples: samples)) { $0.mode = .oneUtterance }
    #expect(events.finalResults.map(\.engineBest.formattedString) == ["go forward ten meters"])
  }

  @Test func finishTellsTheLastWordsOfTheRealEngine() async throws {
    let source = ManualAudioSource()
    var configuration = Configuration.test(MarkerEngine(), source)
    configuration.engine = .pool(try RealSpeech.pool.get())
    configuration.recognizerPatience = .seconds(240)
    let utility = SpeechRecognitionUtility(configuration: configuration)
    try await utility.start()
    source.send(RealSpeech.recording("goforward.raw"))
    let result = await utility.finish()
    #expect(result?.engineBest.formattedString == "go forward ten meters")
  }

  // MARK: Interfaces

  private func understanding() throws -> Understanding {
    let text = """
      *move go [forward|backward](direction) [one|two|three|ten](distance) meters
      *act go somewhere and do something
      """
    let loaded = VoiceInterface.load(
      files: [ConfigurationFile(name: "robot.sal", bytes: Array(text.utf8))], packs: [EnglishPack()])
    let interface = try #require(loaded.interface, "\(loaded.rendered())")
    return try Understanding(interface, language: EnglishPack())
  }

  @Test func anInterfaceGivesIntentsAndValues() async throws {
    let samples =
      RealSpeech.recording("goforward.raw") + RealSpeech.room(.seconds(3))
      + RealSpeech.recording("something.raw") + RealSpeech.room(.seconds(3))
    let understanding = try self.understanding()
    let events = try await self.listen(SamplesSource(samples: samples)) { $0.understanding = understanding }
    let meanings = events.finalResults.flatMap(\.meanings)
    #expect(meanings.map(\.intent) == ["move", "act"])
    #expect(meanings.first?.entities.map(\.value) == ["forward", "ten"])
    #expect(events.finalTexts == ["go forward ten meters", "go somewhere and do something"])
  }

  @Test func severalIntentsWithoutAPauseAreOneText() async throws {
    let engine = ScriptedEngine(
      words: ScriptedEngine.Word.sentence(
        "go forward ten meters go somewhere and do something", at: .milliseconds(200)))
    let understanding = try self.understanding()
    let events = try await self.listen(SamplesSource(samples: silence(.seconds(5)))) {
      $0.engine = .engine(engine)
      $0.understanding = understanding
    }
    #expect(events.finalTexts == ["go forward ten meters go somewhere and do something"])
    #expect(events.finalResults.first?.meanings.map(\.intent) == ["move", "act"])
    #expect(events.failures.map(\.code) == [.grammarNotFollowed])
  }

  @Test func whatTheInterfaceDoesNotCoverIsNotRecognised() async throws {
    let engine = ScriptedEngine(
      words: ScriptedEngine.Word.sentence("it is raining", at: .milliseconds(200), isRejected: true),
      capabilities: RecognitionCapabilities(
        languages: ["en-US"], detectsVoiceActivity: true, followsGrammars: true))
    let understanding = try self.understanding()
    let events = try await self.listen(SamplesSource(samples: silence(.seconds(4)))) {
      $0.engine = .engine(engine)
      $0.understanding = understanding
    }
    #expect(events.contains(.state(.speechNotRecognized, finalOutput: true)))
    #expect(events.finalTexts == [])
    #expect(events.finalResults.map(\.isRejected) == [true])
  }
}
