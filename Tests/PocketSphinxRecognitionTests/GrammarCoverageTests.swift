import Foundation
import Testing

@testable import PocketSphinxRecognition

struct GrammarCoverageTests {
  private func score(_ frames: ClosedRange<Int>, perFrame: Float, isSilence: Bool = false)
    -> CepstralDecoder.Score
  {
    CepstralDecoder.Score(
      frames: frames, acoustic: perFrame * Float(frames.count), isSilence: isSilence)
  }

  @Test func nothingButSilenceIsNotCovered() {
    #expect(GrammarCoverage(grammar: []).confidence == 0)
    let silence = GrammarCoverage(grammar: [self.score(0...99, perFrame: -2, isSilence: true)])
    #expect(silence.confidence == 0)
    #expect(!silence.isDoubtful)
  }

  @Test func silenceDoesNotMakeUpForSpeechThatDoesNotFit() {
    let speech = self.score(0...49, perFrame: -60)
    let padded = [speech, self.score(50...999, perFrame: -1, isSilence: true)]
    #expect(GrammarCoverage(grammar: padded).confidence == GrammarCoverage(grammar: [speech]).confidence)
    #expect(GrammarCoverage(grammar: padded).confidence < 0.01)
  }

  @Test func aSentenceThatFitsDoesNotMakeUpForOneThatDoesNot() {
    let fits = self.score(0...299, perFrame: -15)
    #expect(GrammarCoverage(grammar: [fits]).confidence > 0.99)
    let mixed = [fits, self.score(300...399, perFrame: -70)]
    #expect(GrammarCoverage(grammar: mixed).confidence < 0.01)
    // A word or two that were mumbled do.
    let mumbled = [fits, self.score(300...329, perFrame: -70)]
    #expect(GrammarCoverage(grammar: mumbled).confidence > 0.9)
  }

  @Test func speechWithoutItsNoiseHasToFitBetter() {
    let levels = SignalLevels(speech: 3000, noise: 400)
    let score = [self.score(0...99, perFrame: -39)]
    #expect(GrammarCoverage(grammar: score, levels: levels).confidence > 0.7)
    #expect(GrammarCoverage(grammar: score, levels: levels, isSuppressed: true).confidence < 0.4)
    #expect(
      GrammarCoverage(grammar: [self.score(0...99, perFrame: -30)], levels: levels, isSuppressed: true)
        .confidence > 0.95)
    #expect(!GrammarCoverage(grammar: [self.score(0...99, perFrame: -46)], isSuppressed: true).isDoubtful)
    #expect(GrammarCoverage(grammar: [self.score(0...99, perFrame: -33)], isSuppressed: true).isDoubtful)
  }

  @Test func phonesAreAskedOnlyInDoubt() {
    #expect(!GrammarCoverage(grammar: [self.score(0...99, perFrame: -20)]).isDoubtful)
    #expect(!GrammarCoverage(grammar: [self.score(0...99, perFrame: -60)]).isDoubtful)
    #expect(GrammarCoverage(grammar: [self.score(0...99, perFrame: -42)]).isDoubtful)
  }

  @Test func onlyWhatFitsWellIsBeyondDoubt() {
    #expect(GrammarCoverage(grammar: [self.score(0...99, perFrame: -20)]).isBeyondDoubt)
    #expect(!GrammarCoverage(grammar: [self.score(0...99, perFrame: -42)]).isBeyondDoubt)
    #expect(!GrammarCoverage(grammar: [self.score(0...99, perFrame: -60)]).isBeyondDoubt)
    #expect(!GrammarCoverage(grammar: []).isBeyondDoubt)
    #expect(!GrammarCoverage(grammar: [self.score(0...99, perFrame: -2, isSilence: true)]).isBeyondDoubt)
  }

  @Test func speechInWhichPhonesFitBadlyTooIsAccepted() {
    var noisy = GrammarCoverage(grammar: [self.score(0...99, perFrame: -42.5)])
    var clean = noisy
    noisy.compare(with: [self.score(0...120, perFrame: -14)])
    clean.compare(with: [self.score(0...120, perFrame: -7)])
    #expect(noisy.confidence > 0.5)
    #expect(clean.confidence < 0.5)
  }

  @Test func speechInModerateNoiseHasToFitBetterThanInLoudNoiseOrNone() {
    func confidence(_ ratio: Float) -> Double {
      let levels = SignalLevels(speech: 100 * pow(10, ratio / 20), noise: 100)
      return GrammarCoverage(grammar: [self.score(0...99, perFrame: -40.5)], levels: levels).confidence
    }
    #expect(confidence(60) > 0.5)
    #expect(confidence(30) < 0.5)
    #expect(confidence(15) > 0.5)
    // It changes smoothly.
    for ratio in 0..<70 { #expect(abs(confidence(Float(ratio)) - confidence(Float(ratio) + 1)) < 0.1) }
  }

  @Test func wordsHaveTheConfidenceOfTheirFrames() {
    let coverage = GrammarCoverage(grammar: [
      self.score(0...49, perFrame: -10), self.score(50...99, perFrame: -70),
    ])
    #expect(coverage.confidence(in: 0...49) > 0.99)
    #expect(coverage.confidence(in: 50...99) < 0.01)
    #expect(coverage.confidence(in: 500...600) <= 1)
  }
}

