import Foundation

/// Brings what a service tells on its own threads to the thread of the recogniser.
// @unchecked: the messages are read and written under the condition's lock.
final class SpeechServiceMailbox: @unchecked Sendable {
  typealias Message = (generation: Int, event: SpeechRequestMachine.TaskEvent)

  private let condition = NSCondition()
  private var messages: [Message] = []

  func post(_ event: SpeechRequestMachine.TaskEvent, of generation: Int) {
    self.condition.lock()
    self.messages.append((generation, event))
    self.condition.signal()
    self.condition.unlock()
  }

  /// Takes the oldest message, or `nil` if none comes in time. Blocks the thread.
  func next(waitingAtMost duration: Duration) -> Message? {
    let end = Date(timeIntervalSinceNow: max(0, duration / .seconds(1)))
    self.condition.lock()
    defer { self.condition.unlock() }
    while self.messages.isEmpty {
      guard duration > .zero, self.condition.wait(until: end) else { break }
    }
    return self.messages.isEmpty ? nil : self.messages.removeFirst()
  }
}
