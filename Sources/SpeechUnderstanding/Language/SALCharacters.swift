/// Which characters mean what in SAL (protocol document, section 4.1).
enum SALCharacters {
  /// The symbol that an ASCII character is; `nil` for one that can be part of a word.
  static func symbol(of byte: UInt8) -> SALLexer.Symbol? {
    switch byte {
    case 0x0a, 0x0d: .newline
    case UInt8(ascii: "["): .openBracket
    case UInt8(ascii: "]"): .closeBracket
    case UInt8(ascii: "{"): .openBrace
    case UInt8(ascii: "}"): .closeBrace
    case UInt8(ascii: "("): .openParenthesis
    case UInt8(ascii: ")"): .closeParenthesis
    case UInt8(ascii: "|"): .bar
    case UInt8(ascii: "*"): .star
    case UInt8(ascii: "$"): .dollar
    case UInt8(ascii: "!"): .exclamation
    default: nil
    }
  }

  /// Whether a backslash may take the meaning from a character: all punctuation of ASCII.
  static func canBeEscaped(_ byte: UInt8) -> Bool {
    switch byte {
    case 0x21...0x2f, 0x3a...0x40, 0x5b...0x60, 0x7b...0x7e: true
    default: false
    }
  }

  /// Whether a name of a variable may hold a character: letters and digits of any script, and the underscore.
  static func isNameCharacter(_ scalar: Unicode.Scalar) -> Bool {
    if scalar.isASCII {
      return scalar == "_" || self.isASCIILetterOrDigit(scalar)
    }
    switch scalar.properties.generalCategory {
    case .uppercaseLetter, .lowercaseLetter, .titlecaseLetter, .modifierLetter, .otherLetter, .decimalNumber,
      .nonspacingMark, .spacingMark:
      return true
    default:
      return false
    }
  }

  /// Whether a name of an intent or an entity may hold a character: `a-z`, `A-Z`, `0-9`, `-` and `_`.
  static func isIdentifierCharacter(_ scalar: Unicode.Scalar) -> Bool {
    scalar == "_" || scalar == "-" || self.isASCIILetterOrDigit(scalar)
  }

  static func isASCIILetterOrDigit(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar {
    case "a"..."z", "A"..."Z", "0"..."9": true
    default: false
    }
  }

  static func isDigit(_ byte: UInt8) -> Bool {
    byte >= UInt8(ascii: "0") && byte <= UInt8(ascii: "9")
  }

  /// Whether a character has no width and changes how a line looks: a blank that nobody sees, or a change of direction.
  ///
  /// Joiners (U+200C, U+200D) are not among them: words of some scripts need them.
  static func isInvisible(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.value {
    case 0x200b, 0x200e, 0x200f, 0x202a...0x202e, 0x2060...0x2069, 0xfeff: true
    default: false
    }
  }

  /// Whether somebody can say a word: one without any letter, digit or symbol is only punctuation.
  static func canBeSaid(_ word: String) -> Bool {
    word.unicodeScalars.contains { scalar in
      if scalar.isASCII {
        return self.isASCIILetterOrDigit(scalar) || "&+%@$=<>^~|#*/".unicodeScalars.contains(scalar)
      }
      switch scalar.properties.generalCategory {
      case .connectorPunctuation, .dashPunctuation, .openPunctuation, .closePunctuation, .initialPunctuation,
        .finalPunctuation, .otherPunctuation, .control, .format, .spaceSeparator, .lineSeparator,
        .paragraphSeparator:
        return false
      default:
        return true
      }
    }
  }
}
