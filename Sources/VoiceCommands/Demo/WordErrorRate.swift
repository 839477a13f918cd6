/// The cheapest way to turn the words of a reference into those that were heard, and how much it costs.
///
/// A wrong, a missing and an additional word cost one each (Levenshtein distance over words).
struct Alignment: Hashable, Sendable {
  enum Step: Hashable, Sendable {
    case match(String)
    case substitution(reference: String, hypothesis: String)
    case deletion(String)
    case insertion(String)
  }

  /// From the first word to the last.
  let steps: [Step]
  private let referenceCount: Int

  init(reference: [String], hypothesis: [String]) {
    self.referenceCount = reference.count
    let columns = hypothesis.count + 1
    // costs[row * columns + column]: the first `row` reference words against the first `column` heard ones.
    var costs = [Int](repeating: 0, count: (reference.count + 1) * columns)
    for column in 0..<columns { costs[column] = column }
    for row in 0..<reference.count {
      costs[(row + 1) * columns] = row + 1
      for column in 0..<hypothesis.count {
        let diagonal = costs[row * columns + column] + (reference[row] == hypothesis[column] ? 0 : 1)
        let above = costs[row * columns + column + 1] + 1
        let left = costs[(row + 1) * columns + column] + 1
        costs[(row + 1) * columns + column + 1] = min(diagonal, above, left)
      }
    }

    var steps: [Step] = []
    var row = reference.count
    var column = hypothesis.count
    while row > 0 || column > 0 {
      let cost = costs[row * columns + column]
      if row > 0, column > 0 {
        let isMatch = reference[row - 1] == hypothesis[column - 1]
        if costs[(row - 1) * columns + column - 1] + (isMatch ? 0 : 1) == cost {
          steps.append(
            isMatch
              ? .match(reference[row - 1])
              : .substitution(reference: reference[row - 1], hypothesis: hypothesis[column - 1]))
          row -= 1
          column -= 1
          continue
        }
      }
      if row > 0, costs[(row - 1) * columns + column] + 1 == cost {
        steps.append(.deletion(reference[row - 1]))
        row -= 1
      } else {
        steps.append(.insertion(hypothesis[column - 1]))
        column -= 1
      }
    }
    self.steps = steps.reversed()
  }

  /// How many words are wrong, missing or additional.
  var errors: Int {
    self.steps.count { step in
      if case .match = step { false } else { true }
    }
  }

  /// The errors for each word of the reference; more than 1 if more was heard than said. Without a reference, 0 or 1.
  var errorRate: Double {
    guard self.referenceCount > 0 else { return self.errors == 0 ? 0 : 1 }
    return Double(self.errors) / Double(self.referenceCount)
  }

  /// How the dictionary of the recogniser writes what a transcript spells out; the same word when spoken.
  private static let spellings = ["mr": "mister", "mrs": "missus", "dr": "doctor"]

  /// The words of a text as they are compared: lower case, without punctuation at their ends, abbreviations spelled out.
  static func words(of text: String) -> [String] {
    text.lowercased().split { $0.isWhitespace }.map { word in
      var word = word
      while let last = word.last, last.isPunctuation { word.removeLast() }
      while let first = word.first, first.isPunctuation { word.removeFirst() }
      return Self.spellings[String(word)] ?? String(word)
    }.filter { !$0.isEmpty }
  }
}

extension Alignment {
  /// The heard words with their errors shown: wrong ones yellow before what was meant, missing ones red, additional ones struck.
  ///
  /// Without colours errors are written `wrong(right)`, `[missing]` and `{additional}`, so that nothing depends on colour.
  var marked: StyledText {
    var text = StyledText()
    for (index, step) in self.steps.enumerated() {
      if index > 0 { text.append(" ") }
      switch step {
      case .match(let word):
        text.append(word)
      case .substitution(let reference, let hypothesis):
        text.append(hypothesis, [.yellow, .bold])
        text.append("(\(reference))", .dim)
      case .deletion(let word):
        text.append("[\(word)]", .red)
      case .insertion(let word):
        text.append("{\(word)}", .cyan)
      }
    }
    return text
  }

  /// The counts in words.
  var summary: String {
    var wrong = 0
    var missing = 0
    var additional = 0
    for step in self.steps {
      switch step {
      case .match: break
      case .substitution: wrong += 1
      case .deletion: missing += 1
      case .insertion: additional += 1
      }
    }
    return "\(wrong) wrong, \(missing) missing, \(additional) added of \(self.referenceCount) words"
  }
}
