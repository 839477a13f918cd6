/// Writes SAL: one form for each meaning, which ``SALParser`` reads back to the same.
///
/// Comments and the arrangement in lines are not part of what is printed.
public enum SALPrinter {
  /// One line for each definition and template.
  public static func text(of document: SALDocument) -> String {
    var result = ""
    for statement in document.statements {
      switch statement {
      case .definition(let definition):
        result += "\(definition.name) = \(self.text(of: definition.expression))\n"
      case .template(let template):
        result += self.text(of: template.expression) + "\n"
      }
    }
    return result
  }

  /// The variables, each after those that it needs, then the templates.
  ///
  /// Standard variables are left out: they belong to the language.
  public static func text(of program: SALProgram) -> String {
    var result = ""
    for name in self.orderOfDefinition(program.variables) {
      guard let expression = program.variables[name], !name.hasPrefix(SALNames.reservedPrefix) else {
        continue
      }
      result += "\(name) = \(self.text(of: expression))\n"
    }
    for template in program.templates { result += self.text(of: template.expression) + "\n" }
    return result
  }

  /// The expression on one line.
  public static func text(of expression: SALExpression) -> String {
    var result = ""
    self.write(expression, to: &result)
    return result
  }

  private static func write(_ expression: SALExpression, to text: inout String) {
    for (index, item) in expression.items.enumerated() {
      if index > 0 { text += " " }
      self.write(item, to: &text)
    }
  }

  private static func write(_ item: SALItem, to text: inout String) {
    switch item.kind {
    case .word(let word):
      text += self.escaped(word)
    case .intent(let name):
      text += "*\(name)"
    case .entity(let value, let name):
      self.write(value, to: &text)
      text += "(\(name))"
    case .list(let alternatives):
      text += "["
      for (index, alternative) in alternatives.enumerated() {
        if index > 0 { text += " | " }
        let needsWeight = alternative.weight != 1 || alternative.expression.items.isEmpty
        if needsWeight { text += "\(self.decimal(alternative.weight)):" }
        if needsWeight, !alternative.expression.items.isEmpty { text += " " }
        self.write(alternative.expression, to: &text)
      }
      text += "]"
    case .permutation(let expressions):
      text += "!["
      for (index, expression) in expressions.enumerated() {
        if index > 0 { text += " | " }
        self.write(expression, to: &text)
      }
      text += "]"
    case .optional(let expression, let probability):
      text += "{"
      if probability != 0.5 { text += "\(self.decimal(probability)): " }
      self.write(expression, to: &text)
      text += "}"
    case .numbers(let range):
      text += "[\(range.lowerBound)..\(range.upperBound)]"
    case .variable(let name):
      text += "$\(name)"
    }
  }

  /// The word with a backslash wherever a character would have a meaning.
  static func escaped(_ word: String) -> String {
    let startsLikeWeight =
      word.utf8.first.map { SALCharacters.isDigit($0) || "+-.:".utf8.contains($0) } ?? false
    let isRange = SALNumbers.malformedRange(word) != nil
    let needsCare = word.utf8.contains { byte in
      SALCharacters.symbol(of: byte) != nil || byte == UInt8(ascii: "\\") || byte == UInt8(ascii: "=")
        || byte == UInt8(ascii: "#")
    }
    guard startsLikeWeight || isRange || needsCare else { return word }
    var result = ""
    for scalar in word.unicodeScalars {
      switch scalar {
      case "[", "]", "{", "}", "(", ")", "|", "*", "$", "!", "\\", "=": result += "\\"
      case "#" where result.isEmpty: result += "\\"
      case ":" where startsLikeWeight: result += "\\"
      case "." where isRange: result += "\\"
      default: break
      }
      result.unicodeScalars.append(scalar)
    }
    return result
  }

  /// The number with as many decimals as it needs, never with an exponent.
  static func decimal(_ value: Double) -> String {
    let text = "\(value)"
    if text.hasSuffix(".0") { return String(text.dropLast(2)) }
    guard let mark = text.firstIndex(of: "e"), let exponent = Int(text[text.index(after: mark)...]) else {
      return text
    }
    let parts = text[..<mark].split(separator: ".", omittingEmptySubsequences: false)
    var digits = String(parts.first ?? "0")
    let fraction = parts.count > 1 && parts[1] != "0" ? String(parts[1]) : ""
    let sign = digits.hasPrefix("-") ? "-" : ""
    digits = String(digits.drop { $0 == "-" }) + fraction
    let point = digits.count - fraction.count + exponent
    if point <= 0 { return sign + "0." + String(repeating: "0", count: -point) + digits }
    if point >= digits.count { return sign + digits + String(repeating: "0", count: point - digits.count) }
    return sign + String(digits.prefix(point)) + "." + String(digits.dropFirst(point))
  }

  private static func orderOfDefinition(_ variables: [String: SALExpression]) -> [String] {
    var order: [String] = []
    var seen: Set<String> = []
    for name in variables.keys.sorted() where seen.insert(name).inserted {
      var path: [(name: String, needs: [String])] = [
        (name, variables[name]?.variables().sorted().reversed() ?? [])
      ]
      while var last = path.popLast() {
        guard let next = last.needs.popLast() else {
          order.append(last.name)
          continue
        }
        path.append(last)
        if let expression = variables[next], seen.insert(next).inserted {
          path.append((next, expression.variables().sorted().reversed()))
        }
      }
    }
    return order
  }
}
