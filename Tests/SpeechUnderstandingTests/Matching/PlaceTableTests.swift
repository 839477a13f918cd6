import Testing
import VoiceTesting

@testable import SpeechUnderstanding

struct PlaceTableTests {
  private struct Key: Hashable {
    var place: GrammarMatcher.Place
    var kind: UInt8
  }

  @Test func holdsWhatADictionaryHolds() {
    var generator = SeededGenerator(seed: 3)
    var table = PlaceTable<Int>(nothing: -1)
    for round in 0..<60 {
      var expected: [Key: Int] = [:]
      for step in 0..<round * 20 {
        // Few different values, so that many keys differ in one part only.
        let key = Key(
          place: .init(
            state: UInt32.random(in: 0...5, using: &generator),
            returns: Int32.random(in: -1...5, using: &generator),
            meaning: UInt64.random(in: 0...5, using: &generator)),
          kind: UInt8.random(in: 0...3, using: &generator))
        #expect(table.value(of: key.place, kind: key.kind) == expected[key])
        table.set(step, for: key.place, kind: key.kind)
        expected[key] = step
      }
      for (key, value) in expected { #expect(table.value(of: key.place, kind: key.kind) == value) }
      table.removeAll()
      for key in expected.keys { #expect(table.value(of: key.place, kind: key.kind) == nil) }
    }
  }

  @Test func isEmptyAtFirst() {
    #expect(PlaceTable<Float>(nothing: 0).value(of: .init(state: 1, returns: -1, meaning: 0)) == nil)
  }
}
