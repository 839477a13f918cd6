public import VoiceCore

/// A transcript in runs of words that look alike: those of one entity, and those between entities.
///
/// Entities come from a recogniser that may be ahead of or behind the words: what lies outside of the words is cut off, an
/// entity without any word is left out, and of two that share words the longer one stays, or the first.
public struct TranscriptRuns: Hashable, Sendable {
  /// How a run looks.
  public enum Style: Hashable, Sendable {
    /// Words that will not change any more.
    case settled
    /// Words that may still change; shown dim.
    case tentative
  }

  /// Words that look alike.
  public struct Run: Hashable, Sendable, Identifiable {
    /// The position of the first word.
    public var id: Int
    /// The words with spaces between them.
    public var text: String
    /// How it looks.
    public var style: Style
    /// The entity that the words belong to.
    public var entity: TranscriptEntity?
    /// Which of the palette's colours marks the entity: the same for all entities of one type in a transcript.
    public var colour: Int?
  }

  /// The runs, in the order of their words.
  public let runs: [Run]

  /// Makes runs of words and entities.
  public init(words: [TranscriptWord], entities: [TranscriptEntity]) {
    let entities = Self.fitting(entities, count: words.count)
    var types: [String] = []
    for entity in entities where !types.contains(entity.type) { types.append(entity.type) }
    var runs: [Run] = []
    var index = 0
    while index < words.count {
      let entity = entities.first { $0.words.contains(index) }
      let limit = entity?.words.upperBound ?? entities.first { $0.words.lowerBound > index }?.words.lowerBound
      let style = words[index].style
      let end = words[index..<(limit ?? words.count)].firstIndex { $0.style != style } ?? limit ?? words.count
      runs.append(
        Run(
          id: index, text: words[index..<end].map(\.text).joined(separator: " "), style: style,
          entity: entity,
          colour: entity.flatMap { types.firstIndex(of: $0.type) }))
      index = end
    }
    self.runs = runs
  }

  /// Makes runs of a segment or result.
  public init(_ content: some TranscriptContent) {
    self.init(words: content.transcriptWords, entities: content.transcriptEntities)
  }

  /// All words.
  public var text: String { self.runs.map(\.text).joined(separator: " ") }

  /// What a screen reader says: the words, then each value with its name, and that more may come.
  ///
  /// A value is said only where it differs from its words.
  public var accessibilityText: String {
    guard !self.runs.isEmpty else { return "" }
    var parts = [self.text]
    var told: [TranscriptEntity] = []
    for run in self.runs {
      guard let entity = run.entity, !told.contains(entity) else { continue }
      told.append(entity)
      let words = self.runs.filter { $0.entity == entity }.map(\.text).joined(separator: " ")
      let type = entity.type.split { $0 == "_" || $0 == "-" || $0 == "." }.joined(separator: " ")
      parts.append(
        words.lowercased() == entity.value.lowercased()
          ? "\(type): \(words)" : "\(type): \(words), \(entity.value)")
    }
    if self.runs.contains(where: { $0.style == .tentative }) { parts.append("not final") }
    return parts.joined(separator: "; ")
  }

  private static func fitting(_ entities: [TranscriptEntity], count: Int) -> [TranscriptEntity] {
    var cut: [TranscriptEntity] = []
    for entity in entities {
      var entity = entity
      entity.words = entity.words.clamped(to: 0..<count)
      if !entity.words.isEmpty { cut.append(entity) }
    }
    var fitting: [TranscriptEntity] = []
    for (_, entity) in cut.enumerated().sorted(by: {
      ($0.element.words.count, $1.offset) > ($1.element.words.count, $0.offset)
    }) where !fitting.contains(where: { $0.words.overlaps(entity.words) }) {
      fitting.append(entity)
    }
    return fitting.sorted { $0.words.lowerBound < $1.words.lowerBound }
  }
}

extension TranscriptWord {
  var style: TranscriptRuns.Style { self.isFinal ? .settled : .tentative }
}
