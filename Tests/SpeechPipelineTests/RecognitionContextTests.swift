import Testing
import VoiceCore
import VoiceTesting

@testable import SpeechPipeline

/// Properties that the pipeline has with any engine, shown with one that sees every lost or doubled sample.
struct RecognitionContextTests {
  private func recognize(
    _ samples: some Collection<Int16>, chunk: Int,
    options: ContextOptions = ContextOptions(silence: .milliseconds(500)),
    engine: any RecognitionEngine = MarkerEngine()
  ) async throws -> [RecognitionEvent] {
    let pool = RecognizerPool(engine: engine, size: 1)
    let context = try await pool.beginContext(options, patience: .seconds(600))
    var events: [RecognitionEvent] = []
    var rest = samples[...]
    while !rest.isEmpty {
      events += try await context.append(Array(rest.prefix(chunk)))
      rest = rest.dropFirst(chunk)
    }
    return try await events + context.finish()
  }

  private func finals(_ events: [RecognitionEvent]) -> [RecognizedWord] {
    events.compactMap { if case .word(_, _, let word) = $0 { word } else { nil } }
  }

  private func ends(_ events: [RecognitionEvent]) -> [ResumePoint] {
    events.compactMap { if case .segmentEnded(_, let summary) = $0 { summary.resumePoint } else { nil } }
  }

  @Test(arguments: [0, 1, 159, 1600, 50_000])
  func silenceGivesNoEvents(length: Int) async throws {
    let silence = [Int16](repeating: 0, count: length)
    #expect(try await recognize(silence, chunk: 1000).isEmpty)
    let real = [Int16](repeating: 3, count: length)
    let quiet = ScriptedEngine(words: [])
    #expect(try await recognize(real, chunk: 1000, engine: quiet).isEmpty)
  }

  @Test(arguments: [1, 7, 160, 1600, 1601, 16_000, 1_000_000])
  func hearsEverySampleWhateverTheChunks(chunk: Int) async throws {
    let audio = MarkerAudio(sentences: 3, seed: 11)
    let events = try await recognize(audio.samples, chunk: chunk)
    #expect(finals(events) == audio.words)
    let whole = try await recognize(audio.samples, chunk: audio.samples.count)
    #expect(events == whole)
  }

  @Test(arguments: 1...20)
  func endsASegmentForEachSentence(seed: UInt64) async throws {
    let audio = MarkerAudio(sentences: 4, wordsPerSentence: 3, seed: seed)
    let events = try await recognize(audio.samples, chunk: 1000)
    #expect(ends(events).count == 4)
    try expectOrder(events)
  }

  @Test func aSegmentLastsToTheEndWithoutALimit() async throws {
    let audio = MarkerAudio(sentences: 3, seed: 3)
    let events = try await recognize(audio.samples, chunk: 999, options: ContextOptions())
    #expect(finals(events) == audio.words)
    #expect(ends(events).map(\.sample) == [Int64(audio.samples.count)])
  }

  @Test(arguments: 1...10)
  func goesOnFromEveryResumePointAsIfNothingHadHappened(seed: UInt64) async throws {
    let audio = MarkerAudio(sentences: 4, seed: seed)
    let events = try await recognize(audio.samples, chunk: 1600)
    let points = ends(events)
    #expect(points.count == 4)
    for (segment, point) in points.enumerated() {
      let rest = audio.samples[Int(point.sample)...]
      let options = ContextOptions(silence: .milliseconds(500), adaptation: point.adaptation)
      let resumed = try await recognize(rest, chunk: 731, options: options)
      #expect(resumed == events.resumed(after: segment, at: point.sample))
    }
  }

  @Test func aWrongResumePointShows() async throws {
    let audio = MarkerAudio(sentences: 2, seed: 5)
    let events = try await recognize(audio.samples, chunk: 1600)
    let point = try #require(ends(events).first)
    for shift in [-1, 1] {
      let rest = audio.samples[(Int(point.sample) + shift)...]
      let options = ContextOptions(silence: .milliseconds(500), adaptation: point.adaptation)
      let resumed = try await recognize(rest, chunk: 1600, options: options)
      #expect(resumed != events.resumed(after: 0, at: point.sample))
    }
  }

