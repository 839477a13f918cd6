import Yams

/// Reads YAML without trusting it: the library goes one call deeper with each bracket.
enum YAMLComposer {
  /// How deep values may stand in each other; a configuration needs four.
  static let nestingLimit = 32

  /// The values stand too deep in each other, or refer to each other so often that they would become huge.
  struct TooDeep: Error {}

  /// The root of a text, `nil` if there is nothing in it.
  ///
  /// The library allows a thousand levels, which is too much for the stacks of worker threads on some systems: so it
  /// runs on a thread with a large stack of its own, while the caller waits.
  static func root(of text: String) throws -> Node? {
    guard self.referencesAreFew(in: text) else { throw TooDeep() }
    return try LargeStack.run { try Self.shallowRoot(of: text) }
  }

  private static func shallowRoot(of text: String) throws -> Node? {
    guard let root = try compose(yaml: text) else { return nil }
    guard Self.isShallow(root) else { throw TooDeep() }
    return root
  }

  /// Whether the text has so few anchors and aliases that they cannot multiply: the library compares keys with all that
  /// their aliases stand for, which can take longer than anybody lives.
  ///
  /// Templates are left out: in them `*` and `&` mean something else.
  static func referencesAreFew(in text: String) -> Bool {
    var anchors = 0
    var aliases = 0
    var isTemplate = false
    for line in text.utf8.split(whereSeparator: { $0 == 0x0a || $0 == 0x0d }) {
      guard let first = line.first, first != UInt8(ascii: "#") else { continue }
      if first != 0x20 {
        let header = String(decoding: line.prefix(40), as: UTF8.self)
        isTemplate = header.hasPrefix("templates:") && header.contains { $0 == "|" || $0 == ">" }
      }
      if isTemplate { continue }
      var before = UInt8(ascii: " ")
      for byte in line {
        if " \t,[{:-?".utf8.contains(before) {
          if byte == UInt8(ascii: "&") { anchors += 1 }
          if byte == UInt8(ascii: "*") { aliases += 1 }
        }
        before = byte
      }
    }
    return anchors <= 6 && aliases <= 12 || anchors == 0 || aliases == 0
  }

  private static func isShallow(_ root: Node) -> Bool {
    var level = [root]
    var visited = 0
    for _ in 0..<Self.nestingLimit {
      var next: [Node] = []
      for node in level {
        visited += 1
        guard visited + next.count < 1_000_000 else { return false }
        switch node {
        case .scalar, .alias: break
        case .sequence(let sequence): next += sequence
        case .mapping(let mapping): for (key, value) in mapping { next += [key, value] }
        }
      }
      if next.isEmpty { return true }
      level = next
    }
    return false
  }
}
