/// The constants of the pipeline.
struct PipelineSettings: Hashable, Sendable {
  /// The samples that the recogniser hears at a time, counted from the start of each utterance.
  var blockLength = 1600
  /// How much of the silence that ended an utterance the next one hears again, so that its detector knows the noise.
  var overlapLength = 1600
  /// How long a word must have been unchanged before it is final while its utterance goes on; `nil` for never.
  var stableFor: Duration? = .seconds(3)
  /// How far behind the newest sample such a word must end.
  var lag: Duration = .seconds(2)
  /// From which length of an utterance a quiet moment is good enough to end it.
  var splitAfter: Duration = .seconds(20)
  /// How long an utterance may be: the end of one costs time in proportion to its length.
  var splitLimit: Duration = .seconds(30)

  /// What measured best.
  static let standard = PipelineSettings()
}
