import SpeechStreaming
import VoiceCore

/// The objects that `--json` prints, one per line: a contract that scripts rely on.
enum EventObject {
  static func started(contextId: String, source: String) -> JSONValue {
    .object(["event": .string("started"), "contextId": .string(contextId), "source": .string(source)])
  }

  static func segment(_ segment: TranscriptSegment) -> JSONValue {
    .object([
      "event": .string("segment"),
      "final": .bool(segment.isFinal),
      "contextId": .string(segment.contextId),
      "segmentId": .integer(segment.segmentId),
      "text": .string(segment.text),
      "intent": .string(segment.intent),
      "entities": .array(
        segment.entities.map { entity in
          .object([
            "type": .string(entity.type), "value": .string(entity.value), "start": .integer(entity.start),
            "end": .integer(entity.end),
          ])
        }),
      "words": .array(segment.words.map(Self.word)),
    ])
  }

  private static func word(_ word: TranscriptSegment.Word) -> JSONValue {
    var fields: [JSONValue.Field] = [
      .init(name: "value", value: .string(word.text)),
      .init(name: "start", value: .decimal(word.start)),
      .init(name: "end", value: .decimal(word.end)),
    ]
    if let confidence = word.confidence {
      fields.append(.init(name: "confidence", value: .decimal(confidence)))
    }
    return .object(fields)
  }

  static func finished(contextId: String, source: String) -> JSONValue {
    .object(["event": .string("finished"), "contextId": .string(contextId), "source": .string(source)])
  }

  static func degraded(_ degradation: SpeechDegradation) -> JSONValue {
    .object([
      "event": .string("degraded"),
      "contextId": degradation.contextId.map(JSONValue.string) ?? .null,
      "code": .string(degradation.failure.code.rawValue),
      "message": .string(degradation.failure.message),
      "replayed": .decimal(degradation.replayed / .seconds(1)),
    ])
  }

  static func failure(_ failure: VoiceFailure) -> JSONValue { self.problem("failure", failure) }

  /// Something works less well than it could; the command goes on, and its exit status does not show it.
  static func warning(_ problem: VoiceFailure) -> JSONValue { self.problem("warning", problem) }

  private static func problem(_ event: String, _ failure: VoiceFailure) -> JSONValue {
    .object([
      "event": .string(event),
      "code": .string(failure.code.rawValue),
      "message": .string(failure.message),
      "recovery": .string(failure.recovery.description),
    ])
  }
}
