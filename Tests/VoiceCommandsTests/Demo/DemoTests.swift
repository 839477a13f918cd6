import Foundation
import SpeechStreaming
import Testing
import VoiceCore
import VoiceTesting

@testable import VoiceCommands

struct DemoStageTests {
  private let recovery = SpeechRecovery(
    contextId: "c", attempts: 2, replayed: .seconds(1), outage: .seconds(1))

  private func judge(_ first: DemoStage.Pass, _ second: DemoStage.Pass) -> (CommandStatus, String) {
    self.judge { $0.judge(first, second) }
  }

  private func judge(_ judge: (DemoStage) -> CommandStatus) -> (CommandStatus, String) {
    let console = RecordedConsole()
    let stage = DemoStage(
      recordings: [], commands: [],
      synthesizer: InstalledSynthesizers(
        environment: [:], folder: "/none-such", clock: MonotonicClock()),
      context: CommandContext(console: console.console), json: false)
    return (judge(stage), console.output)
  }

  private let degradation = SpeechDegradation(
    contextId: "c", failure: VoiceFailure(.connectionLost), replayed: .seconds(1))

  @Test(arguments: [
    (["a", "b"], true, true, "The same 2 words, without the server"), (["a", "c"], true, false, "a c(b)"),
    (["a", "b"], false, false, "The server was not lost"), ([], true, false, "Other words"),
  ])
  func whatIsHeardWithoutTheServerIsCompared(
    _ words: [String], _ isDegraded: Bool, _ isGood: Bool, _ text: String
  ) {
    let alone = DemoStage.Pass(words: words, degradations: isDegraded ? [self.degradation] : [])
    let (status, output) = self.judge { $0.judge(heard: ["a", "b"], alone: alone) }
    #expect((status == .done) == isGood)
    #expect(output.contains(text))
  }

  @Test func theSameWordsAfterARecoveryAreASuccess() {
    let first = DemoStage.Pass(words: ["a", "b"])
    let second = DemoStage.Pass(words: ["a", "b"], recoveries: [self.recovery])
    let (status, text) = self.judge(first, second)
    #expect(status == .done)
    #expect(text.contains("The same 2 words"))
  }

  @Test func otherWordsAreAFailureThatIsShown() {
    let (status, text) = self.judge(
      DemoStage.Pass(words: ["a", "b"]), DemoStage.Pass(words: ["a", "c"], recoveries: [self.recovery]))
    #expect(status != .done)
    #expect(text.contains("a c(b)"))
  }

  @Test func aConnectionThatWasNotCutShowsNothing() {
    let (status, _) = self.judge(DemoStage.Pass(words: ["a"]), DemoStage.Pass(words: ["a"]))
    #expect(status != .done)
  }

  @Test func aCallThatDoesNotComeBackIsAFailure() {
    let (lost, text) = self.judge { $0.judge(DemoStage.CallOutcome(understood: 2), of: 3) }
    #expect(lost == .call)
    #expect(text.contains("did not come back"))
    let (mute, reason) = self.judge {
      $0.judge(DemoStage.CallOutcome(understood: 2, reconnected: true, newWays: 0), of: 3)
    }
    #expect(mute == .call)
    #expect(reason.contains("no other way"))
    let (kept, _) = self.judge {
      $0.judge(DemoStage.CallOutcome(understood: 2, reconnected: true, newWays: 1), of: 3)
    }
    #expect(kept == .done)
  }

  @Test func noWordsAtAllAreAFailure() {
    let (status, _) = self.judge(DemoStage.Pass(), DemoStage.Pass(recoveries: [self.recovery]))
    #expect(status != .done)
  }

  @Test func aRecordingThatIsMissingSaysWhatInstallsIt() {
    let recording = DemoRecording(path: "/none-such.wav", raw: nil, title: "", reference: "")
    #expect(throws: VoiceFailure.self) { try recording.check() }
    do throws(VoiceFailure) { try recording.check() } catch {
      #expect(error.message.contains("sudo apt-get install pocketsphinx-testdata"))
      #expect(CommandStatus(error.code) == .input)
    }
  }

  @Test func theCutIsInTheMiddleAndTheServerStaysAway() async throws {
    let plan = try await DemoStage.plan(for: .command)
    // goforward.raw has 44,580 samples of two bytes.
    #expect(plan.connection(0).cut == .init(.toTarget, afterBytes: 44_580, .reset))
    #expect(plan.connection(1).isRejected)
  }
}

/// A clock that runs faster than the world's.
struct FastClock: VoiceClock {
  let factor = 4
  private let base = MonotonicClock()
  var now: VoiceInstant { VoiceInstant(offset: self.base.now.offset * self.factor) }
  var minimumResolution: Duration { self.base.minimumResolution }
  func sleep(until deadline: VoiceInstant, tolerance: Duration?) async throws {
    try await self.base.sleep(
      until: VoiceInstant(offset: deadline.offset / self.factor), tolerance: tolerance)
  }
}

/// The demonstration as `make demo` runs it, four times as fast except for the call: real server, real sockets, real cuts.
@Suite(.timeLimit(.minutes(2)))
struct DemoCommandTests {
  /// The environment has no `PATH`, so that nobody speaks, whatever this machine has.
  @Test func endsByItselfWithTheSameWordsAfterTheCut() async throws {
    let console = RecordedConsole()
    let status = await VoiceCommand.run(
      ["demo", "--json"], in: CommandContext(console: console.console, clock: FastClock()))
    // What nobody can speak is missing from the demonstration.
    #expect(status == .input)
    #expect(console.error.isEmpty)
    let objects = try console.outputLines.map { line in
      try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
    }
    let comparisons = objects.filter { $0["event"] as? String == "comparison" }
    #expect(comparisons.compactMap { $0["wordErrorRate"] as? Double }.first == 0)
    #expect(comparisons.count == 2)
    let verdict = try #require(objects.first { $0["event"] as? String == "verdict" })
    #expect(verdict["sameWords"] as? Bool == true)
    #expect(verdict["recovered"] as? Bool == true)
    let alone = try #require(objects.last { $0["sameWords"] != nil })
    #expect(alone["sameWords"] as? Bool == true)
    #expect(alone["degraded"] as? Bool == true)
    #expect(objects.count { $0["event"] as? String == "degraded" } == 1)
    #expect(objects.contains { $0["code"] as? String == "network.connection.lost" })
    #expect(objects.contains { $0["code"] as? String == "audio.file.not-found" })
    // The call: its connection is cut, and what is said in it is understood before, meanwhile and afterwards.
    let call = try #require(objects.last { $0["event"] as? String == "verdict" })
    #expect(call["reconnected"] as? Bool == true)
    #expect(call["understood"] as? Int == 3)
    // The way of the audio was taken away too.
    #expect(call["newWays"] as? Int ?? 0 > 0)
    let states = try #require(call["states"] as? [[String: Any]]).compactMap { $0["state"] as? String }
    #expect(states.suffix(4) == ["ACTIVE", "RECONNECTING", "ACTIVE", "DONE"])
    #expect(objects.last?["event"] as? String == "report")
    #expect(objects.last?["outages"] as? Int == 1)
  }

  @Test func aSignalEndsIt() async {
    let (status, _) = await voice("demo", stopSignals: { AsyncStream { $0.yield(.interrupt) } })
    #expect(status == .interrupted)
  }
}
