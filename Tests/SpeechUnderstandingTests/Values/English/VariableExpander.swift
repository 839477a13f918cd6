import VoiceTesting

@testable import SpeechUnderstanding

/// Says random things that standard variables allow.
struct VariableExpander {
  struct Problem: Error, CustomStringConvertible {
    let description: String
  }

  let variables: [String: SALExpression]

  init(_ variables: [String: String]) throws {
    self.variables = try .init(
      uniqueKeysWithValues: variables.map { name, text in
        let source = SALSource(name: name, text: text)
        let (expression, diagnostics) = SALParser.parseExpression(source)
        guard diagnostics.isEmpty else { throw Problem(description: "\(name): \(diagnostics)") }
        return ("SPEECHLY." + name, expression)
      })
  }

  func words(of name: String, using generator: inout SeededGenerator) throws -> [String] {
    var words: [String] = []
    try self.say("SPEECHLY." + name, into: &words, using: &generator, depth: 0)
    return words
  }

  private func say(
    _ name: String, into words: inout [String], using generator: inout SeededGenerator, depth: Int
  ) throws {
    guard depth < 40 else { throw Problem(description: "\(name) needs itself") }
    guard let expression = self.variables[name] else { throw Problem(description: "\(name) is not defined") }
    try self.say(expression, into: &words, using: &generator, depth: depth + 1)
  }

  private func say(
    _ expression: SALExpression, into words: inout [String], using generator: inout SeededGenerator,
    depth: Int
  ) throws {
    for item in expression.items {
      switch item.kind {
      case .word(let word):
        words.append(word)
      case .variable(let name):
        try self.say(name, into: &words, using: &generator, depth: depth)
      case .optional(let expression, let probability):
        guard Double.random(in: 0..<1, using: &generator) < probability else { continue }
        try self.say(expression, into: &words, using: &generator, depth: depth)
      case .list(let alternatives):
        var place = Double.random(in: 0..<alternatives.reduce(0) { $0 + $1.weight }, using: &generator)
        let chosen = alternatives.first { alternative in
          place -= alternative.weight
          return place < 0
        }
        guard let chosen else { throw Problem(description: "empty list") }
        try self.say(chosen.expression, into: &words, using: &generator, depth: depth)
      case .intent, .entity, .permutation, .numbers:
        throw Problem(description: "not expected in a standard variable: \(item.kind)")
      }
    }
  }
}
