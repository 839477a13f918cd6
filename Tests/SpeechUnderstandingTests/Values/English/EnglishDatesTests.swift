import Foundation
import SpeechUnderstanding
import Testing

struct EnglishDatesTests {
  @Test(arguments: [
    "", "hello", "on", "five", "the five", "january thirty second", "february thirtieth", "june thirty first",
    "february twenty ninth two thousand and one", "february twenty ninth nineteen hundred",
    "the thirty second",
    "next", "next hello", "in days", "in minus three days", "in a hundred thousand days",
    "in ninety thousand years",
    "monday january fifth twenty twenty one", "january fifth five", "january fifth three thousand",
    "2021-02-29",
    "2021-2-3", "0000-01-01", "tomorrow tomorrow", "the fifth of", "of january", "january january",
    "on on on", "three days after", "end of", "the end of time", "twenty twenty", "week",
  ])
  func rejectsWhatIsNoDate(words: String) {
    for type in [EntityType.date, .dateFuture, .datePast] { Spoken(words, nil).expect(as: type) }
  }

  @Test(arguments: [
    // The examples of the protocol document and of the documentation of standard variables.
    Spoken("today", "2021-05-15"), Spoken("tomorrow", "2021-05-16"),
    Spoken("day after tomorrow", "2021-05-17"),
    Spoken("next friday", "2021-05-21"), Spoken("january fifth twenty twenty", "2020-01-05"),
    Spoken("july the fifth twenty-twenty", "2020-07-05"),
    Spoken("january fifth twenty twenty one", "2021-01-05"),
    Spoken("second of november two thousand and twenty one", "2021-11-02"),
    Spoken("fifth of july", "2021-07-05"),
    Spoken("next january", "2022-01-01"),
    // Days nearby.
    Spoken("the day before yesterday", "2021-05-13"), Spoken("yesterday", "2021-05-14"),
    Spoken("monday", "2021-05-17"), Spoken("on saturday", "2021-05-22"),
    Spoken("this saturday", "2021-05-15"),
    Spoken("this friday", "2021-05-21"), Spoken("next saturday", "2021-05-22"),
    Spoken("last saturday", "2021-05-08"),
    Spoken("last monday", "2021-05-10"), Spoken("friday next week", "2021-05-21"),
    Spoken("monday week", "2021-05-24"),
    Spoken("a week from monday", "2021-05-24"), Spoken("a week on monday", "2021-05-24"),
    Spoken("next week on tuesday", "2021-05-18"), Spoken("the friday after next", "2021-05-28"),
    Spoken("the coming friday", "2021-05-21"),
    // Spans.
    Spoken("in three days", "2021-05-18"), Spoken("in two weeks", "2021-05-29"),
    Spoken("in a month", "2021-06-15"),
    Spoken("ten days ago", "2021-05-05"), Spoken("two weeks from now", "2021-05-29"),
    Spoken("two days after tomorrow", "2021-05-18"), Spoken("a fortnight from today", "2021-05-29"),
    Spoken("the day after christmas", "2021-12-26"), Spoken("in a couple of days", "2021-05-17"),
    // Periods.
    Spoken("next week", "2021-05-17"), Spoken("this week", "2021-05-10"), Spoken("next month", "2021-06-01"),
    Spoken("last month", "2021-04-01"), Spoken("next year", "2022-01-01"),
    Spoken("this weekend", "2021-05-15"),
    Spoken("the end of the month", "2021-05-31"), Spoken("end of next month", "2021-06-30"),
    Spoken("beginning of june", "2021-06-01"), Spoken("end of february", "2021-02-28"),
    Spoken("january twenty twenty", "2020-01-01"), Spoken("january", "2021-01-01"),
    // Calendar dates.
    Spoken("january fifth", "2021-01-05"), Spoken("january five", "2021-01-05"),
    Spoken("fifth january two thousand and one", "2001-01-05"),
    Spoken("the fifth of january twenty twenty", "2020-01-05"),
    Spoken("january twenty first nineteen ten", "1910-01-21"),
    Spoken("january twenty five nineteen oh five", "1905-01-25"),
    Spoken("may twenty twenty twenty", "2020-05-20"), Spoken("january first two thousand", "2000-01-01"),
    Spoken("january two thousand one", "2001-01-01"),
    Spoken("february twenty ninth", "2024-02-29"), Spoken("february twenty ninth two thousand", "2000-02-29"),
    Spoken("the fifth", "2021-06-05"), Spoken("the fifteenth", "2021-05-15"),
    Spoken("the thirty first", "2021-05-31"),
    Spoken("friday the thirteenth", "2021-08-13"), Spoken("the fifth of next month", "2021-06-05"),
    Spoken("friday january fifth", "2024-01-05"), Spoken("tuesday january fifth", "2021-01-05"),
    Spoken("friday may twenty first twenty twenty one", "2021-05-21"),
    Spoken("january fifth next year", "2022-01-05"),
    Spoken("christmas", "2021-12-25"), Spoken("christmas eve twenty nineteen", "2019-12-24"),
    Spoken("last christmas", "2020-12-25"), Spoken("next new year's eve", "2021-12-31"),
    Spoken("next may fifteenth", "2022-05-15"),
    // Typed.
    Spoken("2020-01-05", "2020-01-05"), Spoken("january 5th, 2020", "2020-01-05"),
    Spoken("5 january 2020", "2020-01-05"),
  ])
  func readsDates(spoken: Spoken) {
    spoken.expect(as: .date)
  }

