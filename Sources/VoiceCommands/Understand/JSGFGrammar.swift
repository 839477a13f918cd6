import SpeechUnderstanding

/// Templates as a grammar in the Java Speech Grammar Format, version 1.0, for other recognisers.
///
/// Intents, entities and weights are left out: what remains is what can be said.
struct JSGFGrammar {
  private let program: SALProgram
  private let language: any LanguagePack
  private var names: [String: String] = [:]

  init(_ program: SALProgram, language: any LanguagePack) {
    self.program = program
    self.language = language
    // A dot in the name of a rule would be that of another grammar.
    for (index, name) in program.variables.keys.sorted().enumerated() { self.names[name] = "v\(index)" }
  }

  /// The grammar, one rule on each line.
  var text: String {
    var lines = ["#JSGF V1.0;", "grammar app;"]
    lines.append("public <app> = \(self.alternatives(self.program.templates.map(\.expression)));")
    for (name, expression) in self.program.variables.sorted(by: { $0.key < $1.key }) {
      lines.append("<\(self.names[name] ?? name)> = \(self.sequence(expression));")
    }
    return lines.joined(separator: "\n") + "\n"
  }

  private func alternatives(_ expressions: [SALExpression]) -> String {
    expressions.isEmpty ? "<VOID>" : expressions.map { self.sequence($0) }.joined(separator: " | ")
  }

  private func sequence(_ expression: SALExpression) -> String {
    let items = expression.items.map { self.item($0.kind) }.filter { !$0.isEmpty }
    return items.isEmpty ? "<NULL>" : items.joined(separator: " ")
  }

  private func item(_ kind: SALItem.Kind) -> String {
    switch kind {
    case .word(let word): return self.word(word.lowercased())
    case .intent: return ""
    case .entity(let item, _): return self.item(item.kind)
    case .list(let alternatives): return "( \(self.alternatives(alternatives.map(\.expression))) )"
    case .permutation(let items): return self.permutation(items.map { self.sequence($0) })
    case .optional(let expression, _): return "[ \(self.sequence(expression)) ]"
    case .numbers(let range):
      let spoken = range.flatMap { self.language.spokenForms(of: $0) }.map { $0.joined(separator: " ") }
      return "( \(spoken.joined(separator: " | ")) )"
    case .variable(let name): return self.names[name].map { "<\($0)>" } ?? "<VOID>"
    }
  }

  /// The orders as a tree: a format without permutations has no shorter way.
  private func permutation(_ items: [String]) -> String {
    guard items.count > 1 else { return items.first.map { "( \($0) )" } ?? "" }
    let orders = items.indices.map { first in
      var rest = items
      rest.remove(at: first)
      return "( \(items[first]) ) \(self.permutation(rest))"
    }
    return "( \(orders.joined(separator: " | ")) )"
  }

  private func word(_ word: String) -> String {
    let special: Set<Character> = [
      "=", ";", "|", "*", "+", "<", ">", "(", ")", "[", "]", "{", "}", "/", "\\", "\"",
    ]
    guard word.contains(where: { special.contains($0) }) else { return word }
    return word.map { special.contains($0) ? "\\\($0)" : String($0) }.joined()
  }
}
