import Foundation
import Testing
import VoiceCore

@testable import VoiceCommands

struct VoiceCommandTests {
  @Test func withoutArgumentsItSaysWhatThereIs() async {
    let (status, console) = await voice()
    #expect(status == .done)
    for command in ["recognize", "serve", "doctor", "demo", "failures"] {
      #expect(console.output.contains(command))
    }
    #expect(console.error.isEmpty)
  }

  @Test(arguments: [
    ["recognize", "--help"], ["help", "recognize"], ["recognize", "-h"],
  ])
  func helpOfACommandIsThatCommands(arguments: [String]) async {
    let context = CommandContext(console: RecordedConsole().console)
    let console = RecordedConsole()
    var copy = context
    copy.console = console.console
    #expect(await VoiceCommand.run(arguments, in: copy) == .done)
    #expect(console.output.contains("--realtime"))
  }

  @Test func printsItsVersion() async {
    let (status, console) = await voice("--version")
    #expect(status == .done)
    #expect(console.output.split(separator: ".").count == 3)
  }

  @Test(arguments: [
    ["recognise"], ["--nonsense"], ["serve", "--port", "x"], ["serve", "--port", "70000"],
    ["serve", "extra"],
    ["serve", "--decoders", "0"], ["serve", "--log-level", "loud"], ["doctor", "x"], ["demo", "--fast"],
    ["serve", "--port", "9000", "--http-port", "9000"], [""],
  ])
  func whatCannotBeUnderstoodExitsWithTwo(arguments: [String]) async {
    let console = RecordedConsole()
    let status = await VoiceCommand.run(arguments, in: CommandContext(console: console.console))
    #expect(status == .usage)
    #expect(console.output.isEmpty)
    #expect(console.error.hasPrefix("✖ "))
  }

  @Test(arguments: [
    ("voice", "voice"), ("/usr/bin/voice", "/usr/bin/voice"), ("/home/ann/bin/voice", "bin/voice"),
    ("/home/ann/.build/x86_64-unknown-linux-gnu/release/voice", ".build/release/voice"),
    ("/home/ann/", "/home/ann/"),
  ])
  func commandsToCopyNameTheProgramAsItCanBeTyped(path: String, name: String) {
    #expect(CommandContext.programName(path, from: "/home/ann") == name)
  }

  @Test func guessesWhichCommandWasMeant() async {
    let (_, console) = await voice("recgonize", "a.wav")
    #expect(console.error.contains("Did you mean “voice recognize”?"))
  }

  @Test(arguments: [["recognize", "--json"], ["recgonize", "--json"], ["serve", "--port", "x", "--json"]])
  func withJSONAUsageErrorIsAnObjectToo(arguments: [String]) async throws {
    let console = RecordedConsole()
    #expect(await VoiceCommand.run(arguments, in: CommandContext(console: console.console)) == .usage)
    let line = try #require(console.outputLines.first)
    let object = try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: String])
    #expect(object["event"] == "failure")
    #expect(object["code"] == "client.usage")
    #expect(console.outputLines.count == 1)
  }
}
