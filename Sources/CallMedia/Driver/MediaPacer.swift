import NIOCore

/// Calls every session each 20 ms, on one timer for all of them.
///
/// The grid is absolute: a tick that comes late does not delay those behind it. After a stall of the machine the ticks that
/// were missed are made up for up to a tenth of a second, so that the streams of the other sides do not lose time; beyond
/// that they are left out.
final class MediaPacer {
  static let interval = TimeAmount.milliseconds(20)
  private static let mostTicksAtOnce = 5

  private let loop: any EventLoop
  private var members: [ObjectIdentifier: SessionCore] = [:]
  private var next: NIODeadline?
  private var timer: Scheduled<Void>?
  /// Ticks that were left out.
  private(set) var skipped = 0

  init(loop: any EventLoop) { self.loop = loop }

  func add(_ core: SessionCore) {
    self.members[ObjectIdentifier(core)] = core
    guard self.next == nil else { return }
    self.schedule(.now() + Self.interval)
  }

  func remove(_ core: SessionCore) {
    self.members[ObjectIdentifier(core)] = nil
    guard self.members.isEmpty else { return }
    self.timer?.cancel()
    self.timer = nil
    self.next = nil
  }

  private func schedule(_ deadline: NIODeadline) {
    self.next = deadline
    self.timer = self.loop.assumeIsolated().scheduleTask(deadline: deadline) { self.tick() }
  }

  private func tick() {
    guard var due = self.next else { return }
    let now = NIODeadline.now()
    var ticks = 0
    while due <= now {
      if ticks < Self.mostTicksAtOnce {
        for member in self.members.values { member.tick() }
        ticks += 1
      } else {
        self.skipped += 1
      }
      due = due + Self.interval
    }
    if !self.members.isEmpty { self.schedule(due) }
  }
}
