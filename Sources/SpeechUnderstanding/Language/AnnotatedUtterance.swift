/// What somebody said, with intents and entities: the form in which text understanding and training data speak.
///
/// It is the subset of SAL without alternatives (protocol document, sections 2.6 and 4.1), one utterance a line:
/// `*book fly to [new york|New York](city) *pay and pay [later](time)`.
public struct AnnotatedUtterance: Hashable, Sendable {
  /// The part of an utterance that has one intent.
  public struct Segment: Hashable, Sendable {
    /// The intent; `_` means none.
    public var intent: String
    /// All words, also those of entities.
    public var words: [String]
    /// The entities, in the order of their words.
    public var entities: [Entity]

    /// Creates a segment.
    public init(intent: String, words: [String] = [], entities: [Entity] = []) {
      self.intent = intent
      self.words = words
      self.entities = entities
    }
  }

  /// A value that somebody said.
  public struct Entity: Hashable, Sendable {
    /// The name.
    public var name: String
    /// The words as they were said, with single blanks between them.
    public var value: String
    /// The normal form, if it was given.
    public var normalizedValue: String?
    /// The places of the words among those of the segment, from 0.
    public var words: Range<Int>

    /// Creates an entity.
    public init(name: String, value: String, normalizedValue: String? = nil, words: Range<Int>) {
      self.name = name
      self.value = value
      self.normalizedValue = normalizedValue
      self.words = words
    }
  }

  /// The segments, in order.
  public var segments: [Segment]

  /// Creates an utterance.
  public init(_ segments: [Segment] = []) {
    self.segments = segments
  }
}

extension AnnotatedUtterance {
  /// The utterance as one line: `*intent some words [spoken value|normalised value](entity)`.
  ///
  /// Characters that mean something have a backslash before them, so that the line can be read back.
  public var text: String { self.segments.map(\.text).joined(separator: " ") }

  /// Only what was said, without any annotation.
  public var plainText: String { self.segments.flatMap(\.words).joined(separator: " ") }
}

extension AnnotatedUtterance.Segment {
  /// The segment as one line.
  public var text: String {
    var parts = ["*\(self.intent)"]
    var index = 0
    for entity in self.entities.sorted(by: { $0.words.lowerBound < $1.words.lowerBound }) {
      // Entities that overlap others or lie outside the words cannot be written.
      guard entity.words.lowerBound >= index, entity.words.upperBound <= self.words.count,
        !entity.words.isEmpty
      else { continue }
      parts += self.words[index..<entity.words.lowerBound].map(AnnotatedUtterance.escaped)
      let spoken = self.words[entity.words].map(AnnotatedUtterance.escaped).joined(separator: " ")
      let normal = entity.normalizedValue.map { "|\(AnnotatedUtterance.escapedValue($0))" } ?? ""
      parts.append("[\(spoken)\(normal)](\(entity.name))")
      index = entity.words.upperBound
    }
    parts += self.words[index...].map(AnnotatedUtterance.escaped)
    return parts.joined(separator: " ")
  }
}

extension AnnotatedUtterance {
  fileprivate static func escaped(_ word: String) -> String {
    var result = ""
    for scalar in word.unicodeScalars {
      if "[]()*|\\".unicodeScalars.contains(scalar) || scalar == "#" && result.isEmpty { result += "\\" }
      result.unicodeScalars.append(scalar)
    }
    return result
  }

  fileprivate static func escapedValue(_ value: String) -> String {
    var result = ""
    for scalar in value.unicodeScalars {
      if "]\\".unicodeScalars.contains(scalar) { result += "\\" }
      result.unicodeScalars.append(scalar)
    }
    return result
  }
}
