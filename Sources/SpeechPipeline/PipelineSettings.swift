/// The constants of the pipeline.
struct PipelineSettings: Hashable, Sendable {
  /// The samples that the recogniser hears at a time, counted from the start of each utterance.
  var blockLength = 1600
  /// How much of the silence that ended an utterance the next one hears again, so that its detector knows the noise.
  var overlapLength = 3200
  /// How long a word must have been unchanged before it is final.
  var stableFor: Duration? = .milliseconds(600)
  /// How far behind the newest sample a word must end before it is final.
  var lag: Duration = .milliseconds(800)

  static let standard = PipelineSettings()
}
