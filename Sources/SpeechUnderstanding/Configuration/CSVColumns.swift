/// Columns of a CSV file (RFC 4180), read in one pass over its bytes.
///
/// Read leniently where people write leniently: a quote inside an unquoted field is a quote, any line end will do, and
/// lines without anything are skipped.
struct CSVColumns {
  /// Something wrong with the file.
  enum Problem: Hashable {
    /// It is not UTF-8; the line of the first byte that is not.
    case encoding(line: Int)
    /// A quoted field does not end; the line on which it starts.
    case unclosedQuote(line: Int)
    /// There is text between the closing quote of a field and the comma.
    case textAfterQuote(line: Int)
    /// There are more rows than allowed.
    case tooManyRows
  }

  /// The values of each wanted column, by number from 1; a row that lacks one has an empty value.
  private(set) var values: [Int: [String]] = [:]
  /// How many rows lack a wanted column, and the line of the first of them.
  private(set) var missing: [Int: (count: Int, firstLine: Int)] = [:]
  /// How many rows there are.
  private(set) var rows = 0
  /// Whether semicolons look like the separators.
  private(set) var seemsToUseSemicolons = false
  private(set) var problems: [Problem] = []

  /// How many rows a file may have.
  static let rowLimit = 1_000_000

  init(_ bytes: [UInt8], columns: Set<Int>, rowLimit: Int = CSVColumns.rowLimit) {
    let columns = columns.sorted()
    var lists = [[String]](repeating: [], count: columns.count)
    bytes.withUnsafeBufferPointer { self.read($0, columns: columns, into: &lists, rowLimit: rowLimit) }
    for (column, list) in zip(columns, lists) { self.values[column] = list }
  }

  private mutating func read(
    _ bytes: UnsafeBufferPointer<UInt8>, columns: [Int], into lists: inout [[String]], rowLimit: Int
  ) {
    var index = bytes.starts(with: [0xef, 0xbb, 0xbf]) ? 3 : 0
    var line = 1
    while index < bytes.count {
      guard self.rows < rowLimit else {
        self.problems.append(.tooManyRows)
        return
      }
      let firstLine = line
      var wanted = 0
      var column = 1
      var isBlank = true
      row: while true {
        let field = Self.field(in: bytes, from: index, line: line)
        line += field.lines
        if field.end > field.content.lowerBound { isBlank = false }
        if let problem = field.problem, self.problems.count < 100 { self.problems.append(problem) }
        if wanted < columns.count, columns[wanted] == column {
          lists[wanted].append(self.text(of: field, in: bytes, line: firstLine))
          wanted += 1
        }
        if column == 1, field.hasSemicolon { self.seemsToUseSemicolons = true }
        index = field.end
        guard index < bytes.count else { break row }
        switch bytes[index] {
        case UInt8(ascii: ","):
          index += 1
          column += 1
          isBlank = false
        case 0x0d:
          index += index + 1 < bytes.count && bytes[index + 1] == 0x0a ? 2 : 1
          line += 1
          break row
        default:
          index += 1
          line += 1
          break row
        }
      }
      if isBlank {
        for index in 0..<wanted { lists[index].removeLast() }
        continue
      }
      self.rows += 1
      for index in wanted..<columns.count {
        let before = self.missing[columns[index]]
        self.missing[columns[index]] = ((before?.count ?? 0) + 1, before?.firstLine ?? firstLine)
        lists[index].append("")
      }
    }
  }

  /// A field: where its content is and where it ends, which is at a comma, a line end or the end of the file.
  private struct Field {
    var content: Range<Int>
    var end: Int
    var isQuoted = false
    var hasQuotes = false
    var hasSemicolon = false
    /// How many line ends it holds.
    var lines = 0
    var problem: Problem?
  }

  private static func field(in bytes: UnsafeBufferPointer<UInt8>, from start: Int, line: Int) -> Field {
    var index = start
    guard index < bytes.count, bytes[index] == UInt8(ascii: "\"") else {
      var hasSemicolon = false
      while index < bytes.count, !self.endsField(bytes[index]) {
        if bytes[index] == UInt8(ascii: ";") { hasSemicolon = true }
        index += 1
      }
      return Field(content: start..<index, end: index, hasSemicolon: hasSemicolon)
    }
    var field = Field(content: (start + 1)..<(start + 1), end: start, isQuoted: true)
    index += 1
    while true {
      guard index < bytes.count else {
        field.problem = .unclosedQuote(line: line)
        break
      }
      switch bytes[index] {
      case UInt8(ascii: "\"") where index + 1 < bytes.count && bytes[index + 1] == UInt8(ascii: "\""):
        field.hasQuotes = true
        index += 2
        continue
      case UInt8(ascii: "\""):
        field.content = (start + 1)..<index
        index += 1
        let afterQuote = index
        while index < bytes.count, !self.endsField(bytes[index]) { index += 1 }
        if bytes[afterQuote..<index].contains(where: { $0 != 0x20 && $0 != 0x09 }) {
          field.problem = .textAfterQuote(line: line + field.lines)
        }
        field.end = index
        return field
      case 0x0a:
        field.lines += 1
      case 0x0d where index + 1 >= bytes.count || bytes[index + 1] != 0x0a:
        field.lines += 1
      default:
        break
      }
      index += 1
    }
    field.content = (start + 1)..<max(start + 1, index)
    field.end = index
    return field
  }

  private static func endsField(_ byte: UInt8) -> Bool {
    byte == UInt8(ascii: ",") || byte == 0x0a || byte == 0x0d
  }

  /// The text of a field without blanks around it.
  private mutating func text(of field: Field, in bytes: UnsafeBufferPointer<UInt8>, line: Int) -> String {
    let content = UnsafeBufferPointer(rebasing: bytes[field.content])
    guard let text = String(validating: content, as: UTF8.self) else {
      if !self.problems.contains(where: { if case .encoding = $0 { true } else { false } }) {
        self.problems.append(.encoding(line: line))
      }
      return ""
    }
    let trimmed = SALNumbers.trimmed(text)
    return field.hasQuotes ? trimmed.replacing("\"\"", with: "\"") : trimmed
  }
}
