import Testing

@testable import VoiceCommands

struct ConsoleTests {
  private func stream(terminal: Bool, _ environment: [String: String]) -> Console.Stream {
    Console.Stream(isTerminal: terminal, environment: environment, write: { _ in })
  }

  @Test func showsColourOnTerminalsOnly() {
    #expect(self.stream(terminal: true, ["TERM": "xterm"]).showsColor)
    #expect(!self.stream(terminal: false, ["TERM": "xterm"]).showsColor)
  }

  @Test func respectsNoColor() {
    #expect(!self.stream(terminal: true, ["NO_COLOR": "1"]).showsColor)
    #expect(self.stream(terminal: true, ["NO_COLOR": "1"]).movesCursor)
    // no-color.org: an empty value does not count.
    #expect(self.stream(terminal: true, ["NO_COLOR": ""]).showsColor)
  }

  @Test func aDumbTerminalIsWrittenToLineByLine() {
    let dumb = self.stream(terminal: true, ["TERM": "dumb"])
    #expect(!dumb.movesCursor)
    #expect(!dumb.showsColor)
    #expect(dumb.isTerminal)
  }

  @Test func aTerminalThatSaysNothingOfItsSizeHasAUsableOne() {
    let stream = Console.Stream(
      isTerminal: true, size: { Console.Size(width: 0, height: 0) }, write: { _ in })
    #expect(stream.size == Console.Size(width: 20, height: 4))
  }

  @Test func linesAreBrokenOnATerminalOnly() {
    let terminal = RecordedConsole(outputIsTerminal: true, environment: ["NO_COLOR": "1"], width: 20)
    terminal.console.output.line("one two three four five")
    #expect(terminal.output == "one two three four\nfive\n")
    let pipe = RecordedConsole(width: 20)
    pipe.console.output.line("one two three four five")
    #expect(pipe.output == "one two three four five\n")
  }

  @Test(arguments: [
    (Duration.zero, "0.0 s"), (.milliseconds(50), "0.05 s"), (.milliseconds(250), "0.2 s"),
    (.milliseconds(1260), "1.3 s"),
    (.seconds(10), "10 s"), (.seconds(59.8), "60 s"), (.seconds(60), "1 min"), (.seconds(125), "2 min 5 s"),
    (.seconds(-1), "0.0 s"), (.seconds(Int64.max), "1000000000 s"),
  ])
  func saysHowLongSomethingTook(duration: Duration, text: String) {
    #expect(Phrases.duration(duration) == text)
  }
}
