import Dispatch

/// Where logins run, apart from the threads that Swift's concurrency shares: an initialiser that waits for a login may be
/// blocking one of those, and an app may be keeping all of them busy.
final class LoginExecutor: TaskExecutor {
  static let shared = LoginExecutor()

  private let queue = DispatchQueue(label: "swift-voice.login", attributes: .concurrent)

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    self.queue.async {
      job.runSynchronously(on: self.asUnownedTaskExecutor())
    }
  }
}
