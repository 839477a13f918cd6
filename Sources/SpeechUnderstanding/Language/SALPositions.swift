/// Where the characters of a text in SAL stand in the file that holds it.
///
/// A text that YAML folds loses line breaks, so that one of its lines stands on several lines of the file.
struct SALPositions: Hashable, Sendable {
  /// A stretch of one line of the text that stands on one line of the file.
  struct Stretch: Hashable, Sendable {
    /// The first column in the text, from 1.
    var column: Int
    /// The line of the file, from 1.
    var fileLine: Int
    /// The column of the file, from 1, at which the stretch starts.
    var fileColumn: Int
  }

  var file: String
  var firstLine: Int
  var indentation: Int
  /// For folded texts: the stretches of each line, in order; empty if the text stands in the file as it is.
  var stretches: [[Stretch]]

  init(_ source: SALSource, stretches: [[Stretch]] = []) {
    self.file = source.name
    self.firstLine = source.firstLine
    self.indentation = source.indentation
    self.stretches = stretches
  }

  /// The line and column in the file of a line and column in the text, all from 1.
  func place(line: Int, column: Int) -> (line: Int, column: Int) {
    guard !self.stretches.isEmpty else {
      return (self.firstLine &+ line &- 1, self.indentation &+ column)
    }
    let index = min(max(line, 1), self.stretches.count) - 1
    let candidates = self.stretches[index]
    guard let first = candidates.first else { return (self.firstLine, 1) }
    var low = 0
    var high = candidates.count
    while low < high {
      let middle = (low + high) / 2
      if candidates[middle].column <= column { low = middle + 1 } else { high = middle }
    }
    let stretch = low > 0 ? candidates[low - 1] : first
    return (stretch.fileLine, stretch.fileColumn + max(0, column - stretch.column))
  }

  func range(from start: SALLexer.Place, to end: SALLexer.Place) -> SALRange {
    let first = self.place(line: start.line, column: start.column)
    // The end lies after the last character, which may be the last of its stretch.
    let hasWidth = end.line > start.line || end.column > start.column
    let last = self.place(line: end.line, column: hasWidth && end.column > 1 ? end.column - 1 : end.column)
    return SALRange(
      file: self.file, line: first.line, column: first.column, endLine: last.line,
      endColumn: hasWidth && end.column > 1 ? last.column &+ 1 : last.column)
  }
}
