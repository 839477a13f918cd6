/// A text in SAL, the annotation language, with the name under which diagnostics speak of it.
public struct SALSource: Hashable, Sendable {
  /// The file's name, or another name for people.
  public var name: String
  /// The text.
  public var text: String
  /// The line of the file on which the text starts, from 1: templates often stand inside a configuration file.
  public var firstLine: Int
  /// By how many columns each line of the text is indented in the file.
  public var indentation: Int

  /// Creates a source.
  public init(name: String, text: String, firstLine: Int = 1, indentation: Int = 0) {
    self.name = name
    self.text = text
    self.firstLine = firstLine
    self.indentation = indentation
  }
}

/// A place in a source: from one character up to another on the same or a later line.
public struct SALRange: Hashable, Sendable {
  /// The file's name.
  public var file: String
  /// The line of the first character, from 1.
  public var line: Int
  /// The column of the first character, from 1, counted in characters.
  public var column: Int
  /// The line of the end.
  public var endLine: Int
  /// The column after the last character.
  public var endColumn: Int

  /// Creates a place.
  public init(file: String, line: Int, column: Int, endLine: Int, endColumn: Int) {
    self.file = file
    self.line = line
    self.column = column
    self.endLine = endLine
    self.endColumn = endColumn
  }

  /// From the start of this place to the end of another.
  public func extended(to other: SALRange) -> SALRange {
    SALRange(
      file: self.file, line: self.line, column: self.column, endLine: other.endLine,
      endColumn: other.endColumn)
  }
}
