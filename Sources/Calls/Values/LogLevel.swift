/// How much a client writes to its log: a threshold, each level including those above it.
///
/// (Source: telnyx.md section 1.1. The original compares for equality, so that no two levels can be had together.)
public enum LogLevel: Int, Hashable, Sendable, CaseIterable, Comparable {
  /// Nothing.
  case none = 0
  case error
  case warning
  case success
  case info
  /// The methods and ids of frames, without what is in them.
  case verto
  case stats
  /// Everything.
  case all

  public static func < (left: LogLevel, right: LogLevel) -> Bool { left.rawValue < right.rawValue }
}

/// Takes the log lines of one client; may be called on any thread.
///
/// No line holds a password, a token, a session description or a caller's number.
public protocol TxLogger: Sendable {
  func log(level: LogLevel, message: String)
}

/// Writes to the standard error output.
struct StandardErrorLogger: TxLogger {
  func log(level: LogLevel, message: String) {
    Self.write("calls \(level): \(message)\n")
  }
}
