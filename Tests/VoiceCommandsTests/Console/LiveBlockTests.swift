import Testing

@testable import VoiceCommands

struct LiveBlockTests {
  private let size = Console.Size(width: 20, height: 10)

  @Test func replacesItsRows() {
    var block = LiveBlock(showsColor: true)
    var terminal = VirtualTerminal(width: 20)
    terminal.feed(block.draw(["one", "two", "three"], on: self.size))
    terminal.feed(block.draw(["four"], on: self.size))
    #expect(terminal.rows == ["four"])
    #expect(terminal.unknown.isEmpty)
  }

  @Test func linesAboveStay() {
    var block = LiveBlock(showsColor: false)
    var terminal = VirtualTerminal(width: 20)
    terminal.feed(block.draw(["a", "b"], on: self.size))
    terminal.feed(block.draw(["c"], above: ["done"], on: self.size))
    terminal.feed(block.draw(["d"], above: ["more"], on: self.size))
    terminal.feed(block.clear(on: self.size))
    #expect(terminal.rows == ["done", "more"])
  }

  @Test func writesNothingIfNothingChanged() {
    var block = LiveBlock(showsColor: true)
    _ = block.draw(["a"], on: self.size)
    #expect(block.draw(["a"], on: self.size) == "")
  }

  @Test func rowsThatDoNotFitAreCut() {
    var block = LiveBlock(showsColor: false)
    var terminal = VirtualTerminal(width: 20)
    terminal.feed(block.draw([StyledText(String(repeating: "x", count: 50))], on: self.size))
    terminal.feed(block.draw(["y"], on: self.size))
    #expect(terminal.rows == ["y"])
  }

  @Test func neverTakesMoreRowsThanTheTerminalHas() {
    var block = LiveBlock(showsColor: false)
    let size = Console.Size(width: 20, height: 4)
    var terminal = VirtualTerminal(width: 20)
    terminal.feed(block.draw(["1", "2", "3", "4", "5", "6"], on: size))
    #expect(terminal.rows == ["4", "5", "6"])
  }

  @Test func countsTheRowsThatANarrowerTerminalBroke() {
    var block = LiveBlock(showsColor: false)
    _ = block.draw(["0123456789", "abcdefghij"], on: self.size)
    // Ten characters take two rows of six columns: four rows in all, three above the cursor's.
    let text = block.draw(["x"], on: Console.Size(width: 6, height: 10))
    #expect(text == "\r\u{1B}[3A\u{1B}[Jx")
  }
}
