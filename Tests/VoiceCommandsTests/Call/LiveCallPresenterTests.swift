import CallSignaling
import Calls
import RealtimeMedia
import Testing
import VoiceCore

@testable import VoiceCommands

@Suite struct LiveCallPresenterTests {
  private func rows(width: Int = 100, _ updates: [CallUpdate]) -> [String] {
    let console = RecordedConsole(outputIsTerminal: true, errorIsTerminal: true, width: width)
    var presenter = LiveCallPresenter(console: console.console, name: "bob", takesKeys: false)
    for update in updates { presenter.show(update) }
    var terminal = VirtualTerminal(width: width)
    terminal.feed(console.output)
    #expect(terminal.unknown.isEmpty)
    return terminal.rows
  }

  static func sample(loss: Double = 0) -> CallQualitySample {
    var statistics = MediaStatistics()
    statistics.codec = AudioCodec.Key("opus", clockRate: 48_000, channels: 2)
    var sample = CallQualitySample(CallQualityMetrics(jitter: 0.002, rtt: 0.023, mos: 4.36), statistics)
    sample.loss = loss
    sample.lossInAll = loss
    return sample
  }

  @Test func theLastRowHoldsStateTimeAndQuality() {
    let rows = self.rows([.state(.ACTIVE), .talked(.seconds(67)), .measured(Self.sample(loss: 0.004))])
    #expect(rows == ["Talking", "█ in the call · 1:07 · 23 ms · loss 0.4 % · MOS 4.4 · opus"])
  }

  @Test func wordsThatAreFinalStandAboveItAndOthersChange() {
    let updates: [CallUpdate] = [
      .state(.ACTIVE), .talked(.seconds(1)), .transcript(.segment(.of("turn ?of"))),
      .transcript(.segment(.of("turn ?on"))),
    ]
    #expect(self.rows(updates) == ["Talking", "bob: turn on", "█ in the call · 0:01"])
    let final = CallUpdate.transcript(.segment(.of("turn on", isFinal: true)))
    let next = CallUpdate.transcript(.segment(.of("?the", id: 1)))
    #expect(
      self.rows(updates + [final, next]) == ["Talking", "bob: turn on", "bob: the", "█ in the call · 0:01"])
  }

  @Test func wordsThatNeverBecameFinalAreKept() {
    let rows = self.rows([
      .state(.ACTIVE), .transcript(.segment(.of("?goodbye"))), .state(.DONE(reason: nil)),
      .transcript(.finished(contextId: "c")), .ended(CallSummary()),
    ])
    #expect(rows == ["Talking", "Ended", "bob: goodbye"])
  }

  @Test func whatFailsStandsAboveAndTheRowGoesOn() {
    let rows = self.rows([
      .state(.ACTIVE), .warned(VoiceFailure(.callRelayFailed, message: "No answer.")), .muted(true),
    ])
    #expect(rows == ["Talking", "No answer. [call.media.relay-failed]", "█ in the call · muted"])
  }

  @Test func aHoldOfTheOtherSideIsSeenAsLongAsItLasts() {
    let held = [CallUpdate.state(.ACTIVE), .heldByOtherSide(true)]
    #expect(
      self.rows(held) == ["Talking", "The other side holds the call", "█ in the call · on hold there"])
    #expect(
      self.rows(held + [.heldByOtherSide(false)])
        == ["Talking", "The other side holds the call", "The other side is back", "█ in the call"])
  }

  @Test func anOutageIsSeen() {
    let rows = self.rows([
      .state(.ACTIVE), .state(.RECONNECTING(reason: .networkSwitch)), .talked(.seconds(9)),
    ])
    #expect(rows == ["Talking", "Reconnecting (Network switched)", "█ coming back · 0:09"])
  }

  @Test func theEndIsASummaryInPlaceOfTheRow() {
    var summary = CallSummary()
    summary.note(Self.sample(loss: 0.02))
    summary.talked = .seconds(125)
    let rows = self.rows([
      .state(.ACTIVE), .talked(.seconds(125)), .state(.DONE(reason: nil)), .ended(summary),
    ])
    #expect(
      rows == [
        "Talking", "Ended", "Talked 2:05 · MOS 4.4 (excellent) · loss 2.0 % · round trip 23 ms · opus",
      ])
  }

  @Test func aRowThatIsTooWideIsCut() {
    let rows = self.rows(width: 30, [.state(.ACTIVE), .talked(.seconds(67)), .measured(Self.sample())])
    #expect(rows.count == 2)
    #expect(rows.allSatisfy { $0.count < 30 })
  }
}

@Suite struct CallQualitySampleTests {
  @Test func whatIsNotKnownIsNull() {
    let sample = CallQualitySample(CallQualityMetrics(jitter: .infinity, rtt: .infinity, mos: .nan), nil)
    #expect(
      EventObject.quality(sample, id: "c").text
        == #"{"event":"quality","callId":"c","codec":null,"roundTrip":null,"jitter":null,"loss":null,"mos":null,"quality":"unknown"}"#
    )
  }

  @Test func timesAreInSecondsAndLossIsAShare() {
    let text = EventObject.quality(LiveCallPresenterTests.sample(loss: 0.25), id: "c").text
    #expect(text.contains(#""codec":"opus","roundTrip":0.023,"jitter":0.002,"loss":0.25,"mos":4.36"#))
  }

  @Test func aSummaryHasTheMeanScoreAndTheMiddleRoundTrip() {
    var summary = CallSummary()
    for (roundTrip, score) in [(0.01, 4.0), (0.9, 3.0), (0.02, 5.0)] {
      summary.note(CallQualitySample(CallQualityMetrics(jitter: 0, rtt: roundTrip, mos: score), nil))
    }
    summary.note(CallQualitySample(CallQualityMetrics(jitter: 0, rtt: .infinity, mos: .nan), nil))
    #expect(summary.score == 4)
    #expect(summary.roundTrip == .milliseconds(20))
  }

  @Test func aCallInWhichNobodyTalkedHasNoSummary() {
    #expect(CallLines(symbols: .unicode).summary(CallSummary()) == nil)
  }

  @Test(arguments: [
    (Duration.seconds(7), "0:07"), (.seconds(751), "12:31"), (.seconds(3723), "1:02:03"),
    (.seconds(-1), "0:00"),
  ])
  func callTimes(_ time: Duration, _ text: String) { #expect(Phrases.callTime(time) == text) }

  @Test(arguments: [(0.0, "0 %"), (0.004, "0.4 %"), (0.0999, "10 %"), (1.0, "100 %"), (-1.0, "0 %")])
  func shares(_ share: Double, _ text: String) { #expect(Phrases.percent(share) == text) }
}

@Suite struct CallKeyTests {
  @Test(arguments: "0123456789*#") func digitsStarAndPoundAreTones(_ key: Character) {
    #expect(CallKey(key) == .tone(key))
  }

  @Test func lettersAreCommandsAndTheRestIsNothing() {
    #expect(
      CallKey("m") == .mute && CallKey("h") == .hold && CallKey("q") == .hangUp && CallKey("Q") == .hangUp)
    for key: Character in ["a", "\n", "\u{1B}", "٣", "+"] { #expect(CallKey(key) == nil) }
  }
}
