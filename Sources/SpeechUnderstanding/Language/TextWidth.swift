/// How many columns of a terminal a text takes.
enum TextWidth {
  static func columns(of text: String) -> Int {
    text.reduce(0) { $0 + self.columns(of: $1) }
  }

  /// Two for East Asian wide characters and emoji (Unicode Standard Annex #11), none for what only modifies others.
  static func columns(of character: Character) -> Int {
    var width = 0
    for scalar in character.unicodeScalars {
      // A selector asks for the emoji form of the character before it.
      if scalar == "\u{fe0f}" { return 2 }
      width = max(width, self.columns(of: scalar))
    }
    return width
  }

  private static func columns(of scalar: Unicode.Scalar) -> Int {
    switch scalar.properties.generalCategory {
    case .nonspacingMark, .enclosingMark, .format, .control: return 0
    default: break
    }
    if scalar.properties.isEmojiPresentation { return 2 }
    switch scalar.value {
    case 0x1100...0x115f, 0x2e80...0x303e, 0x3041...0x33ff, 0x3400...0x4dbf, 0x4e00...0x9fff, 0xa000...0xa4cf,
      0xa960...0xa97f, 0xac00...0xd7a3, 0xf900...0xfaff, 0xfe10...0xfe19, 0xfe30...0xfe6f, 0xff00...0xff60,
      0xffe0...0xffe6, 0x1f300...0x1f64f, 0x1f900...0x1f9ff, 0x20000...0x3fffd:
      return 2
    default: return 1
    }
  }
}
