import SpeechPipeline
import Testing
import VoiceCore
import VoiceTesting

@testable import PocketSphinxRecognition

/// The pipeline with the real engine.
struct PocketSphinxPipelineTests {
  private static let silence = ContextOptions(silence: .milliseconds(800), alternatives: 2)

  private func texts(_ events: [RecognitionEvent]) -> [String] { Speech.words(events).map(\.text) }

  @Test func readProseStaysBelowAnErrorRate() async throws {
    var edits = 0
    var count = 0
    var adaptation: RecognizerAdaptation?
    for recording in Recording.librivox {
      let events = try await Speech.recognize(
        recording.samples, options: ContextOptions(adaptation: adaptation))
      edits += Speech.edits(recording.words, texts(events))
      count += recording.words.count
      adaptation = Speech.ends(events).last?.resumePoint.adaptation
    }
    #expect(count == 71)
    #expect(Double(edits) / Double(count) < 0.35)
  }

  @Test func shortCommandsStayBelowAnErrorRate() async throws {
    var edits = 0
    var count = 0
    for recording in Recording.cards + [.goForward, .something] {
      let events = try await Speech.recognize(recording.samples)
      edits += Speech.edits(recording.words, texts(events))
      count += recording.words.count
    }
    #expect(count == 30)
    #expect(Double(edits) / Double(count) < 0.45)
  }

  @Test func recognisesKnownCommands() async throws {
    #expect(try await texts(Speech.recognize(Recording.goForward.samples)) == Recording.goForward.words)
    #expect(try await texts(Speech.recognize(Recording.something.samples)) == Recording.something.words)
  }

  @Test(arguments: [0, 1, 410, 16_000, 160_000])
  func silenceOpensNoSegment(length: Int) async throws {
    let digital = [Int16](repeating: 0, count: length)
    #expect(try await Speech.recognize(digital, options: Self.silence).isEmpty)
    #expect(try await Speech.recognize(Speech.room(length), options: Self.silence).isEmpty)
  }

  @Test func endsASegmentForEachPhrase() async throws {
    let session = Speech.session([.goForward, .something, .goForward])
    let events = try await Speech.recognize(session, options: Self.silence)
    #expect(Speech.ends(events).count == 3)
    #expect(
      texts(events) == Recording.goForward.words + Recording.something.words + Recording.goForward.words)
    let whole = try await Speech.recognize(session)
    #expect(Speech.ends(whole).count == 1)
    #expect(texts(whole) == texts(events))
  }

  @Test func endsASegmentAfterTheWantedSilence() async throws {
    let start = 8000 + Recording.goForward.samples.count
    let audio = Speech.session([.goForward], pause: 48_000)
    for milliseconds in [300, 800, 1500, 2000] {
      let options = ContextOptions(silence: .milliseconds(milliseconds))
      let context = try await Speech.pool.beginContext(options, patience: .seconds(600))
      var heard = 0
      for block in stride(from: 0, to: audio.count, by: 160) {
        let events = try await context.append(Array(audio[block..<min(block + 160, audio.count)]))
        heard = block + 160
        if !Speech.ends(events).isEmpty { break }
      }
      context.cancel()
      // The recording itself ends with 0.6 s of silence, and blocks are of 0.1 s.
      let silence = (heard - start) / 16 + 600
      #expect(silence >= max(500, milliseconds) && silence <= max(500, milliseconds) + 400)
    }
  }

  @Test(arguments: [1, 160, 320, 1024, 1601, 4096, 100_000])
  func isTheSameWhateverTheChunks(chunk: Int) async throws {
    // A chunk of one sample takes a hop between threads for each, so that case has less audio.
    let audio =
      chunk == 1
      ? Recording.goForward.samples + Speech.room(20_000)
      : Speech.session([.goForward, Recording.librivox[1]])
    let events = try await Speech.recognize(audio, chunk: chunk, options: Self.silence)
    let reference = try await Speech.recognize(audio, chunk: 1600, options: Self.silence)
    #expect(!Speech.ends(events).isEmpty)
    #expect(events == reference)
  }

  @Test func goesOnFromEveryResumePointAsIfNothingHadHappened() async throws {
    let audio = Speech.session(
      [Recording.librivox[1], .goForward, Recording.cards[4], .something, Recording.librivox[4]],
      pause: 20_000)
    let events = try await Speech.recognize(audio, options: Self.silence)
    let ends = Speech.ends(events)
    #expect(ends.count >= 5)
    for (segment, end) in ends.enumerated() {
      var options = Self.silence
      options.adaptation = end.resumePoint.adaptation
      let rest = audio[Int(end.resumePoint.sample)...]
      let resumed = try await Speech.recognize(rest, chunk: 777, options: options)
      #expect(resumed == events.resumed(after: segment, at: end.resumePoint.sample))
    }
  }

  @Test func fourStreamsAtOnceHearTheSameAsAlone() async throws {
    let recordings = [Recording.goForward, .something, Recording.librivox[1], Recording.cards[4]]
    var alone: [[RecognitionEvent]] = []
    for recording in recordings {
      alone.append(try await Speech.recognize(recording.samples, options: Self.silence))
    }
    let together = try await withThrowingTaskGroup(of: (Int, [RecognitionEvent]).self) { group in
      for (index, recording) in recordings.enumerated() {
        group.addTask { (index, try await Speech.recognize(recording.samples, options: Self.silence)) }
      }
      return try await group.reduce(into: [Int: [RecognitionEvent]]()) { $0[$1.0] = $1.1 }
    }
    for (index, events) in alone.enumerated() { #expect(together[index] == events) }
  }

  @Test func twoStreamsInTurnOnOneRecogniserHearTheSameAsAlone() async throws {
    let pool = RecognizerPool(engine: try PocketSphinxEngine(), size: 1)
    func turn(_ recording: Recording, _ adaptation: RecognizerAdaptation?) async throws -> (
      [RecognitionEvent], RecognizerAdaptation?
    ) {
      let context = try await pool.beginContext(
        ContextOptions(adaptation: adaptation), patience: .seconds(600))
      var events = try await context.append(recording.samples)
      events += try await context.finish()
      return (events, context.adaptation)
    }
    let first = [Recording.librivox[1], Recording.librivox[4]]
    let second = [Recording.cards[4], Recording.goForward]
    var alone: [[RecognitionEvent]] = []
    for stream in [first, second] {
      var adaptation: RecognizerAdaptation?
      for recording in stream {
        let (events, learned) = try await turn(recording, adaptation)
        alone.append(events)
        adaptation = learned
      }
    }
    let a = try await turn(first[0], nil)
    let b = try await turn(second[0], nil)
    let c = try await turn(first[1], a.1)
    let d = try await turn(second[1], b.1)
    #expect([a.0, c.0, b.0, d.0] == alone)
  }

  @Test func anAdaptationThatIsGarbageIsRejected() async throws {
    let options = ContextOptions(adaptation: RecognizerAdaptation(bytes: [9, 9, 9]))
    await #expect(throws: VoiceFailure.self) {
      _ = try await Speech.pool.beginContext(options, patience: .seconds(600))
    }
    #expect(try await texts(Speech.recognize(Recording.goForward.samples)) == Recording.goForward.words)
  }
}
