import Testing
import VoiceCore

@testable import VoiceCommands

@Suite(.timeLimit(.minutes(4)))
struct RecognitionRunTests {
  private func run(
    _ backend: ScriptedBackend, _ inputs: [RecognitionInput],
    signals: AsyncStream<StopSignal> = AsyncStream { _ in }
  ) async -> (CommandStatus, [String]) {
    let console = RecordedConsole()
    var run = RecognitionRun(
      backend: backend, inputs: inputs, presenter: PlainPresenter(console: console.console, prefix: .none),
      stopSignals: { signals })
    return (await run.run(), console.outputLines)
  }

  private func words(_ text: String) -> [ScriptedBackend.Step] {
    [
      .report(.started(contextId: "c")), .report(.segment(.of(text, isFinal: true))),
      .report(.finished(contextId: "c")),
    ]
  }

  @Test func recognisesInputsInOrder() async {
    let backend = ScriptedBackend([self.words("one"), self.words("two")])
    let (status, lines) = await self.run(backend, [.named("a"), .named("b")])
    #expect(status == .done)
    #expect(lines == ["one", "two"])
  }

  @Test func aBadInputIsReportedAndTheNextGoesOn() async {
    let backend = ScriptedBackend([
      [.report(.failed(VoiceFailure(.fileNotFound))), .report(.finished(contextId: nil))], self.words("two"),
    ])
    let (status, lines) = await self.run(backend, [.named("a"), .named("b")])
    #expect(status == .input)
    #expect(lines == ["two"])
  }

  @Test func aMissingServerEndsTheCommand() async {
    let backend = ScriptedBackend([
      [.report(.failed(VoiceFailure(.serverUnreachable))), .report(.finished(contextId: nil))],
      self.words("two"),
    ])
    let (status, lines) = await self.run(backend, [.named("a"), .named("b")])
    #expect(status == .network)
    #expect(lines.isEmpty)
    #expect(backend.unusedScripts == 1)
  }

  @Test func whatIsRepairedDoesNotChangeTheStatus() async {
    let retry = Recovery.automatic(RetryState(attempt: 1, delay: .zero))
    let backend = ScriptedBackend([
      [.report(.failed(VoiceFailure(.connectionLost).with(recovery: retry)))] + self.words("one")
    ])
    #expect(await self.run(backend, [.named("a")]).0 == .done)
  }

  @Test func audioThatWasLostChangesTheStatus() async {
    let backend = ScriptedBackend([[.report(.failed(VoiceFailure(.audioDropped)))] + self.words("one")])
    let (status, lines) = await self.run(backend, [.named("a")])
    #expect(status == .network)
    #expect(lines == ["one"])
  }

  @Test func aFirstSignalEndsLiveInputWithItsLastWords() async {
    let (signals, continuation) = AsyncStream.makeStream(of: StopSignal.self)
    let backend = ScriptedBackend([
      [.perform { continuation.yield(.interrupt) }, .waitForStop] + self.words("the last words")
    ])
    let (status, lines) = await self.run(backend, [.named("mic", isOpenEnded: true)], signals: signals)
    #expect(status == .done)
    #expect(lines == ["the last words"])
  }

  @Test func aFirstSignalDuringFilesLeavesTheRestOut() async {
    let (signals, continuation) = AsyncStream.makeStream(of: StopSignal.self)
    let backend = ScriptedBackend([
      [.perform { continuation.yield(.interrupt) }, .waitForStop] + self.words("half"), self.words("never"),
    ])
    let (status, lines) = await self.run(backend, [.named("a"), .named("b")], signals: signals)
    #expect(status == .interrupted)
    #expect(lines == ["half"])
    #expect(backend.unusedScripts == 1)
  }

  @Test func aSecondSignalEndsAtOnce() async {
    let (signals, continuation) = AsyncStream.makeStream(of: StopSignal.self)
    let backend = ScriptedBackend([
      [
        .perform { continuation.yield(.interrupt) }, .waitForStop,
        .perform { continuation.yield(.terminate) },
        .waitForCancellation,
      ]
    ])
    let (status, lines) = await self.run(backend, [.named("mic", isOpenEnded: true)], signals: signals)
    #expect(status == .interrupted)
    #expect(lines.isEmpty)
  }
}
