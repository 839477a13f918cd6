/// The figures of an evaluation: rows over groups of scores, what was confused, and the worst recordings.
struct EvaluationReport: Sendable {
  /// The figures of a group.
  struct Row: Hashable, Sendable {
    var condition: String
    /// The domain or the voice of the group; `nil` in both for all.
    var domain: String?
    var voice: String?

    /// Recordings of what the grammar covers.
    var covered = 0
    var intentsRight = 0
    var accepted = 0
    /// Nothing was recognised, not even words.
    var unheard = 0
    /// Covered speech that was taken for none.
    var rejected = 0
    /// Recordings of what the grammar does not cover.
    var uncovered = 0
    var falselyAccepted = 0
    /// Recordings of covered speech whose words are known, and how many of them are all right.
    var transcribed = 0
    var sentencesRight = 0
    var words = 0
    var wordErrors = 0

    var intentAccuracy: Double? { Self.ratio(self.intentsRight, self.covered) }
    var acceptance: Double? { Self.ratio(self.accepted, self.covered) }
    var sentenceAccuracy: Double? { Self.ratio(self.sentencesRight, self.transcribed) }
    var wordErrorRate: Double? { Self.ratio(self.wordErrors, self.words) }
    var unheardRate: Double? { Self.ratio(self.unheard, self.covered) }
    var rejectionRate: Double? { Self.ratio(self.rejected, self.covered) }
    var falseAcceptance: Double? { Self.ratio(self.falselyAccepted, self.uncovered) }

    private static func ratio(_ part: Int, _ whole: Int) -> Double? {
      whole > 0 ? Double(part) / Double(whole) : nil
    }

    mutating func count(_ score: EvaluationScore) {
      guard score.label.isInGrammar else {
        self.uncovered += 1
        self.falselyAccepted += score.isRejected ? 0 : 1
        return
      }
      self.covered += 1
      self.intentsRight += score.isIntentRight ? 1 : 0
      self.accepted += score.isAccepted ? 1 : 0
      self.unheard += score.hearing.words.isEmpty ? 1 : 0
      self.rejected += score.isRejected ? 1 : 0
      if let errors = score.wordErrors, let words = score.label.words {
        self.transcribed += 1
        self.sentencesRight += errors == 0 ? 1 : 0
        self.words += words.count
        self.wordErrors += errors
      }
    }
  }

  /// Something that was taken for something else, and how often.
  struct Confused: Hashable, Sendable {
    var confusion: EvaluationScore.Confusion
    var count: Int
  }

  /// A recording that was not understood.
  struct Missed: Hashable, Sendable {
    var file: String
    /// In how many conditions it was not understood, and in how many it was heard.
    var failures: Int
    var trials: Int
    /// What was said and what was understood in the first of them.
    var example: EvaluationScore
  }

  /// Over all scores, one row for each condition, in the order in which they came.
  var conditions: [Row]
  /// For each domain and condition; empty if there is one domain.
  var domains: [Row]
  /// For each voice and condition; empty if there is one voice.
  var voices: [Row]
  var confusedIntents: [Confused]
  var confusedEntities: [Confused]
  var worst: [Missed]
  /// Whether there is speech that the grammar does not cover.
  var hasUncovered: Bool { self.conditions.contains { $0.uncovered > 0 } }

  init(_ scores: [EvaluationScore]) {
    self.conditions = Self.rows(scores) { Row(condition: $0.condition) }
    let domains = Self.rows(scores) { Row(condition: $0.condition, domain: $0.label.domain ?? "") }
    self.domains = Set(domains.map(\.domain)).count > 1 ? domains : []
    let voices = Self.rows(scores) { Row(condition: $0.condition, voice: $0.label.voice ?? "") }
    self.voices = Set(voices.map(\.voice)).count > 1 ? voices : []
    self.confusedIntents = Self.counted(
      scores.lazy.filter { !$0.isIntentRight }.map {
        EvaluationScore.Confusion(name: "", expected: $0.expectedIntents, understood: $0.understoodIntents)
      })
    self.confusedEntities = Self.counted(scores.lazy.flatMap(\.confusedEntities))
    self.worst = Self.worst(scores)
  }

  /// Groups scores by the empty row that each belongs to; groups of the same name stay together.
  private static func rows(_ scores: [EvaluationScore], by group: (EvaluationScore) -> Row) -> [Row] {
    var order: [Row] = []
    var rows: [Row: Row] = [:]
    for score in scores {
      let key = group(score)
      if rows[key] == nil { order.append(key) }
      rows[key, default: key].count(score)
    }
    var places: [String: Int] = [:]
    for key in order where places[key.group] == nil { places[key.group] = places.count }
    // The order within a group is that in which its conditions came.
    return order.enumerated()
      .sorted { (places[$0.element.group] ?? 0, $0.offset) < (places[$1.element.group] ?? 0, $1.offset) }
      .compactMap { rows[$0.element] }
  }

  private static func counted(_ confusions: some Sequence<EvaluationScore.Confusion>) -> [Confused] {
    var counts: [EvaluationScore.Confusion: Int] = [:]
    for confusion in confusions { counts[confusion, default: 0] += 1 }
    return counts.map { Confused(confusion: $0.key, count: $0.value) }
      .sorted { left, right in
        left.count != right.count
          ? left.count > right.count : left.confusion.sortKey < right.confusion.sortKey
      }
  }

  private static func worst(_ scores: [EvaluationScore]) -> [Missed] {
    var order: [String] = []
    var missed: [String: Missed] = [:]
    var trials: [String: Int] = [:]
    for score in scores {
      trials[score.label.file, default: 0] += 1
      guard !score.isAccepted else { continue }
      if missed[score.label.file] == nil { order.append(score.label.file) }
      missed[
        score.label.file, default: Missed(file: score.label.file, failures: 0, trials: 0, example: score)
      ]
      .failures += 1
    }
    return order.enumerated().compactMap { offset, file -> (offset: Int, missed: Missed)? in
      guard var entry = missed[file] else { return nil }
      entry.trials = trials[file] ?? entry.failures
      return (offset, entry)
    }
    .sorted { left, right in
      left.missed.failures != right.missed.failures
        ? left.missed.failures > right.missed.failures : left.offset < right.offset
    }
    .map(\.missed)
  }
}

extension EvaluationReport.Row {
  /// What the row is about, beside its condition.
  var group: String { self.domain ?? self.voice ?? "" }
}

extension EvaluationScore.Confusion {
  fileprivate var sortKey: String { "\(self.name)\t\(self.expected ?? "")\t\(self.understood ?? "")" }
}
