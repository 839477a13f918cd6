/// The rows at the bottom of a terminal that change, below lines that stay: a value that says what to write.
///
/// The cursor is left at the end of the last changing row, so that whatever somebody else writes is visible. A terminal that
/// was made narrower has broken the rows that were drawn; the block counts them as the terminal shows them now.
struct LiveBlock: Hashable, Sendable {
  private var drawn: [StyledText] = []
  private let showsColor: Bool

  init(showsColor: Bool) {
    self.showsColor = showsColor
  }

  var isEmpty: Bool { self.drawn.isEmpty }

  /// Replaces the changing rows, after lines that stay.
  ///
  /// - Parameters:
  ///   - rows: What is to be seen from now on; rows that are wider than the terminal are cut.
  ///   - lines: What is to be seen above them for good.
  ///   - size: The size of the terminal now.
  mutating func draw(_ rows: [StyledText], above lines: [StyledText] = [], on size: Console.Size) -> String {
    // The last column stays free: a terminal that breaks rows by itself does it there.
    let rows = rows.suffix(max(1, size.height - 1)).map { $0.cut(to: size.width - 1) }
    guard rows != self.drawn || !lines.isEmpty else { return "" }
    var text = self.erase(on: size)
    for line in lines { text += line.rendered(withColor: self.showsColor) + "\r\n" }
    text += rows.map { $0.rendered(withColor: self.showsColor) }.joined(separator: "\r\n")
    self.drawn = rows
    return text
  }

  /// Removes the changing rows.
  mutating func clear(on size: Console.Size) -> String {
    let text = self.erase(on: size)
    self.drawn = []
    return text
  }

  private func erase(on size: Console.Size) -> String {
    guard !self.drawn.isEmpty else { return "" }
    let height = self.drawn.reduce(0) { $0 + max(1, ($1.width + size.width - 1) / size.width) }
    // To the first column, up to the first row, erase to the end of the screen.
    return "\r" + (height > 1 ? "\u{1B}[\(height - 1)A" : "") + "\u{1B}[J"
  }
}

extension StyledText {
  /// The beginning of the text that fits.
  func cut(to width: Int) -> StyledText {
    guard self.width > width else { return self }
    var result = StyledText()
    var used = 0
    for span in self.spans {
      for character in span.text {
        used += TextWidth.columns(of: String(character))
        guard used <= width else { return result }
        result.append(String(character), span.style)
      }
    }
    return result
  }
}
