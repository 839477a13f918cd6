/// How many columns of a terminal text takes.
enum TextWidth {
  static func columns(of text: String) -> Int {
    // Almost everything is ASCII.
    if text.utf8.allSatisfy({ $0 < 0x80 }) { return text.utf8.count }
    return text.reduce(0) { $0 + self.columns(of: $1) }
  }

  private static func columns(of character: Character) -> Int {
    guard let first = character.unicodeScalars.first else { return 0 }
    switch first.properties.generalCategory {
    case .nonspacingMark, .enclosingMark, .format: return 0
    default: break
    }
    let isEmoji = character.unicodeScalars.contains {
      $0.value == 0xFE0F || $0.properties.isEmojiPresentation
    }
    return isEmoji || self.isWide(first.value) ? 2 : 1
  }

  /// The blocks of wide characters (Unicode Standard Annex 11, `W` and `F`), coarsely.
  private static func isWide(_ value: UInt32) -> Bool {
    switch value {
    case 0x1100...0x115F, 0x2E80...0x303E, 0x3041...0x33FF, 0x3400...0x4DBF, 0x4E00...0x9FFF, 0xA000...0xA4CF,
      0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE30...0xFE6F, 0xFF00...0xFF60, 0xFFE0...0xFFE6, 0x20000...0x3FFFD:
      true
    default:
      false
    }
  }
}
