import Testing

@testable import VoiceCommands

struct StyledTextTests {
  @Test func controlCharactersOfOthersNeverReachTheTerminal() {
    let text = StyledText("a\u{1B}[31mb\u{7}c\rd\te\u{202E}f\u{9B}g", .red)
    #expect(text.plain == "a\u{FFFD}[31mb\u{FFFD}c\u{FFFD}d e\u{FFFD}f\u{FFFD}g")
  }

  @Test func isPlainWithoutColour() {
    let text = StyledText("wrong", [.red, .bold]) + StyledText(" words")
    #expect(text.rendered(withColor: false) == "wrong words")
    #expect(text.rendered(withColor: true) == "\u{1B}[1;31mwrong\u{1B}[0m words")
  }

  @Test func breaksBetweenWordsAndIndents() {
    let rows = StyledText("one two three four").wrapped(to: 9, indent: 2)
    #expect(rows.map(\.plain) == ["one two", "  three", "  four"])
  }

  @Test func keepsLeadingSpaces() {
    #expect(StyledText("   a b").wrapped(to: 20).map(\.plain) == ["   a b"])
  }

  @Test func cutsAWordThatIsWiderThanARow() {
    #expect(StyledText("abcdefgh").wrapped(to: 3).map(\.plain) == ["abc", "def", "gh"])
  }

  @Test func aWordWithTwoStylesIsNotBroken() {
    let rows = (StyledText("ab cd", .red) + StyledText("ef", .green)).wrapped(to: 5)
    #expect(rows.map(\.plain) == ["ab", "cdef"])
  }

  @Test(arguments: 1...12)
  func noRowIsWiderThanAllowed(width: Int) {
    let text = StyledText("a bb ccc dddd eeeee ffffff ", .dim) + StyledText("ggggggg h i j kkkkkkkkkkkkkkkkk")
    for row in text.wrapped(to: width, indent: 4) { #expect(row.width <= width) }
  }

  @Test func countsColumnsAsATerminalDoes() {
    #expect(TextWidth.columns(of: "abc") == 3)
    #expect(TextWidth.columns(of: "ä") == 1)
    #expect(TextWidth.columns(of: "a\u{308}") == 1)
    #expect(TextWidth.columns(of: "日本") == 4)
    #expect(TextWidth.columns(of: "👍🏽") == 2)
    #expect(TextWidth.columns(of: "✔ …") == 3)
  }

  @Test func cutsBeforeAWideCharacterThatDoesNotFit() {
    #expect(StyledText("a日本").cut(to: 2).plain == "a")
    #expect(StyledText("a日本").cut(to: 3).plain == "a日")
  }
}
