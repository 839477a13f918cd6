/// Shows diagnostics to people, as a good compiler does.
///
/// ```
/// lights.sal:3:10: error: There is no variable rom. [sal.variable.undefined]
///   3 | *on turn $rom
///     |          ^~~~
/// help: did you mean $room?
/// ```
public struct SALDiagnosticRenderer: Sendable {
  /// The lines of each file, and the number of the first.
  private var files: [String: (lines: [Substring], first: Int, indentation: Int)] = [:]

  /// The widest part of a source line that is shown, in columns of the terminal.
  static let width = 160

  /// Creates a renderer.
  ///
  /// - Parameter sources: The texts that diagnostics can be about; of others only the place is shown.
  public init(sources: [SALSource] = []) {
    for source in sources {
      self.files[source.name] = (Self.lines(of: source.text), source.firstLine, source.indentation)
    }
  }

  /// The diagnostics, one below the other, each with a line break at its end.
  public func render(_ diagnostics: [SALDiagnostic], colors: Bool = false) -> String {
    diagnostics.map { self.render($0, colors: colors) + "\n" }.joined()
  }

  /// One diagnostic: place, severity and message; the source line with the place marked; the suggestion.
  ///
  /// - Parameter colors: Whether to use ANSI escape sequences.
  public func render(_ diagnostic: SALDiagnostic, colors: Bool = false) -> String {
    let paint = Paint(isOn: colors)
    var result = ""
    if let range = diagnostic.range {
      result += paint.bold(Self.printable("\(range.file):\(range.line):\(range.column): "))
    }
    result += paint.severity("\(diagnostic.severity.rawValue): ", diagnostic.severity)
    result += paint.bold(Self.printable(diagnostic.message)) + " [\(diagnostic.code)]"
    if let range = diagnostic.range { result += self.excerpt(of: range, diagnostic.severity, paint) }
    if let suggestion = diagnostic.suggestion {
      result += "\n" + paint.help("help: ") + Self.printable(suggestion)
    }
    return result
  }

  // MARK: The source line

  private func excerpt(of range: SALRange, _ severity: SALDiagnostic.Severity, _ paint: Paint) -> String {
    guard let (lines, first, indentation) = self.files[range.file] else { return "" }
    let (index, overflow) = range.line.subtractingReportingOverflow(first)
    guard !overflow, lines.indices.contains(index) else { return "" }
    let line = lines[index]
    let start = min(line.count, max(0, range.column &- 1 &- indentation))
    let end = range.endLine > range.line ? Int.max : max(start + 1, range.endColumn &- 1 &- indentation)
    // Of a very long line only the part around the place is shown.
    let shownFrom = start > 100 ? start - 60 : 0
    var text = shownFrom > 0 ? "…" : ""
    var column = text.count
    var from: Int?
    var to = 0
    for (offset, character) in zip(shownFrom..., line.dropFirst(shownFrom)) {
      if column >= Self.width {
        text += "…"
        break
      }
      if offset == start { from = column }
      let (cell, width) = Self.cell(of: character, at: column)
      text += cell
      column += width
      if offset < end { to = column }
    }
    let caret = from ?? column
    let number = String(range.line)
    let margin = String(repeating: " ", count: number.count)
    let pointer = "^" + String(repeating: "~", count: max(0, to - caret - 1))
    return "\n  " + paint.dim("\(number) | ") + Self.withoutTrailingBlanks(text)
      + "\n  " + paint.dim("\(margin) | ") + String(repeating: " ", count: caret)
      + paint.severity(pointer, severity)
  }

  private static func lines(of text: String) -> [Substring] {
    text.split(omittingEmptySubsequences: false) { $0 == "\n" || $0 == "\r\n" || $0 == "\r" }
  }

  private static func withoutTrailingBlanks(_ text: String) -> Substring {
    var result = text[...]
    while result.last == " " { result.removeLast() }
    return result
  }

  /// A character as it is shown, and how many columns it takes: tabs go to the next multiple of four.
  private static func cell(of character: Character, at column: Int) -> (String, Int) {
    if character == "\t" {
      let width = 4 - column % 4
      return (String(repeating: " ", count: width), width)
    }
    let text = self.printable(String(character))
    return (text, max(1, TextWidth.columns(of: text)))
  }

  /// The text with control characters replaced, so that a source cannot steer the terminal.
  private static func printable(_ text: String) -> String {
    guard text.unicodeScalars.contains(where: self.isControl) else { return text }
    var result = ""
    for scalar in text.unicodeScalars {
      result.unicodeScalars.append(self.isControl(scalar) ? "\u{fffd}" : scalar)
    }
    return result
  }

  private static func isControl(_ scalar: Unicode.Scalar) -> Bool {
    scalar.properties.generalCategory == .control || SALCharacters.isInvisible(scalar)
      || scalar.properties.generalCategory == .lineSeparator
      || scalar.properties.generalCategory == .paragraphSeparator
  }
}

/// ANSI escape sequences, or nothing.
private struct Paint {
  let isOn: Bool

  private func painted(_ text: String, _ code: String) -> String {
    self.isOn ? "\u{1b}[\(code)m\(text)\u{1b}[0m" : text
  }

  func bold(_ text: String) -> String { self.painted(text, "1") }
  func dim(_ text: String) -> String { self.painted(text, "2") }
  func help(_ text: String) -> String { self.painted(text, "1;36") }

  func severity(_ text: String, _ severity: SALDiagnostic.Severity) -> String {
    switch severity {
    case .error: self.painted(text, "1;31")
    case .warning: self.painted(text, "1;33")
    case .note: self.painted(text, "1;34")
    }
  }
}
