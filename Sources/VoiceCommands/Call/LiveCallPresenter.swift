import CallSignaling
import VoiceCore

/// Shows a call on a terminal: what happened above, and in the last row what is.
struct LiveCallPresenter: CallPresenter {
  private let console: Console
  private let lines: CallLines
  private let name: String
  private let takesKeys: Bool
  private var block: LiveBlock
  private var state = CallState.NEW
  private var sample: CallQualitySample?
  private var talked: Duration?
  private var isMuted = false
  private var isHeldByOtherSide = false
  private var open: [Int: TranscriptSegment] = [:]

  /// - Parameter takesKeys: Whether somebody is to be told which keys do what.
  init(console: Console, name: String, takesKeys: Bool) {
    self.console = console
    self.lines = CallLines(symbols: console.symbols)
    self.name = name
    self.takesKeys = takesKeys
    self.block = LiveBlock(showsColor: console.output.showsColor)
  }

  mutating func show(_ update: CallUpdate) {
    switch update {
    case .state(let state):
      self.state = state
      self.draw(above: [self.lines.state(state)])
    case .measured(let sample):
      self.sample = sample
      self.draw()
    case .key(let key, let isSent): self.draw(above: [self.lines.key(key, isSent: isSent)])
    case .muted(let isMuted):
      self.isMuted = isMuted
      self.draw()
    case .heldByOtherSide(let isHeld):
      self.isHeldByOtherSide = isHeld
      self.draw(above: [self.lines.heldByOtherSide(isHeld)])
    case .transcript(let update): self.show(update)
    case .warned(let failure): self.report([self.lines.warning(failure)])
    case .failed(let failure):
      self.report(FailurePresentation(failure, symbols: self.console.symbols).lines)
    case .talked(let duration):
      self.talked = duration
      self.draw()
    case .ended(let summary):
      let output = self.console.output
      output.write(self.block.clear(on: output.size))
      if let line = self.lines.summary(summary) { output.line(line) }
    }
  }

  private mutating func show(_ update: RecognitionUpdate) {
    switch update {
    case .segment(let segment):
      if segment.isFinal {
        self.open[segment.segmentId] = nil
        if !segment.words.isEmpty { self.draw(above: [self.heard(segment)]) }
      } else {
        self.open[segment.segmentId] = segment
        self.draw()
      }
    case .failed(let failure): self.report([self.lines.warning(failure)])
    case .finished:
      let rest = self.open.sorted { $0.key < $1.key }.map(\.value).filter { !$0.words.isEmpty }
      self.open = [:]
      self.draw(above: rest.map(self.heard))
    case .recordingStarted, .started, .recovered, .degraded: break
    }
  }

  private func heard(_ segment: TranscriptSegment) -> StyledText {
    StyledText("\(self.name): ", .dim) + segment.styled
  }

  /// Shows lines that are no results: above the live row, and where standard error goes if that is elsewhere.
  private mutating func report(_ lines: [StyledText]) {
    if !self.console.error.isTerminal {
      for line in lines { self.console.error.line(line) }
    }
    self.draw(above: lines)
  }

  private mutating func draw(above lines: [StyledText] = []) {
    let output = self.console.output
    let size = output.size
    var rows: [StyledText] = []
    for segment in self.open.sorted(by: { $0.key < $1.key }).map(\.value) where !segment.words.isEmpty {
      rows += self.heard(segment).wrapped(to: size.width - 1, indent: 2)
    }
    if let row = self.row { rows.append(row) }
    output.write(
      self.block.draw(rows, above: lines.flatMap { $0.wrapped(to: size.width - 1, indent: 2) }, on: size))
  }

  /// State, time, quality and keys; `nil` once the call is over.
  private var row: StyledText? {
    let style: TextStyle
    var facts: [String] = []
    switch self.state {
    case .DONE: return nil
    case .NEW, .CONNECTING, .RINGING:
      style = .dim
      facts.append("calling")
    case .ACTIVE:
      style = .green
      facts.append("in the call")
    case .HELD:
      style = .yellow
      facts.append("held")
    case .RECONNECTING, .DROPPED:
      style = .yellow
      facts.append("coming back")
    }
    if let talked { facts.append(Phrases.callTime(talked)) }
    if let sample {
      if let roundTrip = sample.roundTrip { facts.append(Phrases.milliseconds(roundTrip)) }
      if let loss = sample.loss { facts.append("loss \(Phrases.percent(loss))") }
      if let score = sample.score { facts.append(Phrases.score(score)) }
      if let codec = sample.codec { facts.append(codec) }
    }
    var row = StyledText("\(self.console.symbols.full) ", style)
    row.append(facts.joined(separator: " \(self.console.symbols.dot) "))
    if self.isMuted { row.append(" \(self.console.symbols.dot) muted", .yellow) }
    if self.isHeldByOtherSide { row.append(" \(self.console.symbols.dot) on hold there", .yellow) }
    if self.takesKeys { row.append("   0-9*# keys  m mute  h hold  q hang up", .dim) }
    return row
  }
}
