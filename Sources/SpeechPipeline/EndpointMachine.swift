/// Decides from voice activity where utterances of the decoder and segments end.
///
/// States: *idle* (no speech in this utterance yet), *speaking*. An utterance ends as soon as the detector says that speech
/// has ended. A segment ends with it if the silence is long enough by then, or later, while the next utterance is idle.
/// Sounds without a word do not interrupt the silence. All times are counts of samples.
struct EndpointMachine: Hashable, Sendable {
  /// What to do after a block.
  enum Action: Hashable, Sendable {
    /// Nobody has spoken since the utterance began.
    case wait
    /// Somebody is speaking.
    case listen
    /// Speech has ended: finish the utterance.
    case endUtterance
    /// It has been silent for so long that what was said before this utterance is complete.
    case endSegment
  }

  private enum State: Hashable, Sendable {
    case idle
    case speaking
  }

  private let silenceLimit: Int64?
  private let hangover: Int64
  private var state = State.idle
  /// The silence since the last words of the open segment; `nil` if no segment is open.
  private var silence: Int64?

  /// Creates the machine for a context.
  ///
  /// - Parameters:
  ///   - silenceLimit: The silence that ends a segment; `nil` for never.
  ///   - hangover: The silence that has passed when the detector first says that speech has ended.
  init(silenceLimit: Int64?, hangover: Int64) {
    self.silenceLimit = silenceLimit
    self.hangover = hangover
  }

  /// Whether somebody has spoken in this utterance.
  var isSpeaking: Bool { self.state == .speaking }

  /// Takes what the detector says at the end of a block of `count` samples.
  mutating func heard(count: Int64, speech: Bool) -> Action {
    self.silence = self.silence.map { $0.addingReportingOverflow(count).partialValue }
    switch (self.state, speech) {
    case (.idle, true):
      self.state = .speaking
      return .listen
    case (.speaking, true):
      return .listen
    case (.speaking, false):
      return .endUtterance
    case (.idle, false):
      return self.isSegmentOver ? .endSegment : .wait
    }
  }

  /// Takes that the utterance was finished.
  ///
  /// - Parameters:
  ///   - newWords: Whether the utterance had words.
  ///   - overlap: How many samples the next utterance hears again.
  /// - Returns: Whether the segment is over too.
  mutating func endedUtterance(newWords: Bool, overlap: Int64) -> Bool {
    self.state = .idle
    if newWords { self.silence = self.hangover }
    if self.isSegmentOver { return true }
    self.silence = self.silence.map { $0 - overlap }
    return false
  }

  /// Takes that the segment was ended.
  mutating func endedSegment() {
    self.silence = nil
  }

  private var isSegmentOver: Bool {
    guard let silence = self.silence, let limit = self.silenceLimit else { return false }
    return silence >= limit
  }
}
