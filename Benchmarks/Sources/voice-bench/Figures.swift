import Foundation

/// Sorts out what repeated measurements say.
enum Figures {
  static func median(_ values: [Double]) -> Double {
    let sorted = values.sorted()
    guard !sorted.isEmpty else { return .nan }
    let middle = sorted.count / 2
    return sorted.count.isMultiple(of: 2) ? (sorted[middle - 1] + sorted[middle]) / 2 : sorted[middle]
  }

  static func percentile(_ values: [Double], _ share: Double) -> Double {
    let sorted = values.sorted()
    guard !sorted.isEmpty else { return .nan }
    return sorted[min(sorted.count - 1, Int(share * Double(sorted.count)))]
  }
}

/// One line of the result: a goal and what was measured.
struct Row: Codable {
  enum Verdict: String, Codable {
    case met
    case missed
    /// The rounds are on both sides of the goal: the machine is too noisy to tell.
    case undecided
    /// A row without a goal, for comparison.
    case information
  }

  var name: String
  var goal: String
  var values: [Double]
  var unit: String
  var verdict: Verdict
  /// Where the cost lies.
  var notes: [String]

  /// A row whose goal is that the values are at most a bound.
  init(_ name: String, atMost bound: Double, _ values: [Double], unit: String = "x", notes: [String] = []) {
    let within = values.count { $0 <= bound }
    let verdict: Verdict = within == values.count ? .met : within == 0 ? .missed : .undecided
    self.init(
      name, goal: "<= \(bound)\(unit)", values, unit: unit, verdict: values.isEmpty ? .missed : verdict,
      notes: notes)
  }

  /// A row whose goal is that the values are at least a bound.
  init(_ name: String, atLeast bound: Double, _ values: [Double], unit: String, notes: [String] = []) {
    let within = values.count { $0 >= bound }
    let verdict: Verdict = within == values.count ? .met : within == 0 ? .missed : .undecided
    self.init(
      name, goal: ">= \(Self.text(bound))\(unit)", values, unit: unit,
      verdict: values.isEmpty ? .missed : verdict,
      notes: notes)
  }

  init(_ name: String, goal: String, _ values: [Double], unit: String, verdict: Verdict, notes: [String] = [])
  {
    self.name = name
    self.goal = goal
    self.values = values
    self.unit = unit
    self.verdict = verdict
    self.notes = notes
  }

  var line: String {
    let mark =
      switch self.verdict {
      case .met: "✔"
      case .missed: "✖"
      case .undecided: "?"
      case .information: "·"
      }
    let spread =
      self.values.count > 1
      ? " (\(Self.text(self.values.min() ?? .nan))–\(Self.text(self.values.max() ?? .nan)) in \(self.values.count) rounds)"
      : ""
    let figure = "\(Self.text(Figures.median(self.values)))\(self.unit)\(spread)"
    let spaced = self.name.padding(toLength: max(58, self.name.count), withPad: " ", startingAt: 0)
    let goal = self.goal.padding(toLength: max(10, self.goal.count), withPad: " ", startingAt: 0)
    return (["\(mark) \(spaced) goal \(goal) \(figure)"] + self.notes.map { "    \($0)" }).joined(
      separator: "\n")
  }

  static func text(_ value: Double) -> String {
    String(
      format: abs(value) < 2 ? "%.3f" : abs(value) < 10 ? "%.2f" : abs(value) < 1_000 ? "%.1f" : "%.0f", value
    )
  }
}
