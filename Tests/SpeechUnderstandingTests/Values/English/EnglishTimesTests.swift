import Foundation
import SpeechUnderstanding
import Testing

struct EnglishTimesTests {
  @Test(arguments: [
    "", "hello", "at", "pm", "in the morning", "twenty four thirty", "three sixty", "three five",
    "twenty five",
    "fifteen am", "zero pm", "thirteen o'clock am", "quarter past", "past two", "half to two",
    "sixty past two",
    "twenty past fifteen in the morning", "3:60", "24:00", "3:3", ":", "1:2:3", "in", "in minutes",
    "in hours",
    "in half a second", "ten ago", "o'clock", "hundred", "hundred hours", "zero to five",
    "in ten million hours",
    "three thirty pm pm", "minus three pm", "half past half past", "one two three",
  ])
  func rejectsWhatIsNoTime(words: String) {
    Spoken(words, nil).expect(as: .time)
  }

  @Test(arguments: [
    // The examples of the protocol document.
    Spoken("three thirty pm", "15:30"), Spoken("quarter past two in the morning", "02:15"),
    Spoken("quarter past eleven", "11:15"), Spoken("fifteen twenty five", "15:25"),
    // Clock times.
    Spoken("three thirty p.m.", "15:30"), Spoken("three thirty p m", "15:30"),
    Spoken("three thirty a.m.", "03:30"),
    Spoken("three thirty", "03:30"), Spoken("at seven", "07:00"), Spoken("seven o'clock", "07:00"),
    Spoken("seven o'clock in the evening", "19:00"), Spoken("nine oh five", "09:05"),
    Spoken("oh nine hundred", "09:00"),
    Spoken("oh nine hundred hours", "09:00"), Spoken("fifteen hundred", "15:00"),
    Spoken("zero nine thirty", "09:30"),
    Spoken("one five three zero", "15:30"), Spoken("twenty three fifty nine", "23:59"),
    Spoken("zero zero thirty", "00:30"),
    Spoken("twenty three", "23:00"), Spoken("twelve thirty am", "00:30"), Spoken("twelve pm", "12:00"),
    Spoken("noon", "12:00"), Spoken("twelve noon", "12:00"), Spoken("midnight", "00:00"),
    Spoken("fifteen thirty pm", "15:30"),
    Spoken("eleven at night", "23:00"), Spoken("two at night", "02:00"), Spoken("twelve at night", "00:00"),
    Spoken("three fifteen this afternoon", "15:15"),
    // Past and to.
    Spoken("half past eleven", "11:30"), Spoken("half eleven", "11:30"),
    Spoken("half past eleven pm", "23:30"),
    Spoken("ten to five", "04:50"), Spoken("ten minutes to five in the afternoon", "16:50"),
    Spoken("twenty five past six", "06:25"), Spoken("a quarter to one", "12:45"),
    Spoken("quarter to one pm", "12:45"),
    Spoken("quarter to one am", "00:45"), Spoken("ten to twelve at night", "23:50"),
    Spoken("ten to twelve am", "11:50"),
    Spoken("quarter to midnight", "23:45"), Spoken("five past midnight", "00:05"),
    Spoken("ten before noon", "11:50"),
    Spoken("quarter of six", "05:45"), Spoken("half-past two", "02:30"),
    // From now; it is 10:20:30.
    Spoken("now", "10:20"), Spoken("in ten minutes", "10:30"), Spoken("in half an hour", "10:50"),
    Spoken("in an hour", "11:20"), Spoken("in an hour and a half", "11:50"),
    Spoken("in two and a half hours", "12:50"),
    Spoken("in two hours and ten minutes", "12:30"), Spoken("twenty minutes ago", "10:00"),
    Spoken("an hour from now", "11:20"), Spoken("in three quarters of an hour", "11:05"),
    Spoken("in twenty hours", "06:20"),
    // Typed.
    Spoken("3:30", "03:30"), Spoken("3:30 pm", "15:30"), Spoken("15:25", "15:25"), Spoken("3pm", "15:00"),
    Spoken("3:30pm", "15:30"), Spoken("7 o'clock", "07:00"),
  ])
  func readsTimes(spoken: Spoken) {
    spoken.expect(as: .time)
  }

  @Test func anHourIsAnHourWhenClocksChange() {
    let context = ValueContext(moment: "2021-03-14T01:30:00-05:00", zone: "America/New_York")
    Spoken("in an hour", "03:30").expect(as: .time, in: context)
    Spoken("two thirty am", "02:30").expect(as: .time, in: context)
  }
}
