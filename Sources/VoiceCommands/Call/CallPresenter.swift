import CallSignaling
import Calls
import VoiceAudio
import VoiceCore

/// What is to be shown of a call.
enum CallUpdate: Sendable {
  case state(CallState)
  case measured(CallQualitySample)
  /// A key was sent, or pressed by the other side.
  case key(String, isSent: Bool)
  case muted(Bool)
  case heldByOtherSide(Bool)
  /// What the other side says.
  case transcript(RecognitionUpdate)
  /// Something failed; the call goes on.
  case warned(VoiceFailure)
  /// The command ends with it.
  case failed(VoiceFailure)
  /// A second passed since both sides began to talk.
  case talked(Duration)
  /// Everything is over.
  case ended(CallSummary)
}

/// Shows a call, for one kind of reader.
protocol CallPresenter: Sendable {
  mutating func show(_ update: CallUpdate)
}

/// Writes the objects of `--json`.
struct JSONCallPresenter: CallPresenter {
  private let output: Console.Stream
  private let id: String
  private var transcript: JSONPresenter

  init(console: Console, call id: String, name: String) {
    self.output = console.output
    self.id = id
    self.transcript = JSONPresenter(console: console)
    self.transcript.began(.call(name))
  }

  mutating func show(_ update: CallUpdate) {
    switch update {
    case .state(let state): self.write(EventObject.call(state, id: self.id))
    case .measured(let sample): self.write(EventObject.quality(sample, id: self.id))
    case .key(let key, let isSent):
      self.write(
        .object([
          "event": .string("key"), "key": .string(key), "direction": .string(isSent ? "sent" : "received"),
          "callId": .string(self.id),
        ]))
    case .muted(let isMuted):
      self.write(
        .object(["event": .string("muted"), "muted": .bool(isMuted), "callId": .string(self.id)]))
    case .heldByOtherSide(let isHeld):
      self.write(
        .object([
          "event": .string("heldByOtherSide"), "held": .bool(isHeld), "callId": .string(self.id),
        ]))
    case .transcript(let update): self.transcript.show(update)
    case .warned(let failure): self.write(EventObject.warning(failure))
    case .failed(let failure): self.write(EventObject.failure(failure))
    case .talked: break
    case .ended(let summary):
      if summary.talked != nil { self.write(EventObject.report(summary, id: self.id)) }
    }
  }

  private func write(_ object: JSONValue) {
    self.output.write(object.text + "\n")
  }
}

/// Writes a line per state and per sentence.
struct PlainCallPresenter: CallPresenter {
  private let console: Console
  private var transcript: PlainPresenter

  init(console: Console, name: String) {
    self.console = console
    self.transcript = PlainPresenter(console: console, prefix: .none)
    self.transcript.began(.call(name))
  }

  mutating func show(_ update: CallUpdate) {
    let lines = CallLines(symbols: self.console.symbols)
    switch update {
    case .state(let state): self.console.output.line(lines.state(state))
    case .key(let key, let isSent): self.console.output.line(lines.key(key, isSent: isSent))
    case .muted(let isMuted): self.console.output.line(lines.muted(isMuted))
    case .heldByOtherSide(let isHeld): self.console.output.line(lines.heldByOtherSide(isHeld))
    case .transcript(let update): self.transcript.show(update)
    case .warned(let failure): self.console.error.line(lines.warning(failure), indent: 2)
    case .failed(let failure):
      FailurePresentation(failure, symbols: self.console.symbols).write(to: self.console.error)
    case .measured, .talked: break
    case .ended(let summary):
      if let line = lines.summary(summary) { self.console.output.line(line) }
    }
  }
}

/// The lines that tell a person of a call.
struct CallLines: Hashable, Sendable {
  let symbols: Console.Symbols

  func state(_ state: CallState) -> StyledText {
    switch state {
    case .NEW, .CONNECTING: StyledText("Connecting", .dim)
    case .RINGING: StyledText("Ringing", .dim)
    case .ACTIVE: StyledText("Talking", .green)
    case .HELD: StyledText("On hold", .yellow)
    case .RECONNECTING(let reason), .DROPPED(let reason):
      StyledText("Reconnecting (\(reason.rawValue))", .yellow)
    case .DONE(let reason): StyledText("Ended" + (reason?.cause.map { " (\($0))" } ?? ""), .dim)
    }
  }

