import VoiceCore

/// Shows words on a terminal while they are spoken: those that may still change are dim, final ones settle.
///
/// Rows that hold only final words, and are full, are left to the terminal and never touched again; what is below them is drawn
/// anew with every change.
struct LivePresenter: RecognitionPresenter {
  private let console: Console
  private let lines: StateLines
  private let namesSources: Bool
  private let margin: String
  private let hasLiveInput: Bool
  private var block: LiveBlock
  private var open: [Int: TranscriptSegment] = [:]
  private var done: Set<Int> = []
  /// How many words of the first open segment are in rows that stay.
  private var settledWords = 0
  /// The row below the words.
  private var status: StyledText?
  private var isLost = false
  private var hasFailed = false

  /// Creates a presenter.
  ///
  /// - Parameters:
  ///   - namesSources: Whether the name of each input stands above its words.
  ///   - margin: How many columns stay empty before what belongs to an input.
  ///   - hasLiveInput: Whether somebody is to be told that they are heard.
  init(console: Console, namesSources: Bool, margin: Int, hasLiveInput: Bool) {
    self.console = console
    self.lines = StateLines(symbols: console.symbols)
    self.namesSources = namesSources
    self.margin = String(repeating: " ", count: margin)
    self.hasLiveInput = hasLiveInput
    self.block = LiveBlock(showsColor: console.output.showsColor)
  }

  mutating func began(_ input: RecognitionInput) {
    self.open = [:]
    self.done = []
    self.settledWords = 0
    self.isLost = false
    self.hasFailed = false
    let name = StyledText(input.name, .bold).wrapped(to: self.console.output.size.width - 1)
    self.draw(above: self.namesSources ? name : [])
  }

  mutating func show(_ update: RecognitionUpdate) {
    switch update {
    case .recordingStarted:
      guard self.hasLiveInput else { return }
      self.status = StyledText(
        "listening \(self.console.symbols.dot) Ctrl-C stops and waits for the last words", .dim)
      self.draw()
    case .started:
      break
    case .segment(let segment):
      self.show(segment)
    case .recovered(let recovery):
      self.isLost = false
      self.status = nil
      self.report([self.lines.recovered(recovery)])
    case .degraded(let degradation):
      self.isLost = false
      self.status = nil
      self.report([self.lines.degraded(degradation)])
    case .failed(let failure):
      self.show(failure)
    case .finished(let contextId):
      self.finish(isKnown: contextId != nil)
    }
  }

  mutating func stopping() {
    self.status = StyledText(
      "waiting for the last words \(self.console.symbols.dot) Ctrl-C again ends at once", .dim)
    self.draw()
  }

  mutating func ended() {
    let output = self.console.output
    output.write(self.block.clear(on: output.size))
  }

  private mutating func show(_ segment: TranscriptSegment) {
    guard !self.done.contains(segment.segmentId) else { return }
    if !self.isLost, !segment.words.isEmpty { self.clearListening() }
    self.open[segment.segmentId] = segment
    let isFirst = segment.segmentId == self.open.keys.min()
    if segment.isFinal {
      let rest = isFirst ? self.settledWords : 0
      var rows = self.rows(of: segment, from: rest).map(\.text)
      if rest > 0 { rows += self.summary(of: segment) }
      self.open[segment.segmentId] = nil
      self.done.insert(segment.segmentId)
      if isFirst { self.settledWords = 0 }
      self.draw(above: rows)
    } else {
      self.draw(above: isFirst ? self.settle(segment) : [])
    }
  }

  /// Takes the full rows of final words out of the part that changes.
  private mutating func settle(_ segment: TranscriptSegment) -> [StyledText] {
    // An intent and entities may still change, and they stand among the words.
    guard segment.intent.isEmpty, segment.entities.isEmpty else { return [] }
    var settled: [StyledText] = []
    for row in self.rows(of: segment, from: self.settledWords).dropLast() {
      guard segment.words[row.words].allSatisfy(\.isFinal) else { break }
      self.settledWords = row.words.upperBound
      settled.append(row.text)
    }
    return settled
  }

