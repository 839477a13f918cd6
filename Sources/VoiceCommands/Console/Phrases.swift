import Foundation

/// Wordings that several commands share.
enum Phrases {
  /// A length of time for people: `0.25 s`, `12 s`, `2 min 5 s`.
  static func duration(_ duration: Duration) -> String {
    let seconds = max(0, duration / .seconds(1))
    if seconds >= 60, seconds < 1e9 {
      let whole = Int(seconds.rounded())
      return whole % 60 == 0 ? "\(whole / 60) min" : "\(whole / 60) min \(whole % 60) s"
    }
    if seconds >= 9.95 { return "\(Int(min(seconds, 1e9).rounded())) s" }
    return String(format: seconds < 0.1 && seconds > 0 ? "%.2f s" : "%.1f s", seconds)
  }

  /// `1 file`, `2 files`.
  static func count(_ number: Int, _ noun: String) -> String {
    "\(number) \(noun)\(number == 1 ? "" : "s")"
  }
}