  @Test func aPhantomHypothesisOpensNoSegment() async throws {
    let engine = ScriptedEngine(words: [
      .init("uh", start: .milliseconds(100), end: .milliseconds(400), isPhantom: true),
      .init("yes", at: .milliseconds(1500), guess: "guess"),
    ])
    let events = try await recognize([Int16](repeating: 0, count: 48_000), chunk: 1600, engine: engine)
    #expect(finals(events).map(\.text) == ["yes"])
    #expect(events.first?.isHypothesis(["uh"], segment: 0) == true)
    #expect(events.dropFirst().first?.isHypothesis([], segment: 0) == true)
    #expect(ends(events).count == 1)
  }

  @Test func givesAlternatives() async throws {
    let engine = ScriptedEngine(
      words: [.init("turn", at: .milliseconds(100))], alternatives: [["learn"], ["burn"], ["churn"]])
    let options = ContextOptions(silence: .milliseconds(500), alternatives: 2)
    let events = try await recognize(
      [Int16](repeating: 0, count: 32_000), chunk: 1600, options: options, engine: engine)
    guard case .segmentEnded(0, let summary)? = events.last else {
      Issue.record("no end")
      return
    }
    #expect(summary.alternatives.map { $0.map(\.text) } == [["learn"], ["burn"]])
  }

  @Test func speechWithoutAPauseLosesNothing() async throws {
    var audio = MarkerAudio()
    for number in 1...400 { audio.say(number % 997 + 1, length: 1700) }
    let events = try await recognize(audio.samples, chunk: 4000)
    // An utterance of 30 s is cut where it is loud too, so a word may come in two parts; no sample is missing.
    let lengths = finals(events).compactMap {
      $0.text.split(separator: "x").last?.split(separator: "@").first
    }
    .compactMap { Int($0) }
    #expect(lengths.reduce(0, +) == audio.samples.count)
    #expect(ends(events).count == 1)
    try expectOrder(events)
  }

  @Test func anEngineWithoutADetectorGetsOne() async throws {
    let engine = ScriptedEngine(
      words: [.init("hello", at: .milliseconds(1000))],
      capabilities: RecognitionCapabilities(languages: ["en-US"], detectsVoiceActivity: false))
    var audio = [Int16](repeating: 0, count: 16_000)
    audio += (0..<8000).map { $0 % 32 < 16 ? 6000 : -6000 }
    audio += [Int16](repeating: 0, count: 24_000)
    let events = try await recognize(audio, chunk: 1600, engine: engine)
    #expect(finals(events).map(\.text) == ["hello"])
    let end = try #require(ends(events).first)
    #expect(end.sample < Int64(audio.count))
  }

  /// Checks the rules of ``RecognitionEvent``.
  private func expectOrder(_ events: [RecognitionEvent]) throws {
    var segment = 0
    var index = 0
    var hasIntent = false
    for event in events {
      switch event {
      case .hypothesis(let of, let first, _):
        #expect(of == segment && first == index && !hasIntent)
      case .word(let of, let at, _):
        #expect(of == segment && at == index && !hasIntent)
        index += 1
      case .intent(let of, let text, let isFinal):
        #expect(of == segment && text.isEmpty && isFinal && index > 0)
        hasIntent = true
      case .tentativeEntities, .entity:
        Issue.record("entities without an interface")
      case .segmentEnded(let of, _):
        #expect(of == segment && hasIntent)
        segment += 1
        index = 0
        hasIntent = false
      }
    }
    #expect(index == 0)
  }
}

extension RecognitionEvent {
  func isHypothesis(_ texts: [String], segment wanted: Int) -> Bool {
    guard case .hypothesis(let segment, _, let words) = self else { return false }
    return segment == wanted && words.map(\.text) == texts
  }
}
