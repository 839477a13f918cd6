import SpeechUnderstanding
import VoiceTesting

/// Random programs in SAL of two or three levels, with every construct; all of them are right.
struct RandomSAL {
  private var generator: SeededGenerator
  private var variables = 0
  private var phrases = 0

  // Few words, so that much is ambiguous.
  private static let words = [
    "on", "off", "the", "a", "light", "lamp", "kitchen", "hall", "to", "from", "two", "now",
  ]
  private static let intents = ["turn_on", "turn_off", "go"]
  private static let entities = ["device", "room", "amount"]

  init(seed: UInt64) {
    self.generator = SeededGenerator(seed: seed)
  }

  mutating func program() -> String {
    var lines: [String] = []
    for index in 0..<Int.random(in: 0...3, using: &self.generator) {
      let value = self.list(depth: 1, allowsEntities: false)
      lines.append("v\(index) = \(value)")
      self.variables = index + 1
    }
    for index in 0..<Int.random(in: 0...2, using: &self.generator) {
      let value = "\(self.word()) \(self.sequence(depth: 1, allowsEntities: true))"
      lines.append("p\(index) = \(value)")
      self.phrases = index + 1
    }
    for _ in 0..<Int.random(in: 1...4, using: &self.generator) {
      let count = self.chance(5) ? 2 : 1
      let parts = (0..<count).map { _ in
        "*\(Self.pick(Self.intents, &self.generator)) \(self.word()) \(self.sequence(depth: 2, allowsEntities: true))"
      }
      lines.append(parts.joined(separator: " "))
    }
    return lines.joined(separator: "\n") + "\n"
  }

  private mutating func sequence(depth: Int, allowsEntities: Bool) -> String {
    (0..<Int.random(in: 1...3, using: &self.generator))
      .map { _ in self.item(depth: depth, allowsEntities: allowsEntities) }.joined(separator: " ")
  }

  private mutating func item(depth: Int, allowsEntities: Bool) -> String {
    switch Int.random(in: 0..<12, using: &self.generator) {
    case 0 where depth > 0, 1 where depth > 0:
      return "{\(self.chance(2) ? "0.\(Int.random(in: 1...9, using: &self.generator)): " : "")"
        + "\(self.sequence(depth: depth - 1, allowsEntities: allowsEntities))}"
    case 2 where depth > 0, 3 where depth > 0:
      return self.list(depth: depth - 1, allowsEntities: allowsEntities)
    case 4 where depth > 0:
      let items = (0..<Int.random(in: 2...4, using: &self.generator)).map { _ in
        self.sequence(depth: depth - 1, allowsEntities: allowsEntities)
      }
      return "![\(items.joined(separator: " | "))]"
    case 5 where allowsEntities, 6 where allowsEntities:
      return "\(self.value())(\(Self.pick(Self.entities, &self.generator)))"
    case 7 where self.variables > 0:
      return "$v\(Int.random(in: 0..<self.variables, using: &self.generator))"
    case 8 where self.phrases > 0 && allowsEntities:
      return "$p\(Int.random(in: 0..<self.phrases, using: &self.generator))"
    case 9:
      return self.range()
    default:
      return self.word()
    }
  }

  private mutating func value() -> String {
    switch Int.random(in: 0..<4, using: &self.generator) {
    case 0 where self.variables > 0: "$v\(Int.random(in: 0..<self.variables, using: &self.generator))"
    case 1: self.range()
    default: self.list(depth: 0, allowsEntities: false)
    }
  }

  private mutating func list(depth: Int, allowsEntities: Bool) -> String {
    let isWeighted = self.chance(3)
    let items = (0..<Int.random(in: 1...4, using: &self.generator)).map { _ in
      let weight = isWeighted ? "\(Int.random(in: 1...5, using: &self.generator)): " : ""
      let rest =
        depth > 0 && self.chance(2) ? " " + self.item(depth: depth, allowsEntities: allowsEntities) : ""
      return "\(weight)\(self.word())\(rest)"
    }
    return "[\(items.joined(separator: self.chance(4) ? "\n" : " | "))]"
  }

  private mutating func range() -> String {
    let first = Int.random(in: 0...30, using: &self.generator)
    return "[\(first)..\(first + Int.random(in: 1...40, using: &self.generator))]"
  }

  private mutating func word() -> String { Self.pick(Self.words, &self.generator) }

  private mutating func chance(_ one: Int) -> Bool { Int.random(in: 0..<one, using: &self.generator) == 0 }

  private static func pick(_ values: [String], _ generator: inout SeededGenerator) -> String {
    values.randomElement(using: &generator) ?? ""
  }
}
