import SpeechPipeline
import VoiceAudio
import VoiceCore

/// The contexts of an activity: one, and for each failure of a recogniser another one that goes on where it failed.
///
/// Segments are numbered and times are counted as if there was one context. What was recognised before a failure is told as
/// final; the samples of the call that failed are not recognised again, since they may be what the recogniser failed of.
struct ContextChain {
  /// What a step gave.
  struct Step {
    var events: [RecognitionEvent]
    /// The failure of a recogniser that was replaced.
    var repaired: VoiceFailure?
  }

  private let engines: EnginePool
  private let sampleRate: Int
  private var context: RecognitionContext
  private var heard: Int64 = 0
  /// Where the newest context begins.
  private var base: Int64 = 0
  private var firstSegment = 0
  private var nextSegment = 0

  /// A recogniser that fails again before it has heard this much is not replaced.
  private static let leastLife = Duration.seconds(5)

  /// Waits for a recogniser.
  init(engines: EnginePool) async throws(VoiceFailure) {
    self.engines = engines
    self.context = try await engines.beginContext(adaptation: nil)
    self.sampleRate = engines.sampleRate
  }

  /// Hears samples.
  ///
  /// - Throws: What the recogniser throws, if it is not replaced; `told` has what it had recognised.
  mutating func append(
    _ samples: [Int16], told: (Step) -> Void
  ) async throws(VoiceFailure) {
    do throws(VoiceFailure) {
      let events = try await self.context.append(samples)
      self.heard += Int64(samples.count)
      told(Step(events: self.moved(events)))
      guard let failure = self.context.failure else { return }
      try await self.goOn(after: failure, told: told)
    } catch {
      guard self.context.failure != nil else { throw error }
      self.heard += Int64(samples.count)
      try await self.goOn(after: error, told: told)
    }
  }

  /// Recognises what is left.
  mutating func finish(told: (Step) -> Void) async throws(VoiceFailure) {
    let events = try await self.context.finish()
    told(Step(events: self.moved(events)))
    if let failure = self.context.failure { throw failure }
  }

  /// Gives the recogniser back.
  func cancel() {
    self.context.cancel()
  }

  private mutating func goOn(
    after failure: VoiceFailure, told: (Step) -> Void
  ) async throws(VoiceFailure) {
    let life = AudioChunk.time(ofSample: self.heard - self.base, sampleRate: self.sampleRate)
    guard self.base == 0 || life >= Self.leastLife else { throw failure }
    self.context = try await self.engines.beginContext(adaptation: self.context.adaptation)
    self.base = self.heard
    self.firstSegment = self.nextSegment
    told(Step(events: [], repaired: failure.with(recovery: .none)))
  }

  private mutating func moved(_ events: [RecognitionEvent]) -> [RecognitionEvent] {
    let offset = AudioChunk.time(ofSample: self.base, sampleRate: self.sampleRate)
    return events.map { event in
      let moved = event.moved(segments: self.firstSegment, by: offset)
      self.nextSegment = max(self.nextSegment, moved.segment + 1)
      return moved
    }
  }
}

extension RecognitionEvent {
  /// The event in a context that began earlier, and had segments before.
  fileprivate func moved(segments: Int, by offset: Duration) -> RecognitionEvent {
    guard segments > 0 || offset > .zero else { return self }
    func moved(_ words: [RecognizedWord]) -> [RecognizedWord] {
      words.map { word in
        var word = word
        word.start += offset
        word.end += offset
        return word
      }
    }
    switch self {
    case .hypothesis(let segment, let firstIndex, let words):
      return .hypothesis(segment: segment + segments, firstIndex: firstIndex, words: moved(words))
    case .word(let segment, let index, let word):
      return .word(segment: segment + segments, index: index, moved([word]).first ?? word)
    case .tentativeEntities(let segment, let entities):
      return .tentativeEntities(segment: segment + segments, entities)
    case .entity(let segment, let entity):
      return .entity(segment: segment + segments, entity)
    case .intent(let segment, let intent, let isFinal):
      return .intent(segment: segment + segments, intent, isFinal: isFinal)
    case .segmentEnded(let segment, var summary):
      summary.alternatives = summary.alternatives.map(moved)
      return .segmentEnded(segment: segment + segments, summary)
    }
  }
}
