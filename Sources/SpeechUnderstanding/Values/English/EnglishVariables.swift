/// The standard variables of English, as right sides of definitions in SAL.
///
/// A variable is compiled once and called from wherever it is used, so these are nested instead of copied; those whose
/// names start with `EN_` are only there for the others. SAL has no loops: numbers end below a billion, identifiers at
/// twelve characters, decimals at six digits, years at 2099. Whatever a variable can say, the fitting type can read.
enum EnglishVariables {
  /// By name without `SPEECHLY.`.
  static let all: [String: String] = [
    Self.numbers, Self.dates, Self.times, Self.characters, Self.names, Self.addresses,
  ]
  .reduce(into: [:]) { all, part in all.merge(part) { first, _ in first } }
  // A line break separates the items of a list in SAL; here it only keeps lines short.
  .mapValues { $0.split(whereSeparator: \.isWhitespace).joined(separator: " ") }

  /// A list of words, one alternative each.
  static func list(_ words: some Sequence<String>) -> String {
    "[" + words.joined(separator: " | ") + "]"
  }

  /// Up to a number of the same thing, and at least one: `$X {$X {$X}}`.
  static func repeated(_ variable: String, upTo count: Int) -> String {
    (1..<max(1, count)).reduce(variable) { text, _ in "\(variable) {\(text)}" }
  }
}
