/// The ways that hypotheses have come, sharing their beginnings, and the places where they return to.
struct Paths: Sendable {
  /// What happens on a way, other than words that are heard as expected.
  enum Mark: Hashable, Sendable {
    case intent(UInt32)
    case beginEntity(UInt32)
    case endEntity
    case skipped
    case replaced(by: UInt32)
    case missing(UInt32)
    /// Nothing of the value of an entity.
    case missingValue(UInt32)
  }

  struct Entry: Hashable, Sendable {
    var mark: Mark
    /// How many words were heard before.
    var position: Int
    fileprivate var previous: Int32
  }

  private struct Return: Hashable, Sendable {
    var state: Grammar.State
    var rest: Int32
  }

  private var entries: [Entry] = []
  private var returns: [Return] = []
  private var knownReturns: [Return: Int32] = [:]

  /// Lengthens a way; -1 is the empty one.
  mutating func append(_ mark: Mark, at position: Int, to path: Int32) -> Int32 {
    self.entries.append(Entry(mark: mark, position: position, previous: path))
    return Int32(self.entries.count - 1)
  }

  /// Whether the last that happened on a way is that the word at a position was skipped.
  func endsWithSkippedWord(_ path: Int32, at position: Int) -> Bool {
    guard path >= 0 else { return false }
    let last = self.entries[Int(path)]
    return last.mark == .skipped && last.position == position
  }

  /// The whole way, from its beginning.
  func entries(of path: Int32) -> [Entry] {
    var result: [Entry] = []
    var path = path
    while path >= 0 {
      result.append(self.entries[Int(path)])
      path = self.entries[Int(path)].previous
    }
    return result.reversed()
  }

  /// Adds a place to return to; equal stacks have equal numbers, and -1 is the empty one.
  mutating func push(_ state: Grammar.State, onto rest: Int32) -> Int32 {
    let key = Return(state: state, rest: rest)
    if let known = self.knownReturns[key] { return known }
    self.returns.append(key)
    let number = Int32(self.returns.count - 1)
    self.knownReturns[key] = number
    return number
  }

  /// The place to return to, and those below it.
  func pop(_ stack: Int32) -> (state: Grammar.State, rest: Int32)? {
    guard stack >= 0 else { return nil }
    let top = self.returns[Int(stack)]
    return (top.state, top.rest)
  }
}
