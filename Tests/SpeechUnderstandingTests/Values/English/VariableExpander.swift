import VoiceTesting

/// Says random things that standard variables allow: words, lists with weights, optionals and variables of SAL.
struct VariableExpander {
  struct Problem: Error, CustomStringConvertible {
    let description: String
  }

  indirect enum Item {
    case word(String)
    case variable(String)
    case list([(weight: Double, items: [Item])])
    case optional(probability: Double, items: [Item])
  }

  let variables: [String: [Item]]

  init(_ variables: [String: String]) throws {
    self.variables = try variables.mapValues { text in
      var parser = Parser(text)
      return try parser.items(upTo: nil)
    }
  }

  func words(of name: String, using generator: inout SeededGenerator, depth: Int = 0) throws -> [String] {
    guard depth < 40 else { throw Problem(description: "\(name) needs itself") }
    guard let items = self.variables[name] else { throw Problem(description: "\(name) is not defined") }
    return try self.words(of: items, using: &generator, depth: depth + 1)
  }

  private func words(of items: [Item], using generator: inout SeededGenerator, depth: Int) throws -> [String]
  {
    try items.flatMap { item -> [String] in
      switch item {
      case .word(let word):
        return [word]
      case .variable(let name):
        return try self.words(of: name, using: &generator, depth: depth)
      case .optional(let probability, let items):
        guard Double.random(in: 0..<1, using: &generator) < probability else { return [] }
        return try self.words(of: items, using: &generator, depth: depth)
      case .list(let alternatives):
        var place = Double.random(in: 0..<alternatives.reduce(0) { $0 + $1.weight }, using: &generator)
        for alternative in alternatives {
          place -= alternative.weight
          if place < 0 { return try self.words(of: alternative.items, using: &generator, depth: depth) }
        }
        throw Problem(description: "empty list")
      }
    }
  }

  private struct Parser {
    var tokens: ArraySlice<String>

    init(_ text: String) {
      let spaced = "[]{}|".reduce(text) { $0.replacing(String($1), with: " \($1) ") }
      self.tokens = spaced.split(separator: " ").map(String.init)[...]
    }

    mutating func items(upTo end: String?) throws -> [Item] {
      var items: [Item] = []
      while let token = self.tokens.popFirst() {
        switch token {
        case "[":
          items.append(.list(try self.alternatives()))
        case "{":
          let probability = self.weight()
          items.append(.optional(probability: probability ?? 0.5, items: try self.items(upTo: "}")))
        case "]", "}", "|":
          guard token == end || (end == "]" && token == "|") else {
            throw Problem(description: "unexpected \(token)")
          }
          self.tokens = [token] + self.tokens
          if end == "}" { self.tokens.removeFirst() }
          return items
        case let token where token.hasPrefix("$SPEECHLY."):
          items.append(.variable(String(token.dropFirst(10))))
        default:
          guard token == token.lowercased(), !token.contains(where: { "()*$!:#\\".contains($0) }) else {
            throw Problem(description: "unexpected \(token)")
          }
          items.append(.word(token))
        }
      }
      guard end == nil else { throw Problem(description: "missing \(end ?? "")") }
      return items
    }

    private mutating func alternatives() throws -> [(weight: Double, items: [Item])] {
      var alternatives: [(weight: Double, items: [Item])] = []
      repeat {
        let weight = self.weight() ?? 1
        let items = try self.items(upTo: "]")
        guard !items.isEmpty else { throw Problem(description: "empty alternative") }
        alternatives.append((weight, items))
      } while self.tokens.popFirst() == "|"
      return alternatives
    }

    private mutating func weight() -> Double? {
      guard let first = self.tokens.first, first.hasSuffix(":"), let weight = Double(first.dropLast()) else {
        return nil
      }
      self.tokens.removeFirst()
      return weight
    }
  }
}
