import Testing

@testable import PocketSphinxRecognition

struct WholePassTests {
  private let quiet = SignalLevels(speech: 3000, noise: 3)
  private let high = SignalLevels(speech: 600, noise: 2)

  // MARK: What says nothing

  @Test func whatWasNotHeardIsSearchedInFull() {
    #expect(WholePass(levels: .unknown, high: .unknown) == .full)
    #expect(WholePass(levels: self.quiet, high: .unknown) == .full)
    #expect(WholePass(levels: .unknown, high: self.high) == .full)
  }

  @Test func levelsThatAreNoNumbersAreSearchedInFull() {
    for bad in [Float.nan, -1, .infinity] {
      #expect(WholePass(levels: SignalLevels(speech: bad, noise: 1), high: self.high) == .full)
      #expect(WholePass(levels: SignalLevels(speech: 3000, noise: bad), high: self.high) == .full)
      #expect(WholePass(levels: self.quiet, high: SignalLevels(speech: bad, noise: 1)) == .full)
    }
  }

  @Test func clippedAudioIsSearchedInFull() {
    #expect(
      WholePass(levels: SignalLevels(speech: 30_000, noise: 3), high: SignalLevels(speech: 8000, noise: 2))
        == .full)
    #expect(
      WholePass(levels: SignalLevels(speech: 12_000, noise: 3), high: SignalLevels(speech: 3000, noise: 2))
        == .quick)
  }

  // MARK: What was heard

  @Test func quietAudioOfTheFullBandIsSearchedQuickly() {
    #expect(WholePass(levels: self.quiet, high: self.high) == .quick)
    // Digital silence between the words is no reason for doubt.
    #expect(
      WholePass(levels: SignalLevels(speech: 3000, noise: 0), high: SignalLevels(speech: 600, noise: 0))
        == .quick)
  }

  @Test(arguments: [(10, WholePass.quick), (17, .full), (300, .full)] as [(Float, WholePass)])
  func noiseIsSearchedInFull(noise: Float, pass: WholePass) {
    #expect(WholePass(levels: SignalLevels(speech: 3000, noise: noise), high: self.high) == pass)
  }

  @Test(arguments: [(100, WholePass.quick), (90, .full), (10, .full)] as [(Float, WholePass)])
  func telephoneBandIsSearchedInFull(speech: Float, pass: WholePass) {
    #expect(WholePass(levels: self.quiet, high: SignalLevels(speech: speech, noise: 1)) == pass)
  }

  @Test func aSteadyHissAboveFourKilohertzIsNoSpeech() {
    #expect(WholePass(levels: self.quiet, high: SignalLevels(speech: 600, noise: 70)) == .full)
  }

  @Test func whatIsFaintForItsChannelIsSearchedInFull() {
    #expect(UtteranceSignal(levels: self.quiet, high: self.high, isFaint: false).wholePass == .quick)
    #expect(UtteranceSignal(levels: self.quiet, high: self.high, isFaint: true).wholePass == .full)
  }
}
