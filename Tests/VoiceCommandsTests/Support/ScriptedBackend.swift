import Synchronization
import VoiceAudio
import VoiceCore

@testable import VoiceCommands

/// A backend that says what it is told, one script for each input.
final class ScriptedBackend: RecognitionBackend {
  enum Step: Sendable {
    case report(RecognitionUpdate)
    /// Waits until the person asks to stop.
    case waitForStop
    /// Waits until the task is cancelled.
    case waitForCancellation
    /// Runs something, such as sending a signal.
    case perform(@Sendable () -> Void)
  }

  let summary = "using a script"
  private let scripts: Mutex<[[Step]]>

  init(_ scripts: [[Step]]) {
    self.scripts = Mutex(scripts)
  }

  var unusedScripts: Int { self.scripts.withLock { $0.count } }

  func prepare() async throws(VoiceFailure) {}

  func recognize(
    _ source: any AudioSource, until stop: StopRequest,
    report: @escaping @Sendable (RecognitionUpdate) -> Void
  ) async {
    let script = self.scripts.withLock { $0.isEmpty ? [] : $0.removeFirst() }
    for step in script {
      switch step {
      case .report(let update): report(update)
      case .perform(let action): action()
      case .waitForStop:
        let (stopped, continuation) = AsyncStream.makeStream(of: Void.self)
        stop.whenMade { continuation.finish() }
        for await _ in stopped {}
      case .waitForCancellation:
        for await _ in AsyncStream<Void>.makeStream().stream {}
      }
    }
  }
}

extension TranscriptSegment {
  /// A segment from its words; a word that begins with `?` may still change.
  static func of(
    _ text: String, id: Int = 0, isFinal: Bool = false, intent: String = "", entities: [Entity] = []
  ) -> TranscriptSegment {
    let words = text.split(separator: " ").enumerated().map { index, word in
      Word(
        text: String(word.hasPrefix("?") ? word.dropFirst() : word), start: Double(index),
        end: Double(index) + 0.5,
        confidence: nil, isFinal: !word.hasPrefix("?"))
    }
    return TranscriptSegment(
      contextId: "c", segmentId: id, isFinal: isFinal, intent: intent, entities: entities, words: words)
  }
}

extension RecognitionInput {
  /// An input that is never opened.
  static func named(_ name: String, isOpenEnded: Bool = false) -> RecognitionInput {
    RecognitionInput(name: name, source: AudioFileSource(path: "/none-such"), isOpenEnded: isOpenEnded)
  }
}
