import Dispatch
import Synchronization

/// Brings what a service tells on its own threads to the thread of the recogniser.
final class SpeechServiceMailbox: Sendable {
  typealias Message = (generation: Int, event: SpeechRequestMachine.TaskEvent)

  private let messages = Mutex<[Message]>([])
  /// Counts the messages.
  private let available = DispatchSemaphore(value: 0)

  func post(_ event: SpeechRequestMachine.TaskEvent, of generation: Int) {
    self.messages.withLock { $0.append((generation, event)) }
    self.available.signal()
  }

  /// Takes the oldest message, or `nil` if none comes in time. Blocks the thread.
  func next(waitingAtMost duration: Duration) -> Message? {
    let end = DispatchTime.now() + max(0, duration / .seconds(1))
    guard self.available.wait(timeout: end) == .success else { return nil }
    return self.messages.withLock { $0.isEmpty ? nil : $0.removeFirst() }
  }
}
