import Foundation
import SpeechRecognition
import Synchronization
import VoiceCore

/// Shows the states in colour, and below them the text that is being spoken.
final class Screen: Sendable {
  enum Colour: Int {
    case red = 31
    case green = 32
    case yellow = 33
    case cyan = 36
    case faint = 2
    case bold = 1
  }

  private struct State {
    var live = ""
    var result: SpeechRecognitionResult?
    var hasFailed = false
    var isEnded = false
  }

  private let state = Mutex(State())
  private let isTerminal = isatty(1) == 1
  private let ending = AsyncStream.makeStream(of: Void.self)

  var hasFailed: Bool { self.state.withLock { $0.hasFailed } }

  static func complain(_ text: String) {
    FileHandle.standardError.write(Data((text + "\n").utf8))
  }

  /// Ends ``show(_:endsWithTheFirstActivity:)``.
  func end(failed: Bool = false) {
    self.state.withLock { $0.hasFailed = $0.hasFailed || failed }
    self.ending.continuation.yield()
  }

  /// Shows events until an activity ends, or ``end(failed:)``.
  func show(
    _ events: EventBroadcaster<SpeechRecognitionEvent>.Subscription, endsWithTheFirstActivity: Bool
  ) async {
    await withTaskGroup(of: Void.self) { group in
      group.addTask {
        for await event in events {
          self.show(event)
          if endsWithTheFirstActivity, case .state(.speechRecognitionStopped, _) = event { return }
        }
      }
      group.addTask { for await _ in self.ending.stream { return } }
      await group.next()
      group.cancelAll()
    }
    self.live("")
  }

  func show(_ event: SpeechRecognitionEvent) {
    switch event {
    case .result(let result):
      self.state.withLock { $0.result = result }
    case .failed(let failure):
      if self.ends(failure) { self.state.withLock { $0.hasFailed = true } }
      self.say("! \(failure)", in: .red)
      let advice = FailureCatalogue.definition(of: failure.code)?.advice
      if let advice { self.say("  \(advice)", in: .faint) }
    case .state(.speechRecognised(let text), finalOutput: false):
      self.live(text)
    case .state(.speechRecognised(let text), finalOutput: true):
      self.live("")
      self.say(text, in: .bold)
    case .state(.speechNotRecognized, _):
      self.live("")
      self.say("not recognised", in: .yellow)
    case .state(.authorized, _): self.say("authorised", in: .green)
    case .state(.audioEngineStart, _): self.say("listening", in: .green)
    case .state(.audioEngineStop, _): self.say("not listening", in: .cyan)
    case .state(.recognitionTaskCancelled, _): self.say("cancelled", in: .yellow)
    case .state(.availabilityChanged(let isAvailable), _):
      self.say(isAvailable ? "available again" : "not available", in: isAvailable ? .green : .red)
    case .state(.speechRecognitionStopped, _): self.say("stopped", in: .cyan)
    }
  }

  /// All transcriptions of the newest text, with the sum of their confidences; the engine's best comes first, the best by sum
  /// has a star.
  func showTranscriptions() {
    guard let result = self.state.withLock({ $0.result }) else { return self.say("nothing yet", in: .faint) }
    for transcription in result.transcriptions {
      let mark = transcription == result.bestTranscription ? "*" : " "
      let sum = String(format: "%5.2f", transcription.summedConfidence)
      self.say("\(mark) \(sum)  \(transcription.formattedString)", in: .cyan)
    }
  }

  func say(_ line: String, in colour: Colour) {
    let live = self.state.withLock { $0.live }
    if self.isTerminal {
      print("\r\u{1B}[K\u{1B}[\(colour.rawValue)m\(line)\u{1B}[0m\n\(live)", terminator: "")
    } else {
      print(line)
    }
    fflush(nil)
  }

  private func live(_ text: String) {
    guard self.isTerminal else { return }
    // The end of a text that is longer than the line is what is being spoken.
    let shown = String(text.suffix(76))
    self.state.withLock { $0.live = shown }
    print("\r\u{1B}[K\(shown)", terminator: "")
    fflush(nil)
  }

  private func ends(_ failure: VoiceFailure) -> Bool {
    if case .none = failure.recovery { false } else { failure.code != .vocabularyUnknown }
  }
}
