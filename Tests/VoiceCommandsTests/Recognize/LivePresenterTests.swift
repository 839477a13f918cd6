import SpeechStreaming
import Testing
import VoiceCore

@testable import VoiceCommands

/// The live display, seen on a terminal.
struct LivePresenterTests {
  /// A terminal with the presenter that writes to it.
  private struct Screen {
    let recorder: RecordedConsole
    var presenter: LivePresenter
    var terminal: VirtualTerminal

    init(width: Int, environment: [String: String] = [:], names: Bool = false, live: Bool = false) {
      let recorder = RecordedConsole(
        outputIsTerminal: true, errorIsTerminal: true, environment: environment, width: width)
      self.recorder = recorder
      self.presenter = LivePresenter(
        console: recorder.console, namesSources: names, margin: names ? 2 : 0, hasLiveInput: live)
      self.terminal = VirtualTerminal(width: width)
      self.presenter.began(.named("a.wav"))
      self.refresh()
    }

    mutating func show(_ update: RecognitionUpdate) {
      self.presenter.show(update)
      self.refresh()
    }

    mutating func refresh() {
      self.terminal.feed(self.recorder.takeOutput())
    }
  }

  @Test func wordsThatMayChangeAreDimAndSettle() {
    var screen = Screen(width: 40)
    screen.show(.segment(.of("?turn ?an")))
    #expect(screen.terminal.rows == ["turn an"])
    #expect(screen.terminal.dimText == "turn an")
    screen.show(.segment(.of("turn ?on ?the")))
    #expect(screen.terminal.rows == ["turn on the"])
    #expect(screen.terminal.dimText == "on the")
    screen.show(.segment(.of("turn on the lights", isFinal: true)))
    screen.show(.finished(contextId: "c"))
    #expect(screen.terminal.rows == ["turn on the lights"])
    #expect(screen.terminal.dimText == "")
    #expect(screen.terminal.unknown.isEmpty)
  }

  @Test func aSegmentEndsItsLine() {
    var screen = Screen(width: 40)
    screen.show(.segment(.of("one", isFinal: true)))
    screen.show(.segment(.of("?two", id: 1)))
    #expect(screen.terminal.rows == ["one", "two"])
    screen.show(.segment(.of("two", id: 1, isFinal: true)))
    #expect(screen.terminal.rows == ["one", "two"])
  }

  @Test func aLongSegmentIsBrokenBetweenWords() {
    var screen = Screen(width: 20)
    screen.show(.segment(.of("the quick brown fox ?jumped")))
    #expect(screen.terminal.rows == ["the quick brown fox", "jumped"])
    screen.show(.segment(.of("the quick brown fox jumps over the ?lady")))
    screen.show(.segment(.of("the quick brown fox jumps over the lazy dog", isFinal: true)))
    #expect(screen.terminal.rows == ["the quick brown fox", "jumps over the lazy", "dog"])
  }

  @Test func growingWordByWordEndsAsIfWrittenAtOnce() {
    let words = "a bb ccc dddd eeeee ffffff ggggggg hh i jjj kkkk lllll mmmmmm nnnnnnn o".split(
      separator: " ")
    for width in 20...44 {
      var screen = Screen(width: width)
      for count in 1...words.count {
        let final = words.prefix(max(0, count - 3)).map(String.init)
        let tentative = words.prefix(count).dropFirst(final.count).map { "?" + $0 }
        screen.show(.segment(.of((final + tentative).joined(separator: " "))))
      }
      screen.show(.segment(.of(words.joined(separator: " "), isFinal: true)))
      #expect(screen.terminal.rows.joined(separator: " ") == words.joined(separator: " "))
      #expect(screen.terminal.rows.allSatisfy { $0.count < width })
      #expect(screen.terminal.dimText == "")
    }
  }

  @Test func aTentativeWordThatVanishesLeavesNothingBehind() {
    var screen = Screen(width: 20)
    screen.show(.segment(.of("?some ?very ?long ?guess ?on ?two ?rows")))
    screen.show(.segment(.of("?short")))
    #expect(screen.terminal.rows == ["short"])
  }

  @Test func aWordWiderThanTheTerminalIsCut() {
    var screen = Screen(width: 20)
    let long = String(repeating: "x", count: 60)
    screen.show(.segment(.of("?a ?\(long) ?b")))
    screen.show(.segment(.of("ok", isFinal: true)))
    #expect(screen.terminal.rows == ["ok"])
  }

