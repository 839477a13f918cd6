import NIOCore

/// Decides how many steps of 20 ms are run when time has passed, and whether the thread is overloaded.
///
/// States: *calm* and *overloaded*. Event: ``passed(at:)``. Actions: the steps to run, and a change of the state.
///
/// The grid is absolute: a step that comes late does not delay those behind it. After a stall of the machine up to four missed
/// steps are made up for, so that the streams of the other sides do not lose time; what is beyond is left out. Only rounds that
/// come on time allow to make up for more: a thread with more work than time would otherwise never get to anything else, and
/// its calls would break off instead of sounding worse.
struct PaceMachine {
  /// What is to be done.
  struct Round: Equatable {
    /// Steps left out; they are before those to run.
    var skipped = 0
    /// Steps to run now.
    var steps = 0
    /// Whether the thread is overloaded from now on, if that has changed.
    var overload: Bool?
  }

  static let interval = TimeAmount.milliseconds(20)
  static let mostMadeUp = 4
  /// How late a round may be and still be on time.
  static let punctuality = TimeAmount.milliseconds(5)
  /// Rounds on time after which one more step may be made up for.
  static let roundsPerCredit = 5
  /// Rounds after which it is judged how many of them left something out; one long stall, such as a suspended machine, is one.
  static let window = 200
  static let overloadedFrom = 20
  static let calmUpTo = 2

  /// When the next step is due.
  private(set) var due: NIODeadline
  /// Whether a tenth of the last rounds left something out.
  private(set) var isOverloaded = false
  private var credit = Self.mostMadeUp
  private var onTime = 0
  private var rounds = 0
  private var late = 0

  init(at now: NIODeadline) { self.due = now + Self.interval }

  mutating func passed(at now: NIODeadline) -> Round {
    guard now >= self.due else { return Round() }
    let interval = Self.interval.nanoseconds
    let lateness = (now - self.due).nanoseconds
    let missed = lateness / interval
    self.due = self.due + .nanoseconds((missed + 1) * interval)
    let madeUp = Int(min(missed, Int64(self.credit)))
    self.credit -= madeUp
    if lateness < Self.punctuality.nanoseconds { self.cameOnTime() }
    let skipped = Int(missed) - madeUp
    return Round(skipped: skipped, steps: 1 + madeUp, overload: self.judge(isLate: skipped > 0))
  }

  private mutating func cameOnTime() {
    self.onTime += 1
    guard self.onTime == Self.roundsPerCredit else { return }
    self.onTime = 0
    self.credit = min(Self.mostMadeUp, self.credit + 1)
  }

  private mutating func judge(isLate: Bool) -> Bool? {
    self.rounds += 1
    if isLate { self.late += 1 }
    // An overload is told as soon as it is certain, its end after a whole window.
    let isFull = self.rounds == Self.window
    defer { if isFull { (self.rounds, self.late) = (0, 0) } }
    if !self.isOverloaded, self.late >= Self.overloadedFrom {
      self.isOverloaded = true
      return true
    }
    if self.isOverloaded, isFull, self.late <= Self.calmUpTo {
      self.isOverloaded = false
      return false
    }
    return nil
  }
}
