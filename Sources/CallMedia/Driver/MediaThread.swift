import NIOCore
import Synchronization

/// A thread of an engine: its event loop, the pace of what is sent and played on it, and how many sessions it carries.
final class MediaThread: Sendable {
  let loop: any EventLoop
  let pacer: NIOLoopBoundBox<MediaPacer>
  let overload: Overload
  private let count = Atomic(0)

  init(_ loop: any EventLoop) {
    let overload = Overload()
    self.loop = loop
    self.overload = overload
    self.pacer = NIOLoopBoundBox.makeBoxSendingValue(
      MediaPacer(loop: loop, overload: overload), eventLoop: loop)
  }

  /// Sessions that joined and did not leave.
  var sessions: Int { self.count.load(ordering: .relaxed) }

  func join() { self.count.add(1, ordering: .relaxed) }

  func leave() { self.count.subtract(1, ordering: .relaxed) }
}
