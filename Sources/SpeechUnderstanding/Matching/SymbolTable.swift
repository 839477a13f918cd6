/// The words of a vocabulary as sequences of letters or sounds, laid out so that one can quickly be compared with all.
struct SymbolTable: Sendable {
  /// All sequences, one after the other.
  private var symbols: [UInt8] = []
  private var starts: [Int32] = [0]
  /// What is in each sequence: a bit for each symbol.
  private var masks: [UInt64] = []

  var count: Int { self.masks.count }

  init(_ words: some Sequence<[UInt8]>) {
    for word in words {
      self.symbols += word
      self.starts.append(Int32(clamping: self.symbols.count))
      self.masks.append(Self.mask(word))
    }
  }

  private static func mask(_ word: [UInt8]) -> UInt64 {
    word.reduce(0) { $0 | 1 << UInt64($1 & 63) }
  }

  /// What edits cost, in tenths of a wrong symbol.
  struct Costs: Sendable {
    fileprivate let replacement: [UInt8]
    fileprivate let omission: [UInt8]
    /// The number of symbols, beyond which they are taken as the last.
    fileprivate let count: Int
    /// The least that replacing a symbol by another costs, or leaving one out.
    fileprivate let leastReplacement: Int
    fileprivate let leastOmission: Int

    /// All letters are equally unlike.
    static let letters = Costs(count: 256, replacing: { $0 == $1 ? 0 : 10 }, omitting: { _ in 10 })

    /// Sounds that are taken for each other cost less.
    static let sounds = Costs(
      count: SpeechSound.allCases.count,
      replacing: { SoundDistances.standard.replacing($0, by: $1) },
      omitting: { SoundDistances.standard.omitting($0) })

    private init(count: Int, replacing: (UInt8, UInt8) -> UInt8, omitting: (UInt8) -> UInt8) {
      let all = (0..<count).map { UInt8(clamping: $0) }
      self.count = count
      self.replacement = all.flatMap { left in all.map { replacing(left, $0) } }
      self.omission = all.map(omitting)
      self.leastReplacement = Int(self.replacement.filter { $0 > 0 }.min() ?? 0)
      self.leastOmission = Int(self.omission.min() ?? 0)
    }
  }

  /// A word that others are compared with.
  struct Search {
    fileprivate let word: [UInt8]
    fileprivate let mask: UInt64
    fileprivate let costs: Costs
    fileprivate var rows: [Int32] = []

    init(for word: [UInt8], costs: Costs) {
      self.word = word.filter { Int($0) < costs.count }
      self.mask = SymbolTable.mask(self.word)
      self.costs = costs
    }
  }

  /// How unlike a word is, as a part of the length of the longer; `nil` if that is above a limit, or if one has no symbols.
  func cost(of index: Int, _ search: inout Search, atMost limit: Float) -> Float? {
    let start = Int(self.starts[index])
    let length = Int(self.starts[index + 1]) - start
    let longest = max(length, search.word.count)
    guard length > 0, !search.word.isEmpty else { return nil }
    let most = Int(limit * Float(longest) * 10 + 0.001)
    // What one word has and the other lacks is replaced or left out.
    let mask = self.masks[index]
    let missing = max((mask & ~search.mask).nonzeroBitCount, (search.mask & ~mask).nonzeroBitCount)
    guard abs(length - search.word.count) * search.costs.leastOmission <= most,
      missing * min(search.costs.leastReplacement, search.costs.leastOmission) <= most
    else { return nil }
    let edits = self.edits(start..<start + length, &search, atMost: most)
    return edits <= most ? Float(edits) / Float(longest * 10) : nil
  }

  /// The least cost of edits, or a number above the limit.
  private func edits(_ range: Range<Int>, _ search: inout Search, atMost limit: Int) -> Int {
    let width = range.count + 1
    let needed = width * 2
    if search.rows.count < needed { search.rows = [Int32](repeating: 0, count: needed * 2) }
    let costs = search.costs
    let word = search.word
    let limit = Int32(clamping: limit)
    return self.symbols.withUnsafeBufferPointer { symbols in
      costs.replacement.withUnsafeBufferPointer { replacement in
        costs.omission.withUnsafeBufferPointer { omission in
          search.rows.withUnsafeMutableBufferPointer { rows in
            rows[0] = 0
            for column in 1..<width {
              rows[column] = rows[column - 1] + Int32(omission[Int(symbols[range.lowerBound + column - 1])])
            }
            var previous = 0
            var current = width
            for symbol in word {
              let omitted = Int32(omission[Int(symbol)])
              let row = Int(symbol) * costs.count
              var left = rows[previous] + omitted
              rows[current] = left
              var least = left
              for column in 1..<width {
                let other = Int(symbols[range.lowerBound + column - 1])
                let replaced = rows[previous + column - 1] + Int32(replacement[row + other])
                left = min(replaced, rows[previous + column] + omitted, left + Int32(omission[other]))
                rows[current + column] = left
                least = min(least, left)
              }
              if least > limit { return Int(least) }
              swap(&previous, &current)
            }
            return Int(rows[previous + width - 1])
          }
        }
      }
    }
  }
}
