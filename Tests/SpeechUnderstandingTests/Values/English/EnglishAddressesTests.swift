import SpeechUnderstanding
import Testing

struct EnglishAddressesTests {
  @Test(arguments: [
    "", "at", "john at", "at company dot com", "john company dot com", "john at company", "john at dot com",
    "john dot at company dot com", "dot john at company dot com", "john dot dot smith at company dot com",
    "john at company dot one", "john slash smith at company dot com", "john at dash company dot com", "@",
    "a@b",
    "jo\u{e9} at company dot com", "x\u{302} at company dot com", "john at x\u{302} dot com",
    "john at company dot x\u{302}y",
  ])
  func rejectsWhatIsNoEmailAddress(words: String) {
    Spoken(words, nil).expect(as: .emailAddress)
  }

  @Test(arguments: [
    // The examples of the protocol document and of the documentation of standard variables.
    Spoken("john dot smith at company dot com", "john.smith@company.com"),
    Spoken("hello at speechly dot com", "hello@speechly.com"),
    Spoken("j o h n at g mail dot c o m", "john@gmail.com"),
    Spoken("mike underscore one at mail dot co dot uk", "mike_1@mail.co.uk"),
    Spoken("john twenty one plus spam at company dot com", "john21+spam@company.com"),
    Spoken("meet at noon at company dot com", "meetatnoon@company.com"),
    Spoken("conan o'brien at company dot com", "conanobrien@company.com"),
    Spoken("double o seven at m i six dot gov dot uk", "oo7@mi6.gov.uk"),
    Spoken("jane at my dash company dot org", "jane@my-company.org"),
    Spoken("John.Smith@Company.com", "john.smith@company.com"),
  ])
  func readsEmailAddresses(spoken: Spoken) {
    spoken.expect(as: .emailAddress)
  }

  @Test(arguments: [
    "", "hello", "dot com", "example dot", "h t t p s colon slash slash",
    "f t p colon slash slash example dot com",
    "example dot com colon", "example dot com colon seven zero zero zero zero", "example dot dot com",
    "slash example dot com",
    "localhost colon hello", "one two seven dot zero dot zero dot two five six",
  ])
  func rejectsWhatIsNoWebAddress(words: String) {
    Spoken(words, nil).expect(as: .webAddress)
  }

  @Test(arguments: [
    // The examples of the protocol document and of the documentation of standard variables.
    Spoken("h t t p s colon slash slash docs dot speechly dot com", "https://docs.speechly.com"),
    Spoken("w w w dot speechly dot com", "www.speechly.com"),
    Spoken("triple w dot example dot org slash about dash us", "www.example.org/about-us"),
    Spoken("double u double u double u dot example dot org", "www.example.org"),
    Spoken("http colon double slash example dot com colon eight zero eight zero", "http://example.com:8080"),
    Spoken("example dot com slash search question mark q equals voice", "example.com/search?q=voice"),
    Spoken("localhost colon eighty eighty", "localhost:8080"),
    Spoken("one two seven dot zero dot zero dot one", "127.0.0.1"),
    Spoken("https://docs.speechly.com", "https://docs.speechly.com"),
    Spoken("example dot com forward slash at sign john", "example.com/@john"),
  ])
  func readsWebAddresses(spoken: Spoken) {
    spoken.expect(as: .webAddress)
  }
}
