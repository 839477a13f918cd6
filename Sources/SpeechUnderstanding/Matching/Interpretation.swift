import Foundation

/// What an utterance means: one segment for each intent.
public struct Interpretation: Hashable, Sendable {
  /// A part of the utterance with one intent.
  public struct Segment: Hashable, Sendable {
    /// The intent's name; empty if the words belong to none.
    public var intent: String
    /// The words, as positions in the utterance.
    public var words: Range<Int>
    /// The entities, in the order of their positions.
    public var entities: [Entity]

    /// Creates a segment.
    public init(intent: String, words: Range<Int>, entities: [Entity] = []) {
      self.intent = intent
      self.words = words
      self.entities = entities
    }
  }

  /// A value that was said.
  public struct Entity: Hashable, Sendable {
    /// The entity's name.
    public var name: String
    /// The words of the value, as positions in the utterance.
    public var words: Range<Int>
    /// The words of the value as the grammar has them: corrected, and without fillers.
    public var value: [String]

    /// Creates an entity.
    public init(name: String, words: Range<Int>, value: [String]) {
      self.name = name
      self.words = words
      self.value = value
    }
  }

  /// A place where the utterance differs from what the grammar expects.
  public enum Edit: Hashable, Sendable {
    /// A word that the grammar does not know at this place.
    case skipped(String, at: Int)
    /// A word that was taken for another.
    case replaced(String, by: String, at: Int)
    /// A word of the grammar that was not said before the position.
    case missing(String, at: Int)
    /// An entity whose value was not said, or not understood, before the position.
    case missingValue(entity: String, at: Int)
  }

  /// The words of the utterance, in lower case.
  public var words: [String]
  /// The segments, in order; together they hold all words.
  public var segments: [Segment]
  /// What had to be overlooked.
  public var edits: [Edit]
  /// The negative logarithm of the probability of this utterance in the grammar.
  public var cost: Double
  /// How sure this interpretation is, from 0 to 1: how much had to be overlooked, and how close the next best one is.
  public var confidence: Double
}

/// Collects an interpretation while words and marks come in order.
struct InterpretationBuilder {
  private let grammar: Grammar
  private var words: [String] = []
  private var segments: [Interpretation.Segment] = []
  private var edits: [Interpretation.Edit] = []
  private var open: OpenEntity?
  var cost = 0.0

  private struct OpenEntity {
    var entity: UInt32
    var value: [String] = []
    /// From the first to the last word that is part of the value; a filler behind it is not.
    var words: Range<Int>?

    mutating func take(_ word: String, at position: Int) {
      self.value.append(word)
      self.words = (self.words?.lowerBound ?? position)..<position + 1
    }
  }

  init(grammar: Grammar) {
    self.grammar = grammar
  }

  /// Takes a word of the utterance that the grammar expects.
  mutating func hear(_ word: String) {
    self.open?.take(word, at: self.words.count)
    self.words.append(word)
  }

  /// Takes a word of the utterance that the grammar does not expect, or takes for another.
  mutating func hear(_ word: String, as expected: String?) {
    if let expected {
      self.edits.append(.replaced(word, by: expected, at: self.words.count))
      self.open?.take(expected, at: self.words.count)
    } else {
      self.edits.append(.skipped(word, at: self.words.count))
    }
    self.words.append(word)
  }

  /// Takes a word of the grammar that was not said.
  mutating func miss(_ word: String) {
    self.edits.append(.missing(word, at: self.words.count))
    self.open?.value.append(word)
  }

  /// Takes note of an entity without a value.
  mutating func miss(entity: UInt32) {
    self.edits.append(.missingValue(entity: self.grammar.entities[Int(entity)], at: self.words.count))
  }

  mutating func begin(intent: UInt32) {
    let position = self.words.count
    if let last = self.segments.indices.last {
      self.segments[last].words = self.segments[last].words.lowerBound..<position
    }
    // What comes before the first intent, a filler perhaps, belongs to it.
    let start = self.segments.isEmpty ? 0 : position
    self.segments.append(.init(intent: self.grammar.intents[Int(intent)], words: start..<position))
  }

  mutating func begin(entity: UInt32) {
    self.open = OpenEntity(entity: entity)
  }

  mutating func endEntity() {
    guard let open = self.open else { return }
    self.open = nil
    // A value of which no word was said is none.
    guard let words = open.words else { return }
    if self.segments.isEmpty { self.segments.append(.init(intent: "", words: 0..<self.words.count)) }
    self.segments[self.segments.count - 1].entities.append(
      .init(
        name: self.grammar.entities[Int(open.entity)], words: words, value: open.value))
  }

  mutating func finish(confidence: Double = 1) -> Interpretation {
    // An utterance may end within a value while it is still being spoken.
    self.endEntity()
    if let last = self.segments.indices.last {
      self.segments[last].words = self.segments[last].words.lowerBound..<self.words.count
    }
    return Interpretation(
      words: self.words, segments: self.segments, edits: self.edits, cost: self.cost, confidence: confidence)
  }
}

/// The exponential function, for files that must not see all of Foundation.
func exponential(_ value: Float) -> Float { exp(value) }
