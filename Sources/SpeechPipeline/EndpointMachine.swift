/// Decides from voice activity where utterances of the decoder and segments end.
///
/// States: *idle* (no speech in this utterance yet), *speaking*. An utterance ends as soon as the detector says
/// that speech has ended. A segment ends with it if the silence is long enough by then, or later, while the next
/// utterance is idle. Sounds without a word do not interrupt the silence. Speech without a pause is cut into
/// utterances of bounded length, where it is quiet if possible; that ends no segment. All times are counts of samples.
struct EndpointMachine: Hashable, Sendable {
  /// What to do after a block.
  enum Action: Hashable, Sendable {
    /// Nobody has spoken since the utterance began.
    case wait
    /// Somebody is speaking.
    case listen
    /// Speech has ended: finish the utterance.
    case endUtterance
    /// Speech goes on, but the utterance is too long: finish it here.
    case splitUtterance
    /// It has been silent for so long that what was said before this utterance is complete.
    case endSegment
  }

  private enum State: Hashable, Sendable {
    case idle
    case speaking
  }

  private let silenceLimit: Int64?
  private let hangover: Int64
  private let splitAfter: Int64
  private let splitLimit: Int64
  private var state = State.idle
  private var length: Int64 = 0
  private var loudest = 0.0
  /// The silence since the last words of the open segment; `nil` if no segment is open.
  private var silence: Int64?

  /// Creates the machine for a context.
  ///
  /// - Parameters:
  ///   - silenceLimit: The silence that ends a segment; `nil` for never.
  ///   - hangover: The silence that has passed when the detector first says that speech has ended.
  ///   - splitAfter: How long an utterance is when a quiet moment begins to be good enough to end it.
  ///   - splitLimit: How long an utterance may be.
  init(silenceLimit: Int64?, hangover: Int64, splitAfter: Int64 = .max, splitLimit: Int64 = .max) {
    self.silenceLimit = silenceLimit
    self.hangover = hangover
    self.splitAfter = splitAfter
    self.splitLimit = splitLimit
  }

  /// Whether somebody has spoken in this utterance.
  var isSpeaking: Bool { self.state == .speaking }

  /// Takes what the detector says at the end of a block.
  ///
  /// - Parameters:
  ///   - count: The length of the block.
  ///   - energy: The mean square of its samples.
  mutating func heard(count: Int64, energy: Double, speech: Bool) -> Action {
    self.silence = self.silence.map { $0.addingReportingOverflow(count).partialValue }
    switch (self.state, speech) {
    case (.idle, true):
      self.state = .speaking
      self.length = count
      self.loudest = energy
      return .listen
    case (.speaking, true):
      self.length = self.length.addingReportingOverflow(count).partialValue
      self.loudest = max(self.loudest, energy)
      return self.isTooLong(energy: energy) ? .splitUtterance : .listen
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
  ///   - wasSplit: Whether speech goes on.
  ///   - overlap: How many samples the next utterance hears again.
  /// - Returns: Whether the segment is over too.
  mutating func endedUtterance(newWords: Bool, wasSplit: Bool = false, overlap: Int64) -> Bool {
    self.state = .idle
    if wasSplit {
      if newWords { self.silence = 0 }
      return false
    }
    if newWords { self.silence = self.hangover }
    if self.isSegmentOver { return true }
    self.silence = self.silence.map { $0 - overlap }
    return false
  }

  /// Takes that the segment was ended.
  mutating func endedSegment() {
    self.silence = nil
  }

  private func isTooLong(energy: Double) -> Bool {
    // A tenth of the loudest amplitude is a gap between words or the closure of a consonant.
    self.length >= self.splitLimit || self.length >= self.splitAfter && energy * 100 <= self.loudest
  }

  private var isSegmentOver: Bool {
    guard let silence = self.silence, let limit = self.silenceLimit else { return false }
    return silence >= limit
  }
}
