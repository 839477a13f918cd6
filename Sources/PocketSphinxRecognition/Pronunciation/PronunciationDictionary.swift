import Foundation
package import VoiceCore

/// The pronunciation dictionary of a model: a text file with a word and its phones in each line.
///
/// Nothing is kept in memory. Looking words up goes once through the file, which takes some milliseconds however many words
/// are wanted, so all words of a grammar are best looked up together.
package struct PronunciationDictionary: Sendable {
  /// The file.
  package let path: String

  package init(path: String) {
    self.path = path
  }

  /// The pronunciations of those of the words that the dictionary has, in its order.
  ///
  /// - Parameter words: Words as the dictionary spells them, in lower case.
  /// - Throws: ``VoiceFailure`` with code `speech.engine.model-missing`.
  package func pronunciations(of words: Set<String>) throws(VoiceFailure) -> [String: [Pronunciation]] {
    guard !words.isEmpty else { return [:] }
    guard let file = FileManager.default.contents(atPath: self.path) else {
      throw VoiceFailure(
        .modelMissing, message: "The pronunciation dictionary \(self.path) is missing or cannot be read.")
    }
    let scan = Scan(words: words)
    return file.withUnsafeBytes { scan.lines(of: $0) }
  }
}

extension PronunciationDictionary {
  private struct Scan {
    private let words: Set<String>
    /// Which hashes of words are wanted: few lines have to be looked at any closer.
    private var isWanted = [Bool](repeating: false, count: 1 << 16)

    init(words: Set<String>) {
      self.words = words
      for word in words { self.isWanted[Self.hash(word.utf8)] = true }
    }

    func lines(of bytes: UnsafeRawBufferPointer) -> [String: [Pronunciation]] {
      var found: [String: [Pronunciation]] = [:]
      var start = 0
      while start < bytes.count {
        let end = Self.position(of: UInt8(ascii: "\n"), in: bytes, from: start)
        self.line(UnsafeRawBufferPointer(rebasing: bytes[start..<end]), into: &found)
        start = end + 1
      }
      return found
    }

    private func line(_ line: UnsafeRawBufferPointer, into found: inout [String: [Pronunciation]]) {
      // A further pronunciation is numbered: `read(2) R EH D`.
      let key = line.prefix { $0 != UInt8(ascii: " ") && $0 != UInt8(ascii: "\t") && $0 != UInt8(ascii: "(") }
      guard !key.isEmpty, self.isWanted[Self.hash(key)] else { return }
      let word = String(decoding: key, as: UTF8.self)
      guard self.words.contains(word) else { return }
      let fields = line.split {
        $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") || $0 == UInt8(ascii: "\r")
      }
      let phones = fields.dropFirst().map { String(decoding: $0, as: UTF8.self) }
      guard !phones.isEmpty else { return }
      found[word, default: []].append(Pronunciation(phones))
    }

    private static func position(of byte: UInt8, in bytes: UnsafeRawBufferPointer, from start: Int) -> Int {
      guard let base = bytes.baseAddress,
        let place = memchr(base + start, Int32(byte), bytes.count - start)
      else { return bytes.count }
      return UnsafeRawPointer(place) - base
    }

    private static func hash(_ bytes: some Sequence<UInt8>) -> Int {
      var hash: UInt32 = 2_166_136_261
      for byte in bytes { hash = (hash ^ UInt32(byte)) &* 16_777_619 }
      return Int((hash ^ hash >> 16) & 0xFFFF)
    }
  }
}
