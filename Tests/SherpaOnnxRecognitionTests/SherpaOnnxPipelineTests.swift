import Foundation
import SpeechPipeline
import Testing
import VoiceCore

@testable import SherpaOnnxRecognition

/// The engine in the pipeline, whose detector tells speech from silence.
struct SherpaOnnxPipelineTests {
  private func recognize(
    _ samples: [Int16], in pool: RecognizerPool, chunk: Int = 1600, silence: Duration? = .milliseconds(600)
  ) async throws -> [RecognitionEvent] {
    let context = try await pool.beginContext(ContextOptions(silence: silence), patience: .seconds(600))
    var events: [RecognitionEvent] = []
    for start in stride(from: 0, to: samples.count, by: chunk) {
      events += try await context.append(Array(samples[start..<min(start + chunk, samples.count)]))
    }
    return try await events + context.finish()
  }

  private func words(_ events: [RecognitionEvent]) -> [RecognizedWord] {
    events.compactMap { if case .word(_, _, let word) = $0 { word } else { nil } }
  }

  private func segments(_ events: [RecognitionEvent]) -> [[String]] {
    events.reduce(into: [Int: [String]]()) { segments, event in
      if case .word(let segment, _, let word) = event { segments[segment, default: []].append(word.text) }
    }.sorted { $0.key < $1.key }.map(\.value)
  }

  private let said = [["one", "two", "three"], ["five"], ["three", "one"]]

  private var session: [Int16] {
    self.said.reduce(TinyModel.silence(500)) {
      $0 + TinyModel.speech($1, pause: 100) + TinyModel.silence(1500)
    }
  }

  @Test func pausesEndSegments() async throws {
    let pool = RecognizerPool(engine: try TinyModel.engine(), size: 1)
    #expect(try await segments(recognize(self.session, in: pool)) == self.said)
    #expect(try await segments(recognize(self.session, in: pool, silence: nil)) == [self.said.flatMap { $0 }])
  }

  @Test func timesAreLinearOverManyUtterances() async throws {
    let pool = RecognizerPool(engine: try TinyModel.engine(), size: 1)
    let words = words(try await recognize(self.session, in: pool))
    var expected: [Duration] = []
    var sample = 8000
    for phrase in self.said {
      for _ in phrase {
        sample += 1600
        expected.append(.microseconds(sample * 125 / 2))
        sample += 3840
      }
      sample += 24_000
    }
    try #require(words.count == expected.count)
    for (word, start) in zip(words, expected) {
      #expect(word.start >= start - .milliseconds(60) && word.start <= start + .milliseconds(60))
      #expect(word.end >= word.start)
    }
    for (word, next) in zip(words, words.dropFirst()) { #expect(word.end <= next.start) }
  }

  @Test(arguments: [1, 160, 1601, 100_000])
  func isTheSameWhateverTheChunks(chunk: Int) async throws {
    let pool = RecognizerPool(engine: try TinyModel.engine(), size: 1)
    let samples = chunk == 1 ? Array(self.session.prefix(16_000)) : self.session
    #expect(try await recognize(samples, in: pool, chunk: chunk) == recognize(samples, in: pool))
  }

  @Test func twoContextsAtOnceHearTheSameAsAlone() async throws {
    let pool = RecognizerPool(engine: try TinyModel.engine(), size: 2)
    try await pool.load()
    let other = TinyModel.silence(300) + TinyModel.speech(["four", "five", "two"]) + TinyModel.silence(900)
    async let left = recognize(self.session, in: pool)
    async let right = recognize(other, in: pool)
    let (first, second) = try await (left, right)
    #expect(segments(first) == self.said)
    #expect(segments(second) == [["four", "five", "two"]])
  }

  @Test func aCancelledContextFreesItsRecogniser() async throws {
    let pool = RecognizerPool(engine: try TinyModel.engine(), size: 1)
    let context = try await pool.beginContext(ContextOptions(), patience: .seconds(600))
    _ = try await context.append(TinyModel.speech(["one"]))
    context.cancel()
    #expect(try await segments(recognize(self.session, in: pool)) == self.said)
  }

  @Test func resumePointsLoseAndDoubleNothing() async throws {
    let pool = RecognizerPool(engine: try TinyModel.engine(), size: 1)
    let events = try await recognize(self.session, in: pool)
    let points = events.compactMap { event -> Int64? in
      if case .segmentEnded(_, let summary) = event { summary.resumePoint.sample } else { nil }
    }
    try #require(points.count == 3)
    for (index, point) in points.enumerated() {
      let rest = Array(self.session[Int(point)...])
      #expect(try await segments(recognize(rest, in: pool)) == Array(self.said[(index + 1)...]))
    }
  }

  @Test func loadingABrokenModelIsAFailureOfThePool() async throws {
    try await TinyModel.withCopy { folder in
      let engine = try TinyModel.engine(folder: folder.path)
      try "no number\n".write(to: folder.appending(path: "tokens.txt"), atomically: true, encoding: .utf8)
      let pool = RecognizerPool(engine: engine, size: 2)
      await #expect { try await pool.load() } throws: { ($0 as? VoiceFailure)?.code == .modelInvalid }
    }
  }
}
