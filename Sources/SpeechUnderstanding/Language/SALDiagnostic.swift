/// Something about a source that its author should know.
public struct SALDiagnostic: Hashable, Sendable {
  /// How bad it is.
  public enum Severity: String, Hashable, Sendable, Comparable, CaseIterable {
    /// An addition to the diagnostic before.
    case note
    /// Works, but probably not as meant.
    case warning
    /// Cannot be compiled.
    case error

    public static func < (left: Severity, right: Severity) -> Bool { left.rank < right.rank }

    private var rank: Int {
      switch self {
      case .note: 0
      case .warning: 1
      case .error: 2
      }
    }
  }

  /// How bad it is.
  public var severity: Severity
  /// A stable name of the kind of problem, such as `sal.variable.undefined`.
  public var code: String
  /// What is wrong, as a sentence.
  public var message: String
  /// What to write instead, or `nil` if there is no single answer.
  public var suggestion: String?
  /// Where it is; `nil` for a problem of the whole configuration.
  public var range: SALRange?

  /// Creates a diagnostic.
  public init(
    _ severity: Severity, _ code: String, _ message: String, suggestion: String? = nil,
    at range: SALRange? = nil
  ) {
    self.severity = severity
    self.code = code
    self.message = message
    self.suggestion = suggestion
    self.range = range
  }
}
