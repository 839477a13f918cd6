import Synchronization

/// Finds the words of a vocabulary that a misheard or misspelled word may stand for.
final class SimilarWords: Sendable {
  /// A word of the vocabulary, and how unlike it is: 0 for the same letters, 1 for the least similar that is still found.
  struct Match: Hashable, Sendable {
    var word: UInt32
    var distance: Float
  }

  private let vocabulary: [[UInt8]]
  private let found = Mutex<[String: [Match]]>([:])

  /// Words that differ in more than this part of their letters are not similar.
  private static let largestDistance: Float = 0.4
  private static let mostMatches = 8
  /// Words heard are kept up to this number, so that a stream of nonsense does not fill the memory.
  private static let mostKept = 4096

  init(vocabulary: [String]) {
    self.vocabulary = vocabulary.map { Array($0.utf8) }
  }

  func matches(_ word: String) -> [Match] {
    if let known = self.found.withLock({ $0[word] }) { return known }
    let letters = Array(word.utf8)
    var matches: [Match] = []
    var row: [Int] = []
    var previous: [Int] = []
    for (number, other) in self.vocabulary.enumerated() where other != letters {
      let longest = max(letters.count, other.count)
      let limit = Int(Self.largestDistance * Float(longest))
      guard limit > 0, abs(letters.count - other.count) <= limit else { continue }
      let distance = Self.distance(letters, other, atMost: limit, &row, &previous)
      guard distance <= limit else { continue }
      let share = Float(distance) / (Float(longest) * Self.largestDistance)
      matches.append(Match(word: UInt32(number), distance: min(1, share)))
    }
    matches.sort { ($0.distance, $0.word) < ($1.distance, $1.word) }
    let best = Array(matches.prefix(Self.mostMatches))
    self.found.withLock { found in
      if found.count >= Self.mostKept { found.removeAll() }
      found[word] = best
    }
    return best
  }

  /// The number of letters to insert, drop or replace, or a number above the limit.
  private static func distance(
    _ left: [UInt8], _ right: [UInt8], atMost limit: Int, _ row: inout [Int], _ previous: inout [Int]
  ) -> Int {
    previous = Array(0...right.count)
    row = previous
    for (index, letter) in left.enumerated() {
      row[0] = index + 1
      var least = row[0]
      for (column, other) in right.enumerated() {
        let replaced = previous[column] + (letter == other ? 0 : 1)
        row[column + 1] = min(replaced, previous[column + 1] + 1, row[column] + 1)
        least = min(least, row[column + 1])
      }
      if least > limit { return limit + 1 }
      swap(&row, &previous)
    }
    return previous[right.count]
  }
}
