import Yams

/// Where the text of a YAML scalar stands in its file.
enum YAMLPositions {
  /// The place of a node's first character, and of its last if it is one word or line.
  static func range(of node: Node, file: String) -> SALRange? {
    guard let mark = node.mark else { return nil }
    var width = 1
    if case .scalar(let scalar) = node {
      switch scalar.style {
      case .plain, .any: width = max(1, scalar.string.contains(where: \.isNewline) ? 1 : scalar.string.count)
      case .singleQuoted, .doubleQuoted:
        width = scalar.string.contains(where: \.isNewline) ? 1 : scalar.string.count + 2
      case .literal, .folded: width = 1
      }
    }
    return SALRange(
      file: file, line: mark.line, column: mark.column, endLine: mark.line, endColumn: mark.column &+ width)
  }

  /// The places of a multi-line scalar's characters.
  ///
  /// - Parameters:
  ///   - scalar: The scalar.
  ///   - lines: The lines of the file.
  ///   - keyColumn: The column of the key that the scalar belongs to, from 1.
  static func positions(
    of scalar: Node.Scalar, file: String, lines: [Substring], keyColumn: Int
  ) -> SALPositions {
    let mark = scalar.mark
    let line = max(1, mark?.line ?? 1)
    switch scalar.style {
    case .literal:
      // The text starts on the line after the bar, and stands there as it is.
      let content = lines.dropFirst(line)
      let first = content.first { $0.contains { $0 != " " } } ?? ""
      let header = lines.indices.contains(line - 1) ? lines[line - 1] : ""
      let indicator = header.dropFirst(max(0, (mark?.column ?? 1) - 1)).prefix(3).compactMap(
        \.wholeNumberValue
      ).first
      let indentation = indicator.map { keyColumn - 1 + $0 } ?? first.prefix { $0 == " " }.count
      return SALPositions(SALSource(name: file, text: "", firstLine: line + 1, indentation: indentation))
    case .folded:
      return self.aligned(scalar.string, file: file, lines: lines, line: line + 1, column: 1)
    case .plain, .singleQuoted, .doubleQuoted, .any:
      return self.aligned(
        scalar.string, file: file, lines: lines, line: line, column: max(1, mark?.column ?? 1))
    }
  }

  /// Finds each character of a folded or quoted text in the file: what YAML changes is blanks and escapes only.
  private static func aligned(
    _ text: String, file: String, lines: [Substring], line: Int, column: Int
  ) -> SALPositions {
    var raw = RawCursor(lines: lines, line: line - 1, column: column - 1)
    var stretches: [[SALPositions.Stretch]] = [[]]
    var textColumn = 1
    for character in text {
      if character.isNewline {
        stretches.append([])
        textColumn = 1
        continue
      }
      if !character.isWhitespace, raw.find(character) {
        let found = SALPositions.Stretch(
          column: textColumn, fileLine: raw.line + 1, fileColumn: raw.column + 1)
        let last = stretches[stretches.count - 1].last
        let continues =
          last.map {
            $0.fileLine == found.fileLine && $0.fileColumn - $0.column == found.fileColumn - found.column
          }
          ?? false
        if !continues { stretches[stretches.count - 1].append(found) }
        raw.advance()
      }
      textColumn += 1
    }
    let source = SALSource(name: file, text: "", firstLine: line)
    return SALPositions(source, stretches: stretches)
  }

  /// A place in the lines of a file.
  private struct RawCursor {
    let lines: [Substring]
    var line: Int
    var column: Int
    private var rest: Substring

    init(lines: [Substring], line: Int, column: Int) {
      self.lines = lines
      self.line = line
      self.column = column
      self.rest = lines.indices.contains(line) ? lines[line].dropFirst(column) : ""
    }

    mutating func advance() {
      self.rest = self.rest.dropFirst()
      self.column += 1
    }

    /// Goes to the next place of a character, over blanks, line ends and a few characters of escapes.
    mutating func find(_ character: Character) -> Bool {
      let start = self
      var skipped = 0
      var visited = 0
      while true {
        visited += 1
        guard visited < 2_000 else { break }
        guard let next = self.rest.first else {
          guard self.line + 1 < self.lines.count else { break }
          self.line += 1
          self.column = 0
          self.rest = self.lines[self.line]
          continue
        }
        if next == character { return true }
        if !next.isWhitespace {
          skipped += 1
          if skipped > 12 { break }
        }
        self.advance()
      }
      self = start
      return false
    }
  }
}