  func key(_ key: String, isSent: Bool) -> StyledText {
    StyledText(isSent ? "Sent key \(key)" : "The other side pressed \(key)", .cyan)
  }

  func muted(_ isMuted: Bool) -> StyledText { StyledText(isMuted ? "Muted" : "No longer muted", .yellow) }

  func heldByOtherSide(_ isHeld: Bool) -> StyledText {
    StyledText(isHeld ? "The other side holds the call" : "The other side is back", .yellow)
  }

  func warning(_ failure: VoiceFailure) -> StyledText {
    StyledText("\(failure.message) [\(failure.code)]", .yellow)
  }

  /// `nil` for a call in which nobody talked.
  func summary(_ summary: CallSummary) -> StyledText? {
    guard let talked = summary.talked else { return nil }
    var facts = ["Talked \(Phrases.callTime(talked))"]
    if let score = summary.score {
      facts.append("\(Phrases.score(score)) (\(MOSCalculator.getQuality(mos: score).rawValue))")
    }
    if let loss = summary.loss { facts.append("loss \(Phrases.percent(loss))") }
    if let roundTrip = summary.roundTrip { facts.append("round trip \(Phrases.milliseconds(roundTrip))") }
    if let codec = summary.codec { facts.append(codec) }
    if summary.outages > 0 { facts.append("\(Phrases.count(summary.outages, "outage"))") }
    return StyledText(facts.joined(separator: " \(self.symbols.dot) "), .bold)
  }
}

extension RecognitionInput {
  /// What the other side of a call says, for presenters; it is never opened.
  static func call(_ name: String) -> RecognitionInput {
    RecognitionInput(name: name, source: SilenceSource(duration: .zero), isOpenEnded: true)
  }
}

extension EventObject {
  /// `{"event":"call","state":"ACTIVE","callId":…}`; at the end with cause and SIP status.
  static func call(_ state: CallState, id: String) -> JSONValue {
    var fields: [JSONValue.Field] = [
      .init(name: "event", value: .string("call")), .init(name: "state", value: .string(state.value)),
      .init(name: "callId", value: .string(id)),
    ]
    if case .DONE(let reason?) = state {
      if let cause = reason.cause { fields.append(.init(name: "cause", value: .string(cause))) }
      if let code = reason.causeCode { fields.append(.init(name: "causeCode", value: .integer(code))) }
      if let code = reason.sipCode { fields.append(.init(name: "sipCode", value: .integer(code))) }
      if let text = reason.sipReason { fields.append(.init(name: "sipReason", value: .string(text))) }
    }
    return .object(fields)
  }

  /// `{"event":"quality",…}`: times in seconds, loss from 0 to 1; what is not known is `null`.
  static func quality(_ sample: CallQualitySample, id: String) -> JSONValue {
    .object([
      "event": .string("quality"), "callId": .string(id),
      "codec": sample.codec.map(JSONValue.string) ?? .null,
      "roundTrip": self.time(sample.roundTrip), "jitter": self.time(sample.jitter),
      "loss": sample.loss.map(JSONValue.decimal) ?? .null,
      "mos": sample.score.map(JSONValue.decimal) ?? .null,
      "quality": .string(MOSCalculator.getQuality(mos: sample.score ?? .nan).rawValue),
    ])
  }

  /// `{"event":"report",…}`, the last object of a call in which somebody talked.
  static func report(_ summary: CallSummary, id: String) -> JSONValue {
    .object([
      "event": .string("report"), "callId": .string(id), "duration": self.time(summary.talked),
      "codec": summary.codec.map(JSONValue.string) ?? .null, "roundTrip": self.time(summary.roundTrip),
      "loss": summary.loss.map(JSONValue.decimal) ?? .null,
      "mos": summary.score.map(JSONValue.decimal) ?? .null,
      "outages": .integer(summary.outages),
    ])
  }

  private static func time(_ duration: Duration?) -> JSONValue {
    duration.map { .decimal($0 / .seconds(1)) } ?? .null
  }
}
