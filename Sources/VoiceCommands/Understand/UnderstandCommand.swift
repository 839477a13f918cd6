import ArgumentParser
import SpeechUnderstanding
import VoiceCore

/// `voice understand`: the intents and entities of a text.
struct UnderstandCommand: ContextCommand {
  static let configuration = CommandConfiguration(
    commandName: "understand",
    abstract: "Finds the intents and entities of a text.",
    usage: "voice understand TEXT … --config FILE [--json]")

  @Argument(help: ArgumentHelp("The words that a user says.", valueName: "text"))
  var text: [String]

  @OptionGroup var interface: InterfaceOptions
  @OptionGroup var common: CommonOptions

  func run(in context: CommandContext) async -> CommandStatus {
    let understanding: Understanding
    do throws(VoiceFailure) {
      understanding = try InterfaceFile(path: self.interface.config)
        .understanding(in: context, json: self.common.json)
    } catch {
      return context.fail(error, json: self.common.json)
    }
    let text = self.text.joined(separator: " ")
    let utterance = understanding.understand(text, in: self.interface.values)
    let output = context.console.output
    if self.common.json {
      for object in EventObject.segments(of: utterance, text: text) { output.write(object.text + "\n") }
    } else if let utterance {
      output.line(StyledText(annotated: utterance.annotated))
      let percent = Int((utterance.confidence * 100).rounded())
      let overlooked = utterance.edits.map(Self.description).joined(separator: ", ")
      output.line(StyledText("\(percent) % sure" + (overlooked.isEmpty ? "" : "; \(overlooked)"), .dim))
    } else {
      output.line(StyledText("Not covered by \(self.interface.config).", .yellow))
      output.line(StyledText("voice sal expand --config \(self.interface.config) shows what is.", .dim))
    }
    return .done
  }

  private static func description(_ edit: Interpretation.Edit) -> String {
    switch edit {
    case .skipped(let word, _): "left out “\(word)”"
    case .replaced(let word, let expected, _): "took “\(word)” for “\(expected)”"
    case .missing(let word, _): "missed “\(word)”"
    case .missingValue(let entity, _): "did not understand the \(entity)"
    }
  }
}

extension StyledText {
  /// An utterance with its intents and entities in colour: `*turn_on turn on the [lights](device)`.
  init(annotated utterance: AnnotatedUtterance) {
    self.init()
    for segment in utterance.segments {
      if !self.spans.isEmpty { self.append(" ") }
      self.append("*\(segment.intent)", [.green, .bold])
      var position = 0
      for entity in segment.entities {
        let before = segment.words[min(position, entity.words.lowerBound)..<entity.words.lowerBound]
        for word in before { self.append(" \(word)") }
        self.append(" [\(entity.value)", .cyan)
        if let normal = entity.normalizedValue { self.append("|\(normal)", [.cyan, .bold]) }
        self.append("]", .cyan)
        self.append("(\(entity.name))", .dim)
        position = entity.words.upperBound
      }
      for word in segment.words.dropFirst(position) { self.append(" \(word)") }
    }
  }
}

extension EventObject {
  /// One object for each segment; a text that is not covered is one segment without an intent.
  static func segments(of utterance: Understanding.Utterance?, text: String) -> [JSONValue] {
    guard let utterance else {
      return [self.segment(AnnotatedUtterance.Segment(intent: ""), number: 0, text: text, confidence: 0)]
    }
    return utterance.annotated.segments.enumerated().map { number, segment in
      self.segment(
        segment, number: number, text: segment.words.joined(separator: " "), confidence: utterance.confidence)
    }
  }

  private static func segment(
    _ segment: AnnotatedUtterance.Segment, number: Int, text: String, confidence: Double
  ) -> JSONValue {
    .object([
      "event": .string("segment"), "final": .bool(true), "segmentId": .integer(number), "text": .string(text),
      "intent": .string(segment.intent),
      "entities": .array(
        segment.entities.map { entity in
          .object([
            "type": .string(entity.name), "value": .string(entity.normalizedValue ?? entity.value),
            "start": .integer(entity.words.lowerBound), "end": .integer(entity.words.upperBound),
          ])
        }),
      "confidence": .decimal(confidence),
    ])
  }
}
