import SpeechUnderstanding
import Testing

struct EnglishIdentifiersTests {
  @Test(arguments: [
    "", "hello", "seven hello", "double", "capital", "capital seven", "seven hundred five", "hundred",
    "upper a",
    "under the dash", "as in bravo", "b as in charlie",
  ])
  func rejectsWhatIsNoIdentifier(words: String) {
    Spoken(words, nil).expect(as: .identifier)
  }

  @Test(arguments: [
    // The examples of the protocol document and of the documentation of standard variables.
    Spoken("zero zero seven x", "007x"),
    Spoken("one two seven dot zero dot zero dot one slash x y", "127.0.0.1/xy"),
    Spoken("alpha dash one", "a-1"), Spoken("two seven", "27"), Spoken("a b one two dash nine x", "ab12-9x"),
    Spoken("delta foxtrot five seven dash two", "df57-2"),
    Spoken("charlie delta echo bravo one point five", "cdeb1.5"),
    Spoken("a b one two three slash x", "ab123/x"),
    Spoken("a. b. one", "ab1"), Spoken("double seven", "77"), Spoken("triple oh x", "000x"),
    Spoken("double b", "bb"),
    Spoken("x-ray zulu", "xz"), Spoken("capital a b", "Ab"), Spoken("upper case alpha lower case b", "Ab"),
    Spoken("twenty one", "21"), Spoken("seven hundred x", "700x"), Spoken("hash one comma two", "#1,2"),
    Spoken("a underscore b", "a_b"), Spoken("b as in bravo one", "b1"), Spoken("double u one", "w1"),
    Spoken("zed one", "z1"), Spoken("forward slash back slash", "/\\"), Spoken("ab123", "ab123"),
    Spoken("o oh", "o0"),
  ])
  func joinsCharacters(spoken: Spoken) {
    spoken.expect(as: .identifier)
  }
}