  @Test(arguments: [
    Spoken("january fifth", "2022-01-05"), Spoken("may fifteenth", "2021-05-15"),
    Spoken("june first", "2021-06-01"),
    Spoken("monday", "2021-05-17"), Spoken("the tenth", "2021-06-10"),
    Spoken("february twenty ninth", "2024-02-29"),
    Spoken("yesterday", "2021-05-14"), Spoken("january", "2022-01-01"),
    Spoken("january fifth twenty ten", "2010-01-05"),
  ])
  func prefersTheFuture(spoken: Spoken) {
    spoken.expect(as: .dateFuture)
  }

  @Test(arguments: [
    Spoken("january fifth", "2021-01-05"), Spoken("may fifteenth", "2021-05-15"),
    Spoken("june first", "2020-06-01"),
    Spoken("monday", "2021-05-10"), Spoken("saturday", "2021-05-08"), Spoken("the twentieth", "2021-04-20"),
    Spoken("february twenty ninth", "2020-02-29"), Spoken("tomorrow", "2021-05-16"),
    Spoken("june", "2020-06-01"),
    Spoken("friday the thirteenth", "2020-11-13"),
  ])
  func prefersThePast(spoken: Spoken) {
    spoken.expect(as: .datePast)
  }

  /// The clocks go forward on 2021-03-14 in New York, and at midnight of 2018-11-04 in São Paulo, where no 00:00 is.
  @Test func changesOfClocksMoveNoDate() {
    let before = ValueContext(moment: "2021-03-13T23:30:00-05:00", zone: "America/New_York")
    Spoken("today", "2021-03-13").expect(as: .date, in: before)
    Spoken("tomorrow", "2021-03-14").expect(as: .date, in: before)
    Spoken("in two days", "2021-03-15").expect(as: .date, in: before)
    Spoken("in eight months", "2021-11-13").expect(as: .date, in: before)
    let brazil = ValueContext(moment: "2018-11-03T23:59:00-03:00", zone: "America/Sao_Paulo")
    Spoken("tomorrow", "2018-11-04").expect(as: .date, in: brazil)
    Spoken("in two days", "2018-11-05").expect(as: .date, in: brazil)
  }

  @Test func takesTheDayOfTheSpeaker() {
    let moment = "2021-05-15T23:30:00Z"
    Spoken("today", "2021-05-16").expect(as: .date, in: ValueContext(moment: moment, zone: "Asia/Tokyo"))
    Spoken("today", "2021-05-15").expect(
      as: .date, in: ValueContext(moment: moment, zone: "America/New_York"))
  }

  @Test func shortMonthsEndSpansOfMonths() {
    let context = ValueContext(moment: "2021-01-31T12:00:00Z", zone: "UTC")
    Spoken("in a month", "2021-02-28").expect(as: .date, in: context)
    Spoken("next month", "2021-02-01").expect(as: .date, in: context)
    Spoken("last january", "2020-01-01").expect(as: .date, in: context)
  }

  @Test(arguments: [Double.infinity, -.infinity, .nan, 1e300, -1e300, 1e12, -6.3e10, 2.5e11])
  func survivesTheEndsOfTime(seconds: Double) {
    let context = ValueContext(now: Date(timeIntervalSinceReferenceDate: seconds), timeZone: .gmt)
    for words in [
      "today", "in ten years", "ten thousand years ago", "february twenty ninth", "the thirty first",
      "in an hour",
    ] {
      for type in [EntityType.date, .dateFuture, .datePast, .time] {
        let value = EnglishPack().normalForm(of: words, as: type, in: context)
        #expect(value.map { $0.utf8.count == (type == .time ? 5 : 10) } ?? true)
      }
    }
  }
}
