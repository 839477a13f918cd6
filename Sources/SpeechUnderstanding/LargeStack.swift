import Dispatch
import Foundation
import Synchronization

/// Runs what goes deep into itself: the stacks of worker threads have 512 KB on some systems.
enum LargeStack {
  /// Enough for what the limits of nesting allow, several times, also without optimisation.
  private static let size = 16 * 1024 * 1024

  private final class Outcome<Value>: Sendable {
    let value = Mutex<Value?>(nil)
  }

  /// Runs a body on a thread with a large stack of its own, while the caller waits.
  static func run<Value, Failure: Error>(
    _ body: @escaping @Sendable () throws(Failure) -> sending Value
  ) throws(Failure) -> Value {
    let outcome = Outcome<Result<Value, Failure>>()
    let done = DispatchSemaphore(value: 0)
    let thread = Thread {
      outcome.value.withLock { value in
        do throws(Failure) {
          value = .success(try body())
        } catch {
          value = .failure(error)
        }
      }
      done.signal()
    }
    thread.stackSize = Self.size
    thread.start()
    done.wait()
    guard let result = outcome.value.withLock({ $0.take() }) else { return try body() }
    return try result.get()
  }
}
