import Testing
import VoiceTesting

@testable import SpeechUnderstanding

struct SpokenTextTests {
  @Test(arguments: [
    ("Turn ON the lights!", ["turn", "on", "the", "lights"]),
    ("at 3:30 p.m. (please)", ["at", "3:30", "p.m.", "please"]),
    ("It is over.", ["it", "is", "over"]),
    ("don\u{2019}t  \u{201C}stop\u{201D}", ["don't", "stop"]),
    ("Ünder \t\n straße", ["ünder", "straße"]),
    (" , ! ", []), ("", []), ("e-mail o'clock 7", ["e-mail", "o'clock", "7"]),
  ])
  func splitsAndFoldsText(text: String, words: [String]) {
    #expect(SpokenText.words(of: text) == words)
  }

  /// Plain text is looked at byte by byte; with another kind of space, the same text is looked at character by character.
  @Test func bytesAndCharactersGiveTheSameWords() {
    let characters = Array("abzAZ09'.,!?;:\"()-/&% ")
    var generator = SeededGenerator(seed: 7)
    for _ in 0..<20_000 {
      let text = String(
        (0..<Int.random(in: 0...14, using: &generator)).map { _ in
          characters[Int.random(in: 0..<characters.count, using: &generator)]
        })
      #expect(SpokenText.words(of: text) == SpokenText.words(of: "\u{2003}" + text))
    }
  }

  @Test func valuesAreCleanedAlikeHoweverTheyAreWritten() {
    #expect(EnglishWords.cleaned(["three", "o'clock"]) == ["three", "o'clock"])
    #expect(
      EnglishWords.cleaned(["Three", "P.M.", "twenty-one", "", "one?"]) == [
        "three", "pm", "twenty", "one", "one",
      ])
  }
}
