/// A terminal that understands what the live display writes: text, line ends, moving up, erasing below, and styles.
///
/// Unknown escape sequences are recorded, so that a test notices them.
struct VirtualTerminal {
  struct Cell: Equatable {
    var character: Character
    var isDim: Bool
  }

  let width: Int
  private(set) var cells: [[Cell]] = [[]]
  private(set) var unknown: [String] = []
  private var row = 0
  private var column = 0
  private var isDim = false

  init(width: Int) {
    self.width = width
  }

  /// The rows without trailing spaces, and without empty rows at the end.
  var rows: [String] {
    var rows = self.cells.map { row in
      var text = String(row.map(\.character))
      while text.hasSuffix(" ") { text.removeLast() }
      return text
    }
    while rows.last?.isEmpty == true { rows.removeLast() }
    return rows
  }

  /// The words that are dim, in the order in which they are seen.
  var dimText: String {
    self.cells.map { row in String(row.map { $0.isDim ? $0.character : " " }) }.joined(separator: " ")
      .split(separator: " ").joined(separator: " ")
  }

  mutating func feed(_ text: String) {
    var rest = Substring(text)
    while let character = rest.popFirst() {
      switch character {
      case "\r\n":
        self.column = 0
        self.lineFeed()
      case "\r": self.column = 0
      case "\n":
        self.column = 0
        self.lineFeed()
      case "\u{1B}": self.escape(&rest)
      default: self.put(character)
      }
    }
  }

  private mutating func lineFeed() {
    self.row += 1
    while self.cells.count <= self.row { self.cells.append([]) }
  }

  private mutating func put(_ character: Character) {
    if self.column == self.width {
      self.column = 0
      self.lineFeed()
    }
    while self.cells[self.row].count <= self.column {
      self.cells[self.row].append(Cell(character: " ", isDim: false))
    }
    self.cells[self.row][self.column] = Cell(character: character, isDim: self.isDim)
    self.column += 1
  }

  private mutating func escape(_ rest: inout Substring) {
    guard rest.popFirst() == "[" else { return self.unknown.append("ESC without [") }
    var parameters = ""
    while let character = rest.popFirst() {
      guard character.isLetter else {
        parameters.append(character)
        continue
      }
      switch (character, parameters) {
      case ("m", _):
        for code in parameters.split(separator: ";") {
          if code == "0" { self.isDim = false }
          if code == "2" { self.isDim = true }
        }
      case ("A", _): self.row = max(0, self.row - (Int(parameters) ?? 1))
      case ("J", ""):
        self.cells.removeSubrange((self.row + 1)...)
        self.cells[self.row].removeSubrange(min(self.column, self.cells[self.row].count)...)
      default: self.unknown.append("\(parameters)\(character)")
      }
      return
    }
  }
}
