import SpeechUnderstanding
import Testing

struct EnglishPhoneNumbersTests {
  @Test(arguments: [
    "", "hello", "plus", "one two", "plus one two", "one two three hello", "one two three dash",
    "one plus two three four",
    "one two three four five six seven eight nine zero one two three four five six",
    "plus plus one two three four",
    "double", "555+123",
  ])
  func rejectsWhatIsNoPhoneNumber(words: String) {
    Spoken(words, nil).expect(as: .phoneNumber)
  }

  @Test(arguments: [
    // The example of the protocol document and those of the documentation of standard variables.
    Spoken("plus four four two oh seven seven three oh one two three four", "+44 207 730 1234"),
    Spoken(
      "plus three five eight four zero one two three four five six", "+358401 23456".replacing(" ", with: "")),
    Spoken("one two three four five six", "123456"),
    Spoken("plus one two one two five five five one two three four", "+1 212 555 1234"),
    Spoken("plus forty four twenty seven", "+4427"), Spoken("nine double one", "911"),
    Spoken("nine one one", "911"),
    Spoken("one eight hundred five five five twelve thirty four", "18005551234"),
    Spoken("o two o seven", "0207"),
    Spoken("five five five dash one two three four", "5551234"), Spoken("555-1234", "5551234"),
    Spoken("+44 207 730 1234", "+44 207 730 1234"), Spoken("plus four four double two oh", "+44220"),
  ])
  func readsPhoneNumbers(spoken: Spoken) {
    spoken.expect(as: .phoneNumber)
  }
}
