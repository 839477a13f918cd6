/// How a piece of text looks on a terminal that shows colours.
struct TextStyle: OptionSet, Hashable, Sendable {
  let rawValue: Int

  static let bold = TextStyle(rawValue: 1 << 0)
  static let dim = TextStyle(rawValue: 1 << 1)
  static let red = TextStyle(rawValue: 1 << 2)
  static let green = TextStyle(rawValue: 1 << 3)
  static let yellow = TextStyle(rawValue: 1 << 4)
  static let cyan = TextStyle(rawValue: 1 << 5)
  static let struck = TextStyle(rawValue: 1 << 6)

  /// The parameters of "Select Graphic Rendition" (ECMA-48 section 8.3.117).
  private static let parameters: [(TextStyle, Int)] = [
    (.bold, 1), (.dim, 2), (.struck, 9), (.red, 31), (.green, 32), (.yellow, 33), (.cyan, 36),
  ]

  var escapeSequence: String {
    let numbers = Self.parameters.filter { self.contains($0.0) }.map { String($0.1) }
    return numbers.isEmpty ? "" : "\u{1B}[\(numbers.joined(separator: ";"))m"
  }
}

/// A line of text whose parts have styles; it holds no control characters, whatever it was made from.
struct StyledText: Hashable, Sendable, ExpressibleByStringInterpolation {
  struct Span: Hashable, Sendable {
    var text: String
    var style: TextStyle
  }

  private(set) var spans: [Span] = []

  init() {}

  init(_ text: String, _ style: TextStyle = []) {
    self.append(text, style)
  }

  init(stringLiteral value: String) {
    self.init(value)
  }

  mutating func append(_ text: String, _ style: TextStyle = []) {
    guard !text.isEmpty else { return }
    let text = Self.withoutControls(text)
    if let last = self.spans.last, last.style == style {
      self.spans[self.spans.count - 1].text += text
    } else {
      self.spans.append(Span(text: text, style: style))
    }
  }

  mutating func append(_ other: StyledText) {
    for span in other.spans { self.append(span.text, span.style) }
  }

  static func + (left: StyledText, right: StyledText) -> StyledText {
    var sum = left
    sum.append(right)
    return sum
  }

  var plain: String { self.spans.map(\.text).joined() }
  var isEmpty: Bool { self.spans.isEmpty }

  /// How many columns the text takes.
  var width: Int { self.spans.reduce(0) { $0 + TextWidth.columns(of: $1.text) } }

  func rendered(withColor: Bool) -> String {
    guard withColor else { return self.plain }
    return self.spans.map { span in
      let start = span.style.escapeSequence
      return start.isEmpty ? span.text : start + span.text + "\u{1B}[0m"
    }.joined()
  }

  /// What a server, a file name or an environment variable says must not move the cursor or ring the bell.
  static func withoutControls(_ text: String) -> String {
    guard text.unicodeScalars.contains(where: Self.isControl) else { return text }
    var result = String.UnicodeScalarView()
    for scalar in text.unicodeScalars {
      if !Self.isControl(scalar) {
        result.append(scalar)
      } else {
        result.append(scalar == "\t" || scalar == "\n" ? " " : "\u{FFFD}")
      }
    }
    return String(result)
  }

  private static func isControl(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.value {
    // C0 and C1, and what turns the direction of the rest of the line.
    case 0x00...0x1F, 0x7F...0x9F, 0x2028...0x202E, 0x2066...0x2069: true
    default: false
    }
  }
}

extension StyledText {
  /// Breaks the text between words so that no row is wider than `width`; a word that is wider is cut.
  ///
  /// - Parameters:
  ///   - width: The columns of a row, at least 1.
  ///   - indent: How many spaces the rows after the first begin with.
  func wrapped(to width: Int, indent: Int = 0) -> [StyledText] {
    var wrapper = RowWrapper(width: width, indent: indent)
    for span in self.spans {
      for (index, piece) in span.text.split(separator: " ", omittingEmptySubsequences: false).enumerated() {
        if index > 0 { wrapper.addSpace(span.style) }
        if !piece.isEmpty { wrapper.add(String(piece), span.style) }
      }
    }
    return wrapper.finish()
  }
}

/// Fills rows with words.
private struct RowWrapper {
  let width: Int
  let indent: Int
  private var rows: [StyledText] = []
  private var row = StyledText()
  private var used = 0
  /// A word may have several styles: it is put on a row when it is complete.
  private var word = StyledText()
  private var wordWidth = 0
  private var spaces = StyledText()

  init(width: Int, indent: Int) {
    self.width = max(1, width)
    self.indent = max(0, min(indent, max(1, width) - 1))
  }

  mutating func add(_ text: String, _ style: TextStyle) {
    self.word.append(text, style)
    self.wordWidth += TextWidth.columns(of: text)
  }

  mutating func addSpace(_ style: TextStyle) {
    self.placeWord()
    self.spaces.append(" ", style)
  }

  mutating func finish() -> [StyledText] {
    self.placeWord()
    return self.rows + [self.row]
  }

  private mutating func placeWord() {
    guard self.wordWidth > 0 else { return }
    let gap = self.spaces.width
    if self.used > 0 || self.rows.isEmpty, self.used + gap + self.wordWidth <= self.width {
      self.row.append(self.spaces)
      self.row.append(self.word)
      self.used += gap + self.wordWidth
    } else {
      if self.used > 0 { self.breakRow() }
      self.placeOnEmptyRow()
    }
    self.word = StyledText()
    self.wordWidth = 0
    self.spaces = StyledText()
  }

  private mutating func breakRow() {
    self.rows.append(self.row)
    self.row = StyledText(String(repeating: " ", count: self.indent))
    self.used = self.indent
  }

  private mutating func placeOnEmptyRow() {
    var hasText = false
    for span in self.word.spans {
      for character in span.text {
        let columns = TextWidth.columns(of: String(character))
        if self.used + columns > self.width, hasText { self.breakRow() }
        self.row.append(String(character), span.style)
        self.used += columns
        hasText = true
      }
    }
  }
}
