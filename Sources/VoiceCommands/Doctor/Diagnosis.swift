/// What `voice doctor` found out about one thing.
struct Diagnosis: Hashable, Sendable {
  enum Verdict: String, Hashable, Sendable {
    case good
    /// Something works less well, or is not there and not needed for everything.
    case warning
    /// Something that is needed does not work.
    case broken
  }

  var name: String
  var verdict: Verdict
  var detail: String
  /// What to do about it.
  var fix: String?

  static func good(_ name: String, _ detail: String) -> Diagnosis {
    Diagnosis(name: name, verdict: .good, detail: detail)
  }

  static func warning(_ name: String, _ detail: String, fix: String? = nil) -> Diagnosis {
    Diagnosis(name: name, verdict: .warning, detail: detail, fix: fix)
  }

  static func broken(_ name: String, _ detail: String, fix: String?) -> Diagnosis {
    Diagnosis(name: name, verdict: .broken, detail: detail, fix: fix)
  }

  var object: JSONValue {
    .object([
      "event": .string("check"), "name": .string(self.name), "status": .string(self.verdict.rawValue),
      "detail": .string(self.detail), "fix": self.fix.map { .string($0) } ?? .null,
    ])
  }

  func lines(nameWidth: Int, symbols: Console.Symbols) -> [StyledText] {
    let (mark, style): (String, TextStyle) =
      switch self.verdict {
      case .good: (symbols.good, .green)
      case .warning: (symbols.warning, .yellow)
      case .broken: (symbols.bad, .red)
      }
    var line = StyledText("\(mark) ", [style, .bold])
    line.append(self.name + String(repeating: " ", count: max(1, nameWidth - self.name.count + 2)), .bold)
    line.append(self.detail)
    guard let fix else { return [line] }
    let margin = String(repeating: " ", count: nameWidth + 4)
    return [line, StyledText("\(margin)\(symbols.arrow) ", .dim) + FailurePresentation.withCode(fix)]
  }
}
