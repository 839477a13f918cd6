import Dispatch
import Synchronization
import VoiceCore

/// Calls the blocks of a utility on its queue, in the order of the events, and none after ``close()``.
final class CallbackDispatcher: Sendable {
  struct Blocks: Sendable {
    var authorized: (@Sendable () -> Void)?
    var state: (@Sendable (SpeechRecognitionOperationState, Bool) -> Void)?
    var result: (@Sendable (SpeechRecognitionResult) -> Void)?
    var failure: (@Sendable (VoiceFailure) -> Void)?
  }

  private struct State: Sendable {
    var blocks: Blocks?
    var isTellingFinalOutput = false
  }

  private let queue: DispatchQueue
  private let state: Mutex<State>

  init(queue: DispatchQueue, blocks: Blocks) {
    self.queue = queue
    self.state = Mutex(State(blocks: blocks))
  }

  /// Whether the state block is being called with a final output right now.
  var isTellingFinalOutput: Bool { self.state.withLock { $0.isTellingFinalOutput } }

  func change(_ body: @Sendable (inout Blocks) -> Void) {
    self.state.withLock { state in
      guard var blocks = state.blocks else { return }
      body(&blocks)
      state.blocks = blocks
    }
  }

  func tellAuthorized() {
    self.queue.async { self.blocks?.authorized?() }
  }

  func tell(_ event: SpeechRecognitionEvent) {
    self.queue.async {
      guard let blocks = self.blocks else { return }
      switch event {
      case .state(let state, let isFinalOutput):
        self.state.withLock { $0.isTellingFinalOutput = isFinalOutput }
        blocks.state?(state, isFinalOutput)
        self.state.withLock { $0.isTellingFinalOutput = false }
      case .result(let result):
        blocks.result?(result)
      case .failed(let failure):
        blocks.failure?(failure)
      }
    }
  }

  /// Lets go of the blocks; a block that is running is not waited for.
  func close() {
    let blocks = self.state.withLock { state in
      defer { state.blocks = nil }
      return state.blocks
    }
    // What the blocks hold may run foreign code when it is released: not while the lock is held.
    withExtendedLifetime(blocks) {}
  }

  private var blocks: Blocks? { self.state.withLock { $0.blocks } }
}
