import SpeechUnderstanding
import Testing

struct EnglishPersonNamesTests {
  @Test(arguments: [
    "", "space", "john space", "dash john", "john dash", "john 3", "j0hn", "o' brien", "--", "'",
    "apostrophe s",
    "john @",
  ])
  func rejectsWhatIsNoName(words: String) {
    Spoken(words, nil).expect(as: .personName)
  }

  @Test(arguments: [
    // The example of the protocol document and those of the documentation of standard variables.
    Spoken("c o n a n o'brien", "Conan O'Brien"), Spoken("amelia m earhart", "Amelia M Earhart"),
    Spoken("john smith", "John Smith"),
    Spoken("john s m i t h", "John Smith"), Spoken("j o h n space s m i t h", "John Smith"),
    Spoken("j r r tolkien", "J R R Tolkien"), Spoken("j. k. rowling", "J K Rowling"),
    Spoken("a l gore", "Al Gore"),
    Spoken("b i double l gates", "Bill Gates"), Spoken("anne-marie duff", "Anne-Marie Duff"),
    Spoken("anne dash marie duff", "Anne-Marie Duff"), Spoken("ronald mcdonald", "Ronald McDonald"),
    Spoken("conan o apostrophe b r i e n", "Conan O'Brien"),
    Spoken("ren\u{e9}e zellweger", "Ren\u{e9}e Zellweger"),
    Spoken("CHARLIE", "Charlie"), Spoken("conan o\u{2019}brien", "Conan O'Brien"),
  ])
  func readsNames(spoken: Spoken) {
    spoken.expect(as: .personName)
  }
}
