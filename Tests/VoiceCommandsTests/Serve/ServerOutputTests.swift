import Foundation
import Logging
import Testing
import VoiceServer

@testable import VoiceCommands

struct ServerOutputTests {
  private let addresses = ListenAddresses(
    grpc: ListenAddress(host: "127.0.0.1", port: 50051), http: ListenAddress(host: "127.0.0.1", port: 8080))

  private func output(
    _ console: RecordedConsole, _ configuration: ServerConfiguration, json: Bool = false
  ) -> ServerOutput {
    ServerOutput(
      configuration: configuration, engineName: "Engine", console: console.console, programName: "voice",
      json: json)
  }

  @Test func saysWhereItListensAndHowToTryIt() {
    let console = RecordedConsole()
    self.output(console, ServerConfiguration(dataFolder: "/data")).ready(self.addresses)
    for text in [
      "grpc://127.0.0.1:50051", "http://127.0.0.1:8080", "00000000-0000-4000-8000-000000000001", "en-US",
      "/data",
      "voice recognize --",
    ] { #expect(console.output.contains(text), "\(text)") }
    #expect(!console.output.contains("--server"))
  }

  @Test func printsTheDemoUsersWithTheirPasswords() {
    let users = [DemoUser(name: "alice", password: "first-one"), DemoUser(name: "bob", password: "second-one")]
    for json in [false, true] {
      let console = RecordedConsole()
      let output = self.output(console, ServerConfiguration(dataFolder: "/data"), json: json)
      output.took(users)
      output.ready(self.addresses)
      for text in ["ws://127.0.0.1:8080/", "alice", "first-one", "bob", "second-one"] {
        #expect(console.output.contains(text), "\(text)")
      }
      #expect(console.error.isEmpty)
    }
  }

  @Test func theCommandToTryNamesTheServerIfItIsNotTheUsualOne() {
    let console = RecordedConsole()
    var configuration = ServerConfiguration(dataFolder: "/data")
    configuration.apps = [.init(id: UUID(), name: "mine", project: UUID())]
    let addresses = ListenAddresses(
      grpc: ListenAddress(host: "0.0.0.0", port: 9000), http: ListenAddress(host: "0.0.0.0", port: 8080))
    self.output(console, configuration).ready(addresses)
    #expect(
      console.output.contains(
        "--server grpc://127.0.0.1:9000 --app \(configuration.apps[0].id.uuidString.lowercased())"))
  }

  @Test func aCommandToCopyIsNeverBroken() {
    let console = RecordedConsole(outputIsTerminal: true, environment: ["NO_COLOR": "1"], width: 30)
    self.output(console, ServerConfiguration(dataFolder: "/data")).ready(self.addresses)
    #expect(console.outputLines.count { $0.contains("voice recognize") } == 1)
    let line = console.outputLines.first { $0.contains("voice recognize") } ?? ""
    #expect(line.hasSuffix("--mic") || line.hasSuffix("goforward.raw"))
  }

  @Test func progressIsShownOnATerminalOnlyAndGoesAway() {
    let pipe = RecordedConsole()
    self.output(pipe, ServerConfiguration(dataFolder: "/data")).loaded(1, of: 2)
    #expect(pipe.error.isEmpty)
    let screen = RecordedConsole(errorIsTerminal: true, environment: ["TERM": "xterm"])
    let output = self.output(screen, ServerConfiguration(dataFolder: "/data"))
    output.loaded(1, of: 2)
    var terminal = VirtualTerminal(width: 80)
    terminal.feed(screen.error)
    #expect(terminal.rows == ["Loading recognisers  ████████████░░░░░░░░░░░░  1 of 2"])
    output.ready(self.addresses)
    terminal = VirtualTerminal(width: 80)
    terminal.feed(screen.error)
    #expect(terminal.rows.isEmpty)
  }

  @Test func aBarNeverLeavesItsBounds() {
    for (done, total) in [(0, 0), (-1, 2), (5, 2), (2, 2)] {
      let width = ProgressBar.row("x", done, of: total, symbols: .unicode).plain.count { "█░".contains($0) }
      #expect(width == 24)
    }
  }
}

struct ConsoleLogHandlerTests {
  private func log(_ format: ConsoleLogHandler.Format, level: Logger.Level = .info) -> (
    Logger, RecordedConsole
  ) {
    let console = RecordedConsole()
    let stream = console.console.error
    let logger = Logger(label: "voice.server") { label in
      ConsoleLogHandler(
        label: label, stream: stream, format: format, level: level,
        now: { Date(timeIntervalSince1970: 1_700_000_000.25) })
    }
    return (logger, console)
  }

  @Test func writesAnObjectForEachEntry() throws {
    let (logger, console) = self.log(.json)
    logger.info("ready \"now\"\n", metadata: ["port": "1", "app": "x"])
    #expect(
      console.error
        == #"{"time":"2023-11-14T22:13:20.250Z","level":"info","logger":"voice.server","message":"ready \"now\"\n","app":"x","port":"1"}"#
        + "\n")
  }

  @Test func writesALineForPeople() {
    let (logger, console) = self.log(.text)
    logger.warning("slow\u{1B}[2J", metadata: ["b": "2", "a": "1"])
    #expect(console.error.hasSuffix("warning slow\u{FFFD}[2J a=1 b=2\n"))
    #expect(console.errorLines.count == 1)
  }

  @Test func respectsTheLevel() {
    let (logger, console) = self.log(.text, level: .notice)
    logger.info("x")
    #expect(console.error.isEmpty)
  }
}