struct PauseTrackerTests {
  private func tracker(_ energies: [(Float, Int)]) -> PauseTracker {
    var tracker = PauseTracker()
    for (energy, count) in energies { for _ in 0..<count { tracker.heard(energy: energy) } }
    return tracker
  }

  @Test func aLongPauseBehindSpeechIsProbablyTheEnd() {
    #expect(self.tracker([(0, 10), (40, 50), (1, 25)]).isProbablyTheEnd)
    #expect(!self.tracker([(0, 10), (40, 50), (1, 24)]).isProbablyTheEnd)
  }

  @Test func quietOrSteadyAudioHasNoEnd() {
    #expect(!self.tracker([]).isProbablyTheEnd)
    #expect(!self.tracker([(3, 200)]).isProbablyTheEnd)
    #expect(!self.tracker([(3, 50), (5, 50), (3, 50)]).isProbablyTheEnd)
  }

  @Test func whoGoesOnSpeakingMovesTheEnd() {
    let first = self.tracker([(0, 10), (40, 50), (1, 30)])
    let second = self.tracker([(0, 10), (40, 50), (1, 30), (35, 10), (1, 10)])
    #expect(first.speechEnd == 60)
    #expect(second.speechEnd == 100)
    #expect(!second.isProbablyTheEnd)
  }
}

struct CepstralMeanTests {
  @Test func aWholeUtteranceHasNoMeanAfterwards() {
    var frames: [Float] = [1, 10, 3, 30, 5, 20]
    CepstralMean.normalizeWhole(&frames, dimension: 2)
    #expect(frames == [-2, -10, 0, 10, 2, 0])
    var none: [Float] = []
    CepstralMean.normalizeWhole(&none, dimension: 2)
    CepstralMean.normalizeWhole(&none, dimension: 0)
    #expect(none.isEmpty)
  }

  @Test func theMeanMovesFromWhatWasKnownToWhatIsHeard() {
    var mean = CepstralMean(ChannelState(mean: [40, 0], frameCount: 0, levels: .unknown))
    var frames: [Float] = Array(repeating: [20, 10], count: 900).flatMap(\.self)
    frames.withUnsafeMutableBufferPointer { mean.normalize($0) }
    #expect(abs(mean.mean[0] - 20) < 5)
    #expect(abs(mean.mean[1] - 10) < 2.5)
    let learned = mean.channel(levels: .unknown)
    #expect(learned.frameCount == 500)
  }
}
