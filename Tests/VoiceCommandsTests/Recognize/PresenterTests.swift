import SpeechStreaming
import Testing
import VoiceCore

@testable import VoiceCommands

private let lost = VoiceFailure(.connectionLost).with(
  recovery: .automatic(RetryState(attempt: 1, delay: .milliseconds(200))))
private let recovery = SpeechRecovery(
  contextId: "c", attempts: 2, replayed: .seconds(3), outage: .milliseconds(1500))

struct PlainPresenterTests {
  @Test func printsALineForEachFinalSegmentAndNothingElse() {
    let console = RecordedConsole()
    var presenter = PlainPresenter(console: console.console, prefix: .none)
    presenter.began(.named("a.wav"))
    for update: RecognitionUpdate in [
      .recordingStarted, .started(contextId: "c"), .segment(.of("?turn")),
      .segment(.of("turn on", isFinal: true)),
      .segment(.of("turn on", isFinal: true)), .segment(.of("now", id: 1, isFinal: true)),
      .finished(contextId: "c"),
    ] { presenter.show(update) }
    #expect(console.output == "turn on\nnow\n")
    #expect(console.error.isEmpty)
  }

  @Test func whatWasNeverFinishedIsPrintedAtTheEnd() {
    let console = RecordedConsole()
    var presenter = PlainPresenter(console: console.console, prefix: .none)
    presenter.began(.named("a.wav"))
    presenter.show(.segment(.of("turn ?on")))
    presenter.show(.failed(VoiceFailure(.segmentUnfinished)))
    presenter.show(.finished(contextId: "c"))
    #expect(console.output == "turn on\n")
    #expect(console.error.contains("speech.stream.segment-unfinished"))
  }

  @Test func namesTheInputIfThereAreSeveral() {
    let console = RecordedConsole()
    var presenter = PlainPresenter(console: console.console, prefix: .source)
    presenter.began(.named("a.wav"))
    presenter.show(.segment(.of("one", isFinal: true)))
    presenter.show(.finished(contextId: "c"))
    presenter.began(.named("b.wav"))
    presenter.show(.segment(.of("two", isFinal: true)))
    #expect(console.output == "a.wav: one\nb.wav: two\n")
  }

  @Test func tellsOnStandardErrorThatTheServerIsLostAndBack() {
    let console = RecordedConsole()
    var presenter = PlainPresenter(console: console.console, prefix: .none)
    presenter.began(.named("a.wav"))
    presenter.show(.failed(lost))
    presenter.show(.failed(lost))
    presenter.show(.recovered(recovery))
    #expect(console.output.isEmpty)
    #expect(console.errorLines.count == 2)
    #expect(console.errorLines[0].contains("trying again in 0.2 s"))
    #expect(console.errorLines[1] == "✔ Recovered after 1.5 s: the last 3.0 s of audio were sent again")
  }

  @Test func writesNoEscapeCodesWhateverItIsTold() {
    let console = RecordedConsole(environment: ["TERM": "xterm-256color"])
    var presenter = PlainPresenter(console: console.console, prefix: .source)
    presenter.began(.named("a\u{1B}[31m.wav"))
    presenter.show(.segment(.of("\u{1B}[2Jboo", isFinal: true)))
    presenter.show(.failed(lost))
    presenter.show(.failed(VoiceFailure(.fileNotFound)))
    #expect(!(console.output + console.error).contains("\u{1B}"))
  }
}

struct JSONPresenterTests {
  @Test func printsEachStateOnceAndNothingAfterTheFinalOne() {
    let console = RecordedConsole()
    var presenter = JSONPresenter(console: console.console)
    presenter.began(.named("a.wav"))
    for update: RecognitionUpdate in [
      .recordingStarted, .started(contextId: "c"), .segment(.of("?a")), .segment(.of("?a")),
      .segment(.of("a", isFinal: true)), .segment(.of("?b")), .recovered(recovery), .finished(contextId: "c"),
    ] { presenter.show(update) }
    #expect(
      console.outputLines.map { String($0.prefix(33)) } == [
        #"{"event":"started","contextId":"c"#, #"{"event":"segment","final":false,"#,
        #"{"event":"segment","final":true,""#, #"{"event":"finished","contextId":""#,
      ])
    #expect(console.error.isEmpty)
  }

  @Test func aContextThatNeverBeganDoesNotFinish() {
    let console = RecordedConsole()
    var presenter = JSONPresenter(console: console.console)
    presenter.began(.named("a.wav"))
    presenter.show(.failed(VoiceFailure(.fileNotFound)))
    presenter.show(.finished(contextId: nil))
    #expect(console.outputLines.count == 1)
    #expect(console.output.contains("audio.file.not-found"))
  }

  @Test func segmentNumbersBeginAnewWithEachInput() {
    let console = RecordedConsole()
    var presenter = JSONPresenter(console: console.console)
    for name in ["a.wav", "b.wav"] {
      presenter.began(.named(name))
      presenter.show(.segment(.of("same", isFinal: true)))
    }
    #expect(console.outputLines.count == 2)
  }
}