  @Test func survivesATerminalThatBecomesWider() {
    var screen = Screen(width: 20)
    screen.show(.segment(.of("the quick brown ?fox ?jumps")))
    screen.recorder.resize(width: 60)
    screen.show(.segment(.of("the quick brown fox jumps over", isFinal: true)))
    #expect(screen.terminal.rows.joined(separator: " ").contains("over"))
    #expect(screen.terminal.unknown.isEmpty)
  }

  @Test func losingTheServerIsOneLineAndFurtherTriesReplaceEachOther() {
    var screen = Screen(width: 120)
    screen.show(.segment(.of("turn ?on")))
    for attempt in 1...3 {
      let state = RetryState(attempt: attempt, delay: .milliseconds(200 * attempt))
      screen.show(.failed(VoiceFailure(.connectionLost).with(recovery: .automatic(state))))
    }
    #expect(
      screen.terminal.rows == [
        "↻ The connection to the server was lost: trying again in 0.2 s; audio is kept [network.connection.lost]",
        "turn on", "↻ reconnecting: try 3 in 0.6 s",
      ])
    screen.show(
      .recovered(SpeechRecovery(contextId: "c", attempts: 3, replayed: .seconds(2), outage: .seconds(1))))
    screen.show(.segment(.of("turn on the lights", isFinal: true)))
    #expect(screen.terminal.rows.last == "turn on the lights")
    #expect(screen.terminal.rows.contains("✔ Recovered after 1.0 s: the last 2.0 s of audio were sent again"))
    #expect(!screen.terminal.rows.contains { $0.contains("reconnecting") })
  }

  private static let lights = TranscriptSegment.Entity(type: "device", value: "lights", start: 3, end: 4)

  @Test func theIntentStandsBeforeTheWordsAndEntitiesAmongThem() {
    var screen = Screen(width: 60)
    screen.show(.segment(.of("?turn")))
    #expect(screen.terminal.rows == ["turn"])
    screen.show(.segment(.of("turn on the ?lights", intent: "turn_on", entities: [Self.lights])))
    #expect(screen.terminal.rows == ["*turn_on turn on the [lights](device)"])
    #expect(screen.terminal.dimText == "[lights](device)")
    screen.show(
      .segment(.of("turn on the lights", isFinal: true, intent: "turn_on", entities: [Self.lights])))
    #expect(screen.terminal.rows == ["*turn_on turn on the [lights](device)"])
    #expect(screen.terminal.unknown.isEmpty)
    let line = TranscriptSegment.of(
      "turn on the lights", isFinal: true, intent: "turn_on", entities: [Self.lights]
    )
    .styled.rendered(withColor: true)
    #expect(
      line
        == "\u{1B}[1;32m*turn_on\u{1B}[0m turn on the \u{1B}[36m[lights]\u{1B}[0m\u{1B}[2m(device)\u{1B}[0m")
  }

  @Test func anIntentThatChangesLeavesNothingBehind() {
    var screen = Screen(width: 30)
    let long = "turn on the ?lights ?in ?the ?kitchen ?please"
    screen.show(.segment(.of(long, intent: "turn_on", entities: [Self.lights])))
    #expect(screen.terminal.rows == ["*turn_on turn on the", "[lights](device) in the", "kitchen please"])
    screen.show(.segment(.of("turn off ?all", intent: "turn_off")))
    #expect(screen.terminal.rows == ["*turn_off turn off all"])
    screen.show(.segment(.of("turn off all", isFinal: true)))
    #expect(screen.terminal.rows == ["turn off all"])
  }

  @Test func aValueOfSeveralWordsShowsItsNormalForm() {
    var screen = Screen(width: 60)
    let time = TranscriptSegment.Entity(type: "time", value: "15:30", start: 2, end: 5)
    screen.show(.segment(.of("wake at three thirty pm", isFinal: true, intent: "wake", entities: [time])))
    #expect(screen.terminal.rows == ["*wake wake at [three thirty pm|15:30](time)"])
  }

  @Test func rowsThatStayAreFollowedByWhatTheyMean() {
    var screen = Screen(width: 20)
    screen.show(.segment(.of("turn on the very nice lights ?please")))
    let entity = TranscriptSegment.Entity(type: "device", value: "lights", start: 5, end: 6)
    screen.show(
      .segment(.of("turn on the very nice lights please", isFinal: true, intent: "on", entities: [entity])))
    #expect(
      screen.terminal.rows == [
        "turn on the very", "nice", "[lights](device)", "please", "→ *on", "  [lights](device)",
      ])
  }

  @Test func whatIsNotCoveredSaysSoDimly() {
    var screen = Screen(width: 60)
    var segment = TranscriptSegment.of("what a day", isFinal: true)
    segment.isRejected = true
    screen.show(.segment(segment))
    #expect(screen.terminal.rows == ["what a day (not covered)"])
    #expect(screen.terminal.dimText == "(not covered)")
  }

  /// A server can say anything.
  @Test(arguments: [0..<9, 3..<4, -1..<1, 1..<1, 2..<3])
  func entitiesThatCannotBeAreHarmless(words: Range<Int>) {
    var screen = Screen(width: 40)
    let entity = TranscriptSegment.Entity(
      type: "t", value: "v", start: words.lowerBound, end: words.upperBound)
    screen.show(.segment(.of("one two ?three", entities: [entity, entity])))
    screen.show(.segment(.of("one two three", isFinal: true, entities: [entity])))
    #expect(screen.terminal.rows.first?.contains("two") == true)
  }

  @Test func severalInputsAreNamedAndIndented() {
    var screen = Screen(width: 40, names: true)
    screen.show(.segment(.of("one", isFinal: true)))
    screen.show(.finished(contextId: "c"))
    screen.presenter.began(.named("b.wav"))
    screen.show(.failed(VoiceFailure(.fileNotFound, message: "There is no file “b.wav”.")))
    screen.show(.finished(contextId: nil))
    #expect(
      screen.terminal.rows == [
        "a.wav", "  one", "b.wav", "  ✖ There is no file “b.wav”.", "    [audio.file.not-found]",
        "    → Check the path.",
      ])
  }

  @Test func silenceIsSaid() {
    var screen = Screen(width: 40)
    screen.show(.started(contextId: "c"))
    screen.show(.finished(contextId: "c"))
    #expect(screen.terminal.rows == ["(no words heard)"])
  }

  @Test func aPersonIsToldThatTheyAreHeardAndHowToStop() {
    var screen = Screen(width: 80, live: true)
    screen.show(.recordingStarted)
    #expect(screen.terminal.rows == ["listening · Ctrl-C stops and waits for the last words"])
    screen.show(.segment(.of("?hello")))
    #expect(screen.terminal.rows == ["hello"])
    screen.presenter.stopping()
    screen.refresh()
    #expect(screen.terminal.rows == ["hello", "waiting for the last words · Ctrl-C again ends at once"])
    screen.show(.segment(.of("hello", isFinal: true)))
    screen.show(.finished(contextId: "c"))
    screen.presenter.ended()
    screen.refresh()
    #expect(screen.terminal.rows == ["hello"])
  }

  @Test func withoutColoursAnglesShowWhatMayChange() {
    var screen = Screen(width: 40, environment: ["NO_COLOR": "1"])
    screen.show(.segment(.of("turn ?on ?the")))
    #expect(screen.terminal.rows == ["turn <on the>"])
    #expect(!screen.recorder.output.contains("\u{1B}[2m"))
    screen.show(.segment(.of("turn on the lights", isFinal: true)))
    #expect(screen.terminal.rows == ["turn on the lights"])
    screen.show(.segment(.of("turn on the ?lights", id: 1, intent: "turn_on", entities: [Self.lights])))
    #expect(screen.terminal.rows.last == "*turn_on turn on the <[lights](device)>")
  }

  @Test func anUnfinishedSegmentStaysOnTheScreen() {
    var screen = Screen(width: 40)
    screen.show(.segment(.of("turn ?on")))
    screen.show(.failed(VoiceFailure(.retriesExhausted, message: "Gone.")))
    screen.show(.finished(contextId: "c"))
    screen.presenter.ended()
    screen.refresh()
    #expect(screen.terminal.rows.contains("turn on"))
    #expect(screen.terminal.rows.contains("✖ Gone. [network.retry.exhausted]"))
  }

  @Test func failuresGoToStandardErrorTooIfThatIsAFile() {
    let recorder = RecordedConsole(outputIsTerminal: true, errorIsTerminal: false)
    var presenter = LivePresenter(
      console: recorder.console, namesSources: false, margin: 0, hasLiveInput: false)
    presenter.began(.named("a.wav"))
    presenter.show(.failed(VoiceFailure(.fileNotFound)))
    #expect(recorder.error.contains("audio.file.not-found"))
    #expect(!recorder.error.contains("\u{1B}"))
    #expect(recorder.output.contains("audio.file.not-found"))
  }
}
