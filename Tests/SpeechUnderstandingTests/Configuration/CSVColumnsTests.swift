import Testing

@testable import SpeechUnderstanding

struct CSVColumnsTests {
  private func columns(_ text: String, _ columns: Int..., rowLimit: Int = CSVColumns.rowLimit) -> CSVColumns {
    CSVColumns(Array(text.utf8), columns: Set(columns), rowLimit: rowLimit)
  }

  @Test func reportsAQuoteThatDoesNotEnd() {
    let table = columns("a,b\nc,\"d\ne,f\n", 2)
    #expect(table.problems == [.unclosedQuote(line: 2)])
    #expect(table.values[2] == ["b", "d\ne,f"])
  }

  @Test func reportsTextAfterAQuote() {
    let table = columns("\"a\" x,b\n\"c\" ,d", 1, 2)
    #expect(table.problems == [.textAfterQuote(line: 1)])
    #expect(table.values == [1: ["a", "c"], 2: ["b", "d"]])
  }

  @Test func reportsBytesThatAreNotText() {
    let table = CSVColumns(Array("a\n".utf8) + [0x62, 0xff, 0x0a, 0xfe], columns: [1])
    #expect(table.problems == [.encoding(line: 2)])
    #expect(table.values[1] == ["a", "", ""])
  }

  @Test func stopsAtTheLimitOfRows() {
    let table = columns("a\nb\nc", 1, rowLimit: 2)
    #expect(table.problems == [.tooManyRows])
    #expect(table.rows == 2)
  }

  @Test func countsRowsWithoutAWantedColumn() {
    let table = columns("a,1\nb\n\nc,3\nd\n", 1, 2)
    #expect(table.values == [1: ["a", "b", "c", "d"], 2: ["1", "", "3", ""]])
    #expect(table.missing[1] == nil)
    #expect(table.missing[2]?.count == 2)
    #expect(table.missing[2]?.firstLine == 2)
  }

  @Test func readsQuotesCommasAndLineEndsInValues() {
    let table = columns("\"a, b\",\"say \"\"hi\"\"\"\r\n\"x\ny\", 5\" \r\"\",z", 1, 2)
    #expect(table.problems == [])
    #expect(table.values == [1: ["a, b", "x\ny", ""], 2: ["say \"hi\"", "5\"", "z"]])
  }

  @Test(arguments: ["", "\n\n", "\u{feff}", "\r\n"])
  func findsNoRowsInNothing(text: String) {
    let table = columns(text, 1)
    #expect(table.rows == 0)
    #expect(table.values == [1: []])
    #expect(table.problems == [])
  }

  @Test func skipsAByteOrderMark() {
    #expect(columns("\u{feff}a,b\n", 1).values[1] == ["a"])
  }

  @Test func noticesSemicolons() {
    #expect(columns("a;b\nc;d", 2).seemsToUseSemicolons)
    #expect(!columns("a,b;c", 2).seemsToUseSemicolons)
  }

  @Test func readsManyRowsInReasonableTime() {
    let table = columns(String(repeating: "spoken value,normal value\n", count: 200_000), 1, 2)
    #expect(table.rows == 200_000)
    #expect(table.values[2]?.last == "normal value")
  }
}
