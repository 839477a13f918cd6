/// What is known of places of a grammar: a hash table that is emptied at no cost.
///
/// Its keys are spread by two multiplications. The library's dictionaries hash with a secret, which protects against
/// attackers who choose keys, and which was most of what matching with edits cost; here an attacker could only choose words, and
/// the number of places that are looked at is bounded anyway.
struct PlaceTable<Value> {
  private struct Slot {
    var place: GrammarMatcher.Place
    var kind: UInt8
    var value: Value
    /// The round in which the slot was filled; those of former rounds are free.
    var round: UInt32
  }

  private var slots: [Slot]
  private var round: UInt32 = 1
  private var count = 0
  private let nothing: Value

  /// - Parameter nothing: What free slots hold.
  init(nothing: Value) {
    self.nothing = nothing
    self.slots = []
  }

  /// Forgets all places.
  mutating func removeAll() {
    self.count = 0
    self.round &+= 1
    // Once in four thousand million times, rounds begin anew.
    if self.round == 0 { self = PlaceTable(nothing: self.nothing) }
  }

  /// What is known of a place.
  func value(of place: GrammarMatcher.Place, kind: UInt8 = 0) -> Value? {
    guard self.count > 0 else { return nil }
    let slot = self.slots[self.index(of: place, kind)]
    return slot.round == self.round ? slot.value : nil
  }

  /// Keeps a value for a place.
  mutating func set(_ value: Value, for place: GrammarMatcher.Place, kind: UInt8 = 0) {
    if self.count * 2 >= self.slots.count { self.grow() }
    let index = self.index(of: place, kind)
    if self.slots[index].round != self.round { self.count += 1 }
    self.slots[index] = Slot(place: place, kind: kind, value: value, round: self.round)
  }

  /// The slot of a place, or the free one where it belongs; there is always a free one.
  private func index(of place: GrammarMatcher.Place, _ kind: UInt8) -> Int {
    let mask = self.slots.count - 1
    var index = Int(truncatingIfNeeded: Self.hash(place, kind)) & mask
    while self.slots[index].round == self.round,
      self.slots[index].place != place || self.slots[index].kind != kind
    {
      index = (index + 1) & mask
    }
    return index
  }

  private mutating func grow() {
    let old = self.slots
    let empty = Slot(
      place: .init(state: 0, returns: 0, meaning: 0), kind: 0, value: self.nothing, round: self.round &- 1)
    self.slots = Array(repeating: empty, count: max(32, old.count * 2))
    for slot in old where slot.round == self.round {
      self.slots[self.index(of: slot.place, slot.kind)] = slot
    }
  }

  private static func hash(_ place: GrammarMatcher.Place, _ kind: UInt8) -> UInt64 {
    let position = UInt64(place.state) << 32 | UInt64(UInt32(bitPattern: place.returns))
    let mixed = (position ^ place.meaning &* 0xFF51_AFD7_ED55_8CCD ^ UInt64(kind)) &* 0x9E37_79B9_7F4A_7C15
    // The upper bits depend on all of the others.
    return mixed >> 32
  }
}
