import Testing

@testable import SpeechUnderstanding

struct EnglishSoundsTests {
  private func sounds(_ word: String) -> [SpeechSound] { EnglishPack().sounds(of: word) }

  @Test(arguments: ["", "'", "!?", "東京", "\u{0}"])
  func whatHasNoSoundHasNone(word: String) {
    #expect(self.sounds(word).isEmpty)
  }

  @Test func endlessWordsAreCut() {
    #expect(self.sounds(String(repeating: "ba", count: 10_000)).count <= 2 * EnglishSounds.longestWord)
  }

  @Test func everyWordOfLettersHasASound() {
    for first in "abcdefghijklmnopqrstuvwxyz" where first != "h" {
      #expect(!self.sounds("\(first)").isEmpty, "\(first)")
      #expect(!self.sounds("b\(first)b").isEmpty)
    }
  }

  @Test(arguments: [
    ("lights", [SpeechSound.l, .my, .t, .s]), ("kitchen", [.k, .sit, .ch, .set, .n]),
    ("phone", [.f, .go, .n]),
    ("station", [.s, .t, .say, .sh, .cup, .n]), ("knee", [.n, .see]), ("quick", [.k, .w, .sit, .k]),
    ("table", [.t, .say, .b, .cup, .l]), ("wrong", [.r, .hot, .ng]), ("bridge", [.b, .r, .sit, .j]),
    ("näive", [.n, .say, .v]), ("7", [.s, .set, .v, .set, .n]), ("watches", [.w, .hot, .ch, .sit, .z]),
  ])
  func lettersAreReadTogether(word: String, expected: [SpeechSound]) {
    #expect(self.sounds(word) == expected)
  }
}
