import Synchronization

/// Finds the words of a vocabulary that a misheard or misspelled word may stand for.
///
/// Words are similar if they sound alike, as recognisers confuse them, or if their letters are alike, as people mistype them;
/// the smaller distance counts. All words are compared, but of nearly all a mask of their letters or sounds is enough.
final class SimilarWords: Sendable {
  /// A word of the vocabulary, and how unlike it is: 0 for the same letters, 1 for the least similar that is still found.
  struct Match: Hashable, Sendable {
    var word: UInt32
    var distance: Float
  }

  private let letters: SymbolTable
  private let sounds: SymbolTable
  private let language: (any LanguagePack)?
  private let found = Mutex<[String: [Match]]>([:])

  /// Words that differ in more than this part of their letters are not similar.
  private static let largestDistance: Float = 0.4
  /// The same for sounds, of which few are wholly unlike.
  private static let largestSoundDistance: Float = 0.35
  /// How unlike words are that sound the same.
  private static let homophoneDistance: Float = 0.1
  private static let mostMatches = 8
  /// Words heard are kept up to this number, so that a stream of nonsense does not fill the memory.
  private static let mostKept = 4096
  /// Nobody says longer words.
  private static let longestWord = 64

  init(vocabulary: [String], language: (any LanguagePack)? = nil) {
    self.letters = SymbolTable(vocabulary.lazy.map { Array($0.utf8) })
    self.sounds = SymbolTable(vocabulary.lazy.map { Self.sounds(of: $0, language) })
    self.language = language
  }

  private static func sounds(of word: String, _ language: (any LanguagePack)?) -> [UInt8] {
    language?.sounds(of: word).map(\.rawValue) ?? []
  }

  func matches(_ word: String) -> [Match] {
    guard word.utf8.count <= Self.longestWord else { return [] }
    if let known = self.found.withLock({ $0[word] }) { return known }
    let best = self.nearest(letters: Array(word.utf8), sounds: Self.sounds(of: word, self.language))
    self.found.withLock { found in
      if found.count >= Self.mostKept { found.removeAll() }
      found[word] = best
    }
    return best
  }

  private func nearest(letters: [UInt8], sounds: [UInt8]) -> [Match] {
    var best: [Match] = []
    // Once there are enough words, others must be nearer than the last of them.
    var limit: Float = 1
    var byLetters = SymbolTable.Search(for: letters, costs: .letters)
    var bySounds = SymbolTable.Search(for: sounds, costs: .sounds)
    for word in 0..<self.letters.count {
      var distance: Float?
      if let cost = self.letters.cost(of: word, &byLetters, atMost: limit * Self.largestDistance) {
        // The same letters are the word itself.
        guard cost > 0 else { continue }
        distance = cost / Self.largestDistance
      }
      let rest = (min(limit, distance ?? limit) - Self.homophoneDistance) / (1 - Self.homophoneDistance)
      if rest >= 0, let cost = self.sounds.cost(of: word, &bySounds, atMost: rest * Self.largestSoundDistance)
      {
        let similar = Self.homophoneDistance + (1 - Self.homophoneDistance) * cost / Self.largestSoundDistance
        distance = min(distance ?? 1, similar)
      }
      guard let distance, distance <= limit else { continue }
      let match = Match(word: UInt32(word), distance: distance)
      let place = best.firstIndex { $0.distance > distance } ?? best.count
      best.insert(match, at: place)
      if best.count > Self.mostMatches { best.removeLast() }
      if best.count == Self.mostMatches, let last = best.last { limit = last.distance }
    }
    return best
  }
}
