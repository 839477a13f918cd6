import SpeechPipeline
import SpeechStreaming
import VoiceCore

/// What is known of a segment, whoever recognised it; times are in seconds from the start of the recording.
struct TranscriptSegment: Hashable, Sendable {
  struct Word: Hashable, Sendable {
    var text: String
    var start: Double
    var end: Double
    var confidence: Double?
    var isFinal: Bool
  }

  struct Entity: Hashable, Sendable {
    var type: String
    var value: String
    /// The index of the first word.
    var start: Int
    /// The index after the last word.
    var end: Int
  }

  var contextId: String
  var segmentId: Int
  var isFinal = false
  var intent = ""
  var entities: [Entity] = []
  var words: [Word] = []
  /// Whether an app's interface does not cover the words; only known to whoever recognises.
  var isRejected = false

  var text: String { self.words.map(\.text).joined(separator: " ") }
}

extension TranscriptSegment {
  init(_ segment: SpeechSegment) {
    self.init(
      contextId: segment.contextId, segmentId: segment.segmentId, isFinal: segment.isFinal,
      intent: segment.intent.value,
      entities: segment.entities.map {
        Entity(type: $0.type, value: $0.value, start: $0.startIndex, end: $0.endIndex)
      },
      words: segment.transcripts.map {
        Word(text: $0.value, start: $0.startOffset, end: $0.endOffset, confidence: nil, isFinal: $0.isFinal)
      })
  }
}

/// Builds segments from the events of the pipeline, for recognition without a server.
struct TranscriptAssembler {
  private let contextId: String
  private var finals: [Int: [TranscriptSegment.Word]] = [:]
  private var tentatives: [Int: [TranscriptSegment.Word]] = [:]
  private var intents: [Int: String] = [:]
  private var finalEntities: [Int: [RecognizedEntity]] = [:]
  private var tentativeEntities: [Int: [RecognizedEntity]] = [:]

  init(contextId: String) {
    self.contextId = contextId
  }

  /// Takes events that came together; returns the segments that changed, in order, each once, as they are now.
  mutating func take(_ events: [RecognitionEvent]) -> [TranscriptSegment] {
    var changed: [Int] = []
    var ended: [Int: SegmentSummary] = [:]
    for event in events {
      let segment: Int
      switch event {
      case .hypothesis(let id, let firstIndex, let words):
        segment = id
        let known = self.finals[id, default: []].count
        // Words that became final meanwhile are not tentative any more.
        self.tentatives[id] = words.dropFirst(max(0, known - firstIndex)).map {
          Self.word($0, isFinal: false)
        }
      case .word(let id, let index, let word):
        segment = id
        var finals = self.finals[id, default: []]
        // A word that ends the hypothesis moves from there to the final ones.
        if index == finals.count {
          finals.append(Self.word(word, isFinal: true))
          if self.tentatives[id]?.isEmpty == false { self.tentatives[id]?.removeFirst() }
        }
        self.finals[id] = finals
      case .tentativeEntities(let id, let entities):
        segment = id
        self.tentativeEntities[id] = entities
      case .entity(let id, let entity):
        segment = id
        self.tentativeEntities[id]?.removeAll { $0.words.overlaps(entity.words) }
        self.finalEntities[id, default: []].append(entity)
      case .intent(let id, let value, _):
        segment = id
        self.intents[id] = value
      case .segmentEnded(let id, let summary):
        segment = id
        self.tentatives[id] = nil
        self.tentativeEntities[id] = nil
        ended[id] = summary
      }
      if !changed.contains(segment) { changed.append(segment) }
    }
    let result = changed.sorted().map { self.segment($0, ended[$0]) }
    for id in ended.keys {
      self.finals[id] = nil
      self.intents[id] = nil
      self.finalEntities[id] = nil
    }
    return result
  }

  private func segment(_ id: Int, _ end: SegmentSummary?) -> TranscriptSegment {
    let entities = self.finalEntities[id, default: []] + self.tentativeEntities[id, default: []]
    return TranscriptSegment(
      contextId: self.contextId, segmentId: id, isFinal: end != nil, intent: self.intents[id] ?? "",
      entities: entities.sorted { $0.words.lowerBound < $1.words.lowerBound }.map {
        TranscriptSegment.Entity(
          type: $0.type, value: $0.value, start: $0.words.lowerBound, end: $0.words.upperBound)
      },
      words: self.finals[id, default: []] + self.tentatives[id, default: []],
      isRejected: end?.isRejected ?? false)
  }

  private static func word(_ word: RecognizedWord, isFinal: Bool) -> TranscriptSegment.Word {
    TranscriptSegment.Word(
      text: word.text, start: word.start / .seconds(1), end: word.end / .seconds(1),
      confidence: word.confidence,
      isFinal: isFinal)
  }
}
