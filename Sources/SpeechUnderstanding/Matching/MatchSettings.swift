/// How tolerant matching is; all costs are comparable to each other, 1 is about one wrong word of many.
public struct MatchSettings: Hashable, Sendable {
  /// The cost of a filler word ("please", "uh") that the grammar does not expect.
  public var fillerCost: Float = 0.05
  /// The cost of any other word that the grammar does not expect.
  public var skipCost: Float = 1
  /// The cost of a word of the grammar that was not said.
  public var missingCost: Float = 1.1
  /// The cost of a value of the grammar that was not said at all.
  public var missingValueCost: Float = 1.05
  /// The cost of a value that was not understood, in addition to skipping the words in its place.
  public var replacedValueCost: Float = 0.3
  /// The most that taking a word for a similar one costs; equal-sounding words cost little.
  public var replacementCost: Float = 1
  /// The cost of a further sentence in the same utterance.
  public var sentenceCost: Float = 0.5
  /// How much the templates' weights count against the costs of edits.
  public var weightFactor: Float = 0.1
  /// Hypotheses that are worse than the best by more than this are dropped.
  public var beam: Float = 4
  /// The most hypotheses that are followed at a time.
  public var maximumHypotheses = 256
  /// The most edits for each word of the utterance; beyond it, nothing was understood.
  public var maximumEditsPerWord: Float = 0.4
  /// Whether edits are tolerated at all.
  public var toleratesEdits = true

  /// Creates the default settings.
  public init() {}
}
