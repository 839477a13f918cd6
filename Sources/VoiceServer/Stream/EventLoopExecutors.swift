import NIOCore
import NIOPosix

/// Runs the work of tasks on event loops: what a loop wakes stays on that loop, so that a message of a connection is
/// taken in without a change of the thread. What comes from elsewhere goes to the loops in turn.
final class EventLoopGroupExecutor: TaskExecutor {
  private let group: MultiThreadedEventLoopGroup

  init(_ group: MultiThreadedEventLoopGroup) {
    self.group = group
  }

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    let loop = MultiThreadedEventLoopGroup.currentEventLoop ?? self.group.next()
    loop.execute { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
  }
}

/// Runs the work of tasks on one event loop, also what is woken by other threads.
final class EventLoopExecutor: TaskExecutor {
  private let loop: any EventLoop

  /// The loop that runs the caller, or `nil` if none does.
  static var current: EventLoopExecutor? {
    MultiThreadedEventLoopGroup.currentEventLoop.map(EventLoopExecutor.init)
  }

  private init(_ loop: any EventLoop) {
    self.loop = loop
  }

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    self.loop.execute { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
  }
}
