import NIOCore
import Synchronization

/// What has something to do each 20 ms.
protocol PacedMember: AnyObject {
  /// 20 ms have passed.
  func tick()
  /// Times 20 ms have passed and are left out.
  func skip(_ steps: Int)
  /// From now on the thread has more to do than it can.
  func overloaded()
}

/// Calls every session of a thread each 20 ms, on one timer for all of them, as ``PaceMachine`` says.
final class MediaPacer {
  private static let breath = TimeAmount.milliseconds(1)

  private let loop: any EventLoop
  private let overload: Overload
  private var members: [ObjectIdentifier: any PacedMember] = [:]
  private var machine: PaceMachine?
  private var timer: Scheduled<Void>?
  /// Steps that were left out.
  private(set) var skipped = 0

  init(loop: any EventLoop, overload: Overload) {
    self.loop = loop
    self.overload = overload
  }

  func add(_ member: any PacedMember) {
    self.members[ObjectIdentifier(member)] = member
    guard let machine = self.machine else {
      let machine = PaceMachine(at: .now())
      self.machine = machine
      self.schedule(machine.due)
      return
    }
    if machine.isOverloaded { member.overloaded() }
  }

  func remove(_ member: any PacedMember) {
    self.members[ObjectIdentifier(member)] = nil
    guard self.members.isEmpty else { return }
    self.timer?.cancel()
    self.timer = nil
    self.machine = nil
    self.overload.isPresent = false
  }

  private func schedule(_ deadline: NIODeadline) {
    // A loop runs what is due before it looks at its sockets again: what is due already would keep it from them for good.
    let deadline = max(deadline, .now() + Self.breath)
    self.timer = self.loop.assumeIsolated().scheduleTask(deadline: deadline) { self.tick() }
  }

  private func tick() {
    self.timer = nil
    guard var machine = self.machine else { return }
    let round = machine.passed(at: .now())
    self.machine = machine
    self.skipped += round.skipped
    if let isOverloaded = round.overload {
      self.overload.isPresent = isOverloaded
      if isOverloaded { for member in self.members.values { member.overloaded() } }
    }
    if round.skipped > 0 {
      for member in self.members.values { member.skip(round.skipped) }
    }
    for _ in 0..<round.steps {
      for member in self.members.values { member.tick() }
    }
    // In between the last session may have left, and another may have come, which has set a timer of its own.
    if let due = self.machine?.due, self.timer == nil { self.schedule(due) }
  }
}

/// Whether a thread has more to do than it can; may be asked on any thread.
final class Overload: Sendable {
  private let flag = Atomic(false)

  var isPresent: Bool {
    get { self.flag.load(ordering: .relaxed) }
    set { self.flag.store(newValue, ordering: .relaxed) }
  }
}