  private mutating func show(_ failure: VoiceFailure) {
    if case .automatic(let retry) = failure.recovery {
      if self.isLost {
        self.status = self.lines.trying(retry)
        self.draw()
      } else {
        self.isLost = true
        self.report([self.lines.lost(failure, retry)])
      }
      return
    }
    if !failure.isNotice {
      self.hasFailed = true
      self.status = nil
    }
    self.report(FailurePresentation(failure, symbols: self.console.symbols).lines)
  }

  private mutating func finish(isKnown: Bool) {
    self.status = nil
    var rows: [StyledText] = []
    for (index, id) in self.open.keys.sorted().enumerated() {
      guard let segment = self.open[id] else { continue }
      rows += self.rows(of: segment, from: index == 0 ? self.settledWords : 0).map(\.text)
    }
    let heardNothing = self.open.isEmpty && self.done.isEmpty
    if heardNothing, isKnown, !self.hasFailed { rows += self.indented(StyledText("(no words heard)", .dim)) }
    self.open = [:]
    self.draw(above: rows)
  }

  private mutating func clearListening() {
    if self.hasLiveInput, self.done.isEmpty, self.open.isEmpty { self.status = nil }
  }

  /// Shows lines that are not results: above the words, and where standard error goes if that is elsewhere.
  private mutating func report(_ lines: [StyledText]) {
    if !self.console.error.isTerminal {
      for line in lines { self.console.error.line(line) }
    }
    self.draw(above: lines.flatMap(self.indented))
  }

  private mutating func draw(above lines: [StyledText] = []) {
    let output = self.console.output
    let size = output.size
    var rows: [StyledText] = []
    for (index, id) in self.open.keys.sorted().enumerated() {
      guard let segment = self.open[id] else { continue }
      rows += self.rows(of: segment, from: index == 0 ? self.settledWords : 0).map(\.text)
    }
    if let status { rows.append(StyledText(self.margin) + status) }
    output.write(self.block.draw(rows, above: lines, on: size))
  }

  // MARK: Words into rows

  private struct Row {
    var text: StyledText
    var words: Range<Int>
  }

  private func indented(_ text: StyledText) -> [StyledText] {
    (StyledText(self.margin) + text).wrapped(
      to: self.console.output.size.width - 1, indent: self.margin.count + 2)
  }

  private func rows(of segment: TranscriptSegment, from first: Int) -> [Row] {
    let limit = self.console.output.size.width - 1
    var rows: [Row] = []
    var row = Row(text: StyledText(self.margin), words: first..<first)
    var isEmpty = true
    if first == 0, !segment.words.isEmpty, let tag = segment.tag {
      row.text.append(tag.cut(to: limit - self.margin.count))
      isEmpty = false
    }
    let marksChange = !self.console.output.showsColor
    for index in segment.words.indices.dropFirst(first) {
      var word = segment.styledWord(index, marksChange: marksChange)
      if index == segment.words.count - 1, let remark = segment.remark { word.append(remark) }
      if !isEmpty, row.text.width + 1 + word.width > limit {
        rows.append(row)
        row = Row(text: StyledText(self.margin), words: index..<index)
        isEmpty = true
      }
      if !isEmpty { row.text.append(" ") }
      row.text.append(word.cut(to: limit - self.margin.count))
      row.words = row.words.lowerBound..<(index + 1)
      isEmpty = false
    }
    return isEmpty ? rows : rows + [row]
  }

  /// What is understood of a segment whose first rows cannot be changed any more.
  private func summary(of segment: TranscriptSegment) -> [StyledText] {
    guard let tag = segment.tag else { return [] }
    var line = StyledText("\(self.console.symbols.arrow) ", .dim) + tag
    for entity in segment.entities {
      line.append(" [\(entity.value)]", .cyan)
      line.append("(\(entity.type))", .dim)
    }
    return self.indented(line)
  }
}
