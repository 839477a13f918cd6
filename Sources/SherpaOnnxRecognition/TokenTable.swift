import Foundation

/// The pieces of words that a model can say, from its `tokens.txt`: a piece and its number on each line.
///
/// The recognition library ends the process at a line that it cannot read, so it gets ``text``, which was read here.
struct TokenTable: Hashable, Sendable {
  /// Why a table cannot be used.
  enum Problem: Error, Hashable, Sendable {
    case notText
    /// The line with this number, from 1, is not a piece and its number.
    case line(Int)
    /// Two lines have this number.
    case doubled(Int)
  }

  private let pieces: [Int: String]

  /// Reads the bytes of a file.
  init(_ data: Data) throws(Problem) {
    guard let text = String(data: data, encoding: .utf8), !text.utf8.contains(0) else { throw .notText }
    var pieces: [Int: String] = [:]
    // Only the white space of ASCII separates; a piece may well be a wide space.
    let lines = text.unicodeScalars.split(separator: "\n", omittingEmptySubsequences: false)
    for (index, line) in lines.enumerated() {
      let fields = line.split { $0 == " " || ("\t"..."\r").contains($0) }
      guard let last = fields.last else { continue }
      guard fields.count <= 2, let number = Int(String(last)), (0...Self.largestNumber).contains(number)
      else {
        throw .line(index + 1)
      }
      guard pieces[number] == nil else { throw .doubled(number) }
      // A line with a number alone is the space.
      pieces[number] = fields.count == 2 ? String(fields[fields.startIndex]) : " "
    }
    self.pieces = pieces
  }

  private static let largestNumber = 10_000_000

  /// The table in the form that the recognition library reads.
  var text: String {
    self.pieces.sorted { $0.key < $1.key }.map { $1 == " " ? "\($0)\n" : "\($1) \($0)\n" }.joined()
  }

  /// The first number below `count` that has no piece.
  func firstMissing(below count: Int) -> Int? { (0..<count).first { self.pieces[$0] == nil } }

  /// The mark with which pieces begin that begin a word, `▁`.
  static let wordMark: Character = "\u{2581}"

  /// Whether words are written in capitals throughout.
  var isUppercase: Bool {
    self.words.contains { $0 != $0.lowercased() } && !self.words.contains { $0 != $0.uppercased() }
  }

  /// Whether words are written without capitals.
  var isLowercase: Bool { !self.words.contains { $0 != $0.lowercased() } }

  /// Whether each letter of a word can come from some piece.
  func canSpell(_ word: Substring) -> Bool {
    let letters = Set(self.words.joined())
    return word.allSatisfy(letters.contains)
  }

  /// The pieces without those that are signs for something.
  private var words: [String] { self.pieces.values.filter { !$0.hasPrefix("<") && !$0.hasPrefix("#") } }

  /// Whether the pieces are bytes in disguise, as sherpa-onnx tells it: every letter is below U+0180, the last of them used.
  var isByteLevel: Bool {
    var highest: UInt8 = 0
    for piece in self.pieces.values {
      for byte in (piece.first == Self.wordMark ? String(piece.dropFirst()) : piece).utf8 {
        highest = max(highest, byte)
      }
    }
    return highest == 0xc6
  }
}
