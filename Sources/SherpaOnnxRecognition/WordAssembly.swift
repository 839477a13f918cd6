import Foundation
import SpeechPipeline

/// Makes words of the pieces that a model says one after the other.
///
/// A piece that begins with a space begins a word, and so does each ideograph. Pieces that stand for single bytes, such as
/// `<0xE4>`, are put together to letters. The model tells when a piece was heard, not when it ended: a word ends where the next
/// begins, at the latest ``tail`` after its last piece.
struct WordAssembly: Hashable, Sendable {
  struct Piece: Hashable, Sendable {
    var text: String
    /// From the start of the utterance.
    var time: Duration
    /// The logarithm of its probability, if it is known.
    var logProbability: Double?
  }

  /// How long the last piece of a word is taken to sound.
  static let tail = Duration.milliseconds(240)
  /// How finely the model tells times.
  static let step = Duration.milliseconds(40)

  private struct Word {
    var bytes: [UInt8] = []
    var start: Duration
    var last: Duration
    var logProbabilities: [Double?] = []
    /// Whether it is an ideograph, which is a word by itself.
    var isWhole = false
  }

  /// The words of an utterance.
  ///
  /// - Parameter length: How long the utterance is; no word lasts longer.
  static func words(of pieces: [Piece], length: Duration) -> [RecognizedWord] {
    var words: [Word] = []
    for piece in pieces {
      let startsWord = piece.text.first == " " || piece.text.first == TokenTable.wordMark
      let text = startsWord ? piece.text.dropFirst() : piece.text[...]
      let isIdeograph = text.unicodeScalars.first.map(self.isIdeograph) ?? false
      if startsWord || isIdeograph || words.last?.isWhole != false {
        words.append(Word(start: piece.time, last: piece.time))
      }
      var word = words.removeLast()
      // A mark that stands alone says nothing of when the word begins.
      if word.bytes.isEmpty { word.start = piece.time }
      word.bytes += self.byte(text).map { [$0] } ?? Array(text.utf8)
      word.last = piece.time
      word.logProbabilities.append(piece.logProbability)
      word.isWhole = isIdeograph
      words.append(word)
    }
    return self.timed(words.filter { !$0.bytes.isEmpty }, length: length)
  }

  private static func timed(_ words: [Word], length: Duration) -> [RecognizedWord] {
    var result: [RecognizedWord] = []
    var earliest = Duration.zero
    for (index, word) in words.enumerated() {
      let start = min(max(word.start, earliest), length)
      var end = min(word.last + self.tail, length)
      if index + 1 < words.count { end = min(end, max(words[index + 1].start, word.last)) }
      end = max(start, end)
      let text = String(decoding: word.bytes, as: UTF8.self).lowercased()
      result.append(RecognizedWord(text: text, start: start, end: end, confidence: self.confidence(word)))
      earliest = end
    }
    return result
  }

  /// The geometric mean of the probabilities of the pieces.
  private static func confidence(_ word: Word) -> Double? {
    let known = word.logProbabilities.compactMap { $0 }
    guard !known.isEmpty, known.count == word.logProbabilities.count else { return nil }
    let mean = known.reduce(0, +) / Double(known.count)
    guard mean.isFinite else { return nil }
    return min(1, max(0, exp(mean)))
  }

  private static func byte(_ text: Substring) -> UInt8? {
    guard text.utf8.count == 6, text.hasPrefix("<0x"), text.hasSuffix(">") else { return nil }
    return UInt8(text.dropFirst(3).dropLast(), radix: 16)
  }

  private static func isIdeograph(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.value {
    case 0x3040...0x30ff, 0x3400...0x4dbf, 0x4e00...0x9fff, 0xf900...0xfaff, 0x20000...0x3ffff: true
    default: false
    }
  }
}
