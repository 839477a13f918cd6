import SpeechStreaming
import Synchronization
import VoiceAudio
import VoiceCore

/// What recognition tells while it goes on, whoever does it.
enum RecognitionUpdate: Hashable, Sendable {
  /// The input is open and is heard.
  case recordingStarted
  /// The utterance has an identifier.
  case started(contextId: String)
  /// The present state of a segment.
  case segment(TranscriptSegment)
  /// A lost server is back.
  case recovered(SpeechRecovery)
  /// This process goes on with the utterance in place of the server.
  case degraded(SpeechDegradation)
  /// Something failed; the recovery says what happens next.
  case failed(VoiceFailure)
  /// Nothing follows; `nil` if the utterance never began.
  case finished(contextId: String?)
}

/// Turns a source into updates: a server does it, or this process.
protocol RecognitionBackend: Sendable {
  /// Who recognises, in a line for the person.
  var summary: String { get }

  /// Makes ready what all inputs share.
  func prepare() async throws(VoiceFailure)

  /// Recognises a source to its end; reports `finished` as the last update, unless the task is cancelled.
  ///
  /// - Parameters:
  ///   - source: What is listened to.
  ///   - stop: Ends listening earlier; what was heard is still recognised.
  ///   - report: Takes updates in order; must not wait.
  func recognize(
    _ source: any AudioSource, until stop: StopRequest,
    report: @escaping @Sendable (RecognitionUpdate) -> Void) async
}

/// A wish to stop listening, made once, which whoever listens acts on.
final class StopRequest: Sendable {
  private struct State {
    var isMade = false
    var action: (@Sendable () -> Void)?
  }

  private let state = Mutex(State())

  var isMade: Bool { self.state.withLock { $0.isMade } }

  /// Makes the wish; only the first time counts.
  func make() {
    let action = self.state.withLock { state -> (@Sendable () -> Void)? in
      guard !state.isMade else { return nil }
      state.isMade = true
      return state.action
    }
    action?()
  }

  /// Sets what to do when the wish is made, in place of what was set before; does it at once if it was made already.
  func whenMade(_ action: (@Sendable () -> Void)?) {
    let isMade = self.state.withLock { state in
      state.action = action
      return state.isMade
    }
    if isMade { action?() }
  }
}
