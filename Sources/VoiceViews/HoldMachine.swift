/// Decides what touches of a hold-to-talk button mean.
///
/// States: *idle*, *talking* (the finger is down), *outside* (it has slid off the button: letting go there drops what was said).
/// A control that was told to begin is told exactly once to end or to cancel.
struct HoldMachine: Hashable, Sendable {
  enum Action: Hashable, Sendable {
    case begin
    case end
    case cancel
  }

  enum State: Hashable, Sendable {
    case idle
    case talking
    case outside
  }

  private(set) var state = State.idle

  /// The finger is on the screen.
  ///
  /// - Parameter isInside: Whether it is on the button, or near it.
  mutating func touched(isInside: Bool) -> Action? {
    switch self.state {
    case .idle:
      guard isInside else { return nil }
      self.state = .talking
      return .begin
    case .talking, .outside:
      self.state = isInside ? .talking : .outside
      return nil
    }
  }

  /// The finger was lifted.
  mutating func released() -> Action? {
    defer { self.state = .idle }
    switch self.state {
    case .idle: return nil
    case .talking: return .end
    case .outside: return .cancel
    }
  }

  /// The touch was taken away: by an alert, by another gesture, or because the button is gone.
  mutating func interrupted() -> Action? {
    defer { self.state = .idle }
    switch self.state {
    case .idle: return nil
    case .talking, .outside: return .end
    }
  }

  /// The button was activated without a touch, as by VoiceOver or a keyboard: every second time ends.
  mutating func activated() -> Action? {
    switch self.state {
    case .idle:
      self.state = .talking
      return .begin
    case .talking, .outside:
      self.state = .idle
      return .end
    }
  }

  /// Whether a finger is on a round button or not further from it than a quarter of its size.
  static func isInside(x: Double, y: Double, diameter: Double) -> Bool {
    let (dx, dy) = (x - diameter / 2, y - diameter / 2)
    return dx * dx + dy * dy <= (diameter * 0.75) * (diameter * 0.75)
  }
}
