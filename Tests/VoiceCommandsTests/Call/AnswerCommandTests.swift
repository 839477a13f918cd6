import CallSignaling
import Foundation
import Synchronization
import Testing
import VoiceCore
import VoiceTesting

@testable import VoiceCommands

/// `voice answer` and `voice call` against a scripted gateway on a socket: what a person sees, and what a program reads.
@Suite(.timeLimit(.minutes(4))) struct AnswerCommandTests {
  /// Ctrl-C of the test's, for every reader.
  private final class Stops: Sendable {
    private let readers = Mutex<[AsyncStream<StopSignal>.Continuation]>([])

    func stream() -> AsyncStream<StopSignal> {
      let (stream, continuation) = AsyncStream.makeStream(of: StopSignal.self)
      self.readers.withLock { $0.append(continuation) }
      return stream
    }

    func send() { for reader in self.readers.withLock({ $0 }) { reader.yield(.interrupt) } }
  }

  private struct Stage: Sendable {
    let gateway: ScriptedGateway
    let console: RecordedConsole
    let stops: Stops

    func shows(_ text: String, times: Int = 1) async {
      while self.console.output.ranges(of: text).count < times, !Task.isCancelled { await Task.yield() }
    }
  }

  /// Runs a command against a gateway while the body plays the other side.
  private static func run(
    _ arguments: [String], _ script: ScriptedGateway.Script = .init(), onTerminal: Bool = false,
    _ play: @Sendable @escaping (Stage) async throws -> Void
  ) async throws -> (CommandStatus, RecordedConsole) {
    let gateway = ScriptedGateway(script)
    let listener = try await gateway.listen()
    let console = RecordedConsole(outputIsTerminal: onTerminal, errorIsTerminal: onTerminal)
    let stops = Stops()
    var context = CommandContext(console: console.console, stopSignals: { stops.stream() })
    context.callMedia = ScriptedMedia()
    let line =
      arguments + ["--server", listener.url, "--user", "alice", "--password", "secret", "--no-devices"]
    async let status = VoiceCommand.run(line, in: context)
    try await play(Stage(gateway: gateway, console: console, stops: stops))
    let result = await status
    await listener.close()
    return (result, console)
  }

  static let id = CallID("1b0c9f4e-7a1f-4f0e-9e6b-0f6f3a1b2c3d")

  @Test func takesACallAndShowsItsStatesUntilTheOtherSideHangsUp() async throws {
    let (status, console) = try await Self.run(["answer"], onTerminal: true) { stage in
      await stage.shows("Waiting for a call")
      stage.gateway.invite(Self.id)
      _ = try await stage.gateway.request(.answer)
      await stage.shows("Talking")
      stage.gateway.bye(Self.id)
    }
    #expect(status == .done)
    var terminal = VirtualTerminal(width: 80)
    terminal.feed(console.output)
    let rows = terminal.rows
    #expect(
      rows.dropLast() == [
        "Waiting for a call", "Ringing", "Connecting", "Talking", "Ended (NORMAL_CLEARING)",
      ])
    #expect(rows.last?.hasPrefix("Talked 0:0") == true)
    #expect(terminal.unknown.isEmpty)
    #expect(console.error.isEmpty)
  }

  @Test func printsOneObjectPerState() async throws {
    let (status, console) = try await Self.run(["answer", "--json"]) { stage in
      await stage.shows(#""event":"waiting""#)
      stage.gateway.invite(Self.id)
      await stage.shows("ACTIVE")
      stage.gateway.bye(Self.id, .callRejected, sipCode: 403)
    }
    #expect(status == .call)
    let events = try console.outputLines.map { line in
      try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
    }
    let last = try #require(events.last { $0["event"] as? String == "call" })
    #expect(last["state"] as? String == "DONE" && last["cause"] as? String == "CALL_REJECTED")
    #expect(last["causeCode"] as? Int == 21 && last["sipCode"] as? Int == 403)
    #expect(last["callId"] as? String == Self.id.text)
    #expect(console.output.contains("call.ended.rejected"))
  }

  @Test func stopsWaitingWhenAsked() async throws {
    let (status, console) = try await Self.run(["answer"]) { stage in
      await stage.shows("Waiting for a call")
      stage.stops.send()
    }
    #expect(status == .interrupted)
    #expect(console.outputLines == ["Waiting for a call"])
  }

  @Test func hangsUpWhenAskedInTheCall() async throws {
    let (status, console) = try await Self.run(["answer"]) { stage in
      await stage.shows("Waiting for a call")
      stage.gateway.invite(Self.id)
      await stage.shows("Talking")
      stage.stops.send()
      guard case .bye(let bye) = try await stage.gateway.request(.bye) else { return }
      #expect(bye.cause == "NORMAL_CLEARING")
    }
    #expect(status == .interrupted)
    #expect(console.outputLines.contains("Ended (NORMAL_CLEARING)"))
    #expect(console.outputLines.last?.hasPrefix("Talked 0:0") == true)
  }

  @Test func saysWhenItsLoginIsRefusedWhileItWaits() async throws {
    let (status, console) = try await Self.run(["answer", "--json"]) { stage in
      await stage.shows("waiting")
      stage.gateway.script.users = ["alice": "another"]
      stage.gateway.cut()
    }
    #expect(status == .refused)
    #expect(console.output.contains("call.login.refused"))
    #expect(console.output.contains("call.connection.lost"))
  }

  @Test func aRefusedLoginIsSaidBeforeItWaits() async throws {
    var script = ScriptedGateway.Script()
    script.users = ["alice": "another"]
    let (_, console) = try await Self.run(["answer"], script) { _ in }
    #expect(console.output.isEmpty)
    #expect(console.error.contains("call.login.refused"))
  }

  @Test func aCallShowsThatItReconnects() async throws {
    let (status, console) = try await Self.run(["call", "bob"], onTerminal: true) { stage in
      await stage.shows("Talking")
      stage.gateway.cut()
      await stage.shows("Reconnecting (Network switched)")
      await stage.shows("Talking", times: 2)
      stage.stops.send()
    }
    #expect(status == .interrupted)
    var terminal = VirtualTerminal(width: 80)
    terminal.feed(console.output)
    // Connecting and ringing may be over before anybody looks.
    #expect(
      terminal.rows.filter { $0 != "Connecting" && $0 != "Ringing" }.dropLast() == [
        "Talking", "Reconnecting (Network switched)", "Talking", "Ended (NORMAL_CLEARING)",
      ])
    #expect(terminal.rows.last?.hasSuffix("1 outage") == true)
    #expect(terminal.unknown.isEmpty)
  }
}
