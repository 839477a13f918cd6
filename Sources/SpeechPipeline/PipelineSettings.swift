/// The constants of the pipeline.
///
/// The delays of final words were chosen with `VOICE_MEASURE=LIST swift test --filter RecognitionMeasurements` on 167
/// recordings (the 12 of pocketsphinx-testdata that have a text and 155 of asterisk-core-sounds-en, 1485 words, one
/// pass with best path). Errors, and the time from the end of a word until it is final (90 % of the words):
///
///     no word before the end of its utterance        25.1 %   4.3 s
///     unchanged for 3.0 s and 2.0 s behind           25.7 %   3.1 s
///     unchanged for 1.0 s and 2.0 s behind           25.9 %   2.1 s
///     unchanged for 0.6 s and 0.8 s behind           26.7 %   1.1 s
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
