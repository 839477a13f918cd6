import VoiceCore

/// Shows what recognition tells, for one kind of reader.
protocol RecognitionPresenter: Sendable {
  /// The next input begins.
  mutating func began(_ input: RecognitionInput)

  mutating func show(_ update: RecognitionUpdate)

  /// The person asked to stop; the last words are still to come.
  mutating func stopping()

  /// Nothing follows.
  mutating func ended()
}

/// Writes the objects of `--json`.
struct JSONPresenter: RecognitionPresenter {
  private let output: Console.Stream
  private var source = ""
  /// The last state of each segment: a state is printed once.
  private var printed: [Int: TranscriptSegment] = [:]

  init(console: Console) {
    self.output = console.output
  }

  mutating func began(_ input: RecognitionInput) {
    self.source = input.name
    self.printed = [:]
  }

  mutating func show(_ update: RecognitionUpdate) {
    switch update {
    case .started(let contextId):
      self.write(EventObject.started(contextId: contextId, source: self.source))
    case .segment(let segment):
      let last = self.printed[segment.segmentId]
      guard last != segment, last?.isFinal != true else { return }
      self.printed[segment.segmentId] = segment
      self.write(EventObject.segment(segment))
    case .failed(let failure):
      self.write(EventObject.failure(failure))
    case .degraded(let degradation):
      self.write(EventObject.degraded(degradation))
    case .finished(let contextId):
      guard let contextId else { return }
      self.write(EventObject.finished(contextId: contextId, source: self.source))
    case .recordingStarted, .recovered:
      break
    }
  }

  mutating func stopping() {}
  mutating func ended() {}

  private func write(_ object: JSONValue) {
    self.output.write(object.text + "\n")
  }
}

/// Writes one line for each segment that is complete, and what else happens to standard error.
struct PlainPresenter: RecognitionPresenter {
  private let console: Console
  private let lines: StateLines
  private let prefix: Prefix
  private var source = ""
  private var open: [Int: TranscriptSegment] = [:]
  private var done: Set<Int> = []
  private var isLost = false

  /// What stands before the words of a segment.
  enum Prefix: Hashable, Sendable {
    case none
    /// The name of the input, as `grep` does with several files.
    case source
    case margin(Int)
  }

  init(console: Console, prefix: Prefix) {
    self.console = console
    self.lines = StateLines(symbols: console.symbols)
    self.prefix = prefix
  }

  mutating func began(_ input: RecognitionInput) {
    self.source = input.name
    self.open = [:]
    self.done = []
    self.isLost = false
  }

  mutating func show(_ update: RecognitionUpdate) {
    switch update {
    case .segment(let segment):
      guard !self.done.contains(segment.segmentId) else { return }
      if segment.isFinal { self.print(segment) } else { self.open[segment.segmentId] = segment }
    case .recovered(let recovery):
      self.isLost = false
      self.console.error.line(self.lines.recovered(recovery), indent: 2)
    case .degraded(let degradation):
      self.isLost = false
      self.console.error.line(self.lines.degraded(degradation), indent: 2)
    case .failed(let failure):
      if case .automatic(let retry) = failure.recovery {
        if !self.isLost { self.console.error.line(self.lines.lost(failure, retry), indent: 2) }
        self.isLost = true
      } else {
        FailurePresentation(failure, symbols: self.console.symbols).write(to: self.console.error)
      }
    case .finished:
      // What was never completed is better than nothing; a failure has said so.
      for segment in self.open.values.sorted(by: { $0.segmentId < $1.segmentId }) where !segment.words.isEmpty
      {
        self.print(segment)
      }
    case .recordingStarted, .started:
      break
    }
  }

  mutating func stopping() {}
  mutating func ended() {}

  private mutating func print(_ segment: TranscriptSegment) {
    self.open[segment.segmentId] = nil
    self.done.insert(segment.segmentId)
    var line = StyledText()
    switch self.prefix {
    case .none: break
    case .source: line.append("\(self.source): ", .dim)
    case .margin(let columns): line.append(String(repeating: " ", count: columns))
    }
    line.append(segment.styled)
    self.console.output.line(line)
  }
}
