import Calls
import Testing

/// The documented estimate of quality (telnyx.md section 1.7).
struct CallQualityTests {
  /// A score computed by hand, with its steps to three decimals.
  struct Reference: CustomTestStringConvertible {
    let jitter, rtt: Double
    let received, lost: Int
    let loss, delay: Double
    let delayImpairment, lossImpairment, rating, score: Double

    var testDescription: String { "\(self.jitter) + \(self.rtt) / 2 ms, \(self.loss) % lost: \(self.score)" }

    static let all = [
      Self(
        jitter: 0, rtt: 0, received: 100, lost: 0, loss: 0, delay: 0,
        delayImpairment: 0, lossImpairment: 0, rating: 93.2, score: 4.409),
      Self(
        jitter: 10, rtt: 80, received: 99, lost: 1, loss: 1, delay: 50,
        delayImpairment: 1.2, lossImpairment: 13.863, rating: 78.137, score: 3.952),
      Self(
        jitter: 20, rtt: 100, received: 98, lost: 2, loss: 2, delay: 70,
        delayImpairment: 1.68, lossImpairment: 21.972, rating: 69.548, score: 3.576),
      Self(
        jitter: 10, rtt: 100, received: 95, lost: 5, loss: 5, delay: 60,
        delayImpairment: 1.44, lossImpairment: 35.835, rating: 55.925, score: 2.887),
      Self(
        jitter: 10, rtt: 60, received: 90, lost: 10, loss: 10, delay: 40,
        delayImpairment: 0.96, lossImpairment: 47.958, rating: 44.282, score: 2.278),
      Self(
        jitter: 10, rtt: 60, received: 80, lost: 20, loss: 20, delay: 40,
        delayImpairment: 0.96, lossImpairment: 60.890, rating: 31.350, score: 1.666),
      Self(
        jitter: 0, rtt: 354.6, received: 100, lost: 0, loss: 0, delay: 177.3,
        delayImpairment: 4.255, lossImpairment: 0, rating: 88.945, score: 4.312),
      Self(
        jitter: 20, rtt: 400, received: 100, lost: 0, loss: 0, delay: 220,
        delayImpairment: 9.977, lossImpairment: 0, rating: 83.223, score: 4.140),
      Self(
        jitter: 20, rtt: 400, received: 99, lost: 1, loss: 1, delay: 220,
        delayImpairment: 9.977, lossImpairment: 13.863, rating: 69.360, score: 3.567),
      Self(
        jitter: 30, rtt: 600, received: 97, lost: 3, loss: 3, delay: 330,
        delayImpairment: 24.717, lossImpairment: 27.726, rating: 40.757, score: 2.101),
    ]
  }

  @Test(arguments: [
    (Double.infinity, 0.0), (0, Double.infinity), (-.infinity, 0), (0, -.infinity), (.nan, 0), (0, .nan),
  ])
  func whatIsNotFiniteHasNoScore(jitter: Double, rtt: Double) {
    let score = MOSCalculator.calculateMOS(jitter: jitter, rtt: rtt, packetsReceived: 100, packetsLost: 0)
    #expect(score.isNaN)
    #expect(MOSCalculator.getQuality(mos: score) == .unknown)
  }

  @Test(arguments: [(0, 0), (-5, -7), (0, -1), (100, -100), (Int.max, 0), (Int.min, 0)])
  func countsThatSayNothingAreNoLoss(received: Int, lost: Int) {
    let score = MOSCalculator.calculateMOS(jitter: 0, rtt: 0, packetsReceived: received, packetsLost: lost)
    #expect(abs(score - 4.409) < 0.000_51)
  }

  @Test(arguments: [(0, Int.max), (1, 1_000_000), (0, 1)])
  func theWorstScoreIsOne(received: Int, lost: Int) {
    #expect(
      MOSCalculator.calculateMOS(jitter: 0, rtt: 0, packetsReceived: received, packetsLost: lost) >= 1)
    #expect(
      MOSCalculator.calculateMOS(jitter: 1000, rtt: 0, packetsReceived: received, packetsLost: lost) == 1)
  }

  @Test(arguments: Reference.all) func aScoreIsThatOfTheDocumentedFormula(_ reference: Reference) {
    #expect(abs(reference.delay - (reference.jitter + reference.rtt / 2)) < 0.000_51)
    #expect(
      abs(93.2 - reference.delayImpairment - reference.lossImpairment - reference.rating) < 0.001_01)
    let score = MOSCalculator.calculateMOS(
      jitter: reference.jitter, rtt: reference.rtt, packetsReceived: reference.received,
      packetsLost: reference.lost)
    #expect(abs(score - reference.score) < 0.000_51, "\(score)")
  }

  @Test(arguments: [
    (5.0, CallQuality.excellent), (4.3, .excellent), (4.2.nextUp, .excellent),
    (4.2, .good), (4.2.nextDown, .good), (4.15, .good), (4.1.nextUp, .good), (4.1, .good),
    (4.1.nextDown, .fair), (3.9, .fair), (3.7.nextUp, .fair), (3.7, .fair),
    (3.7.nextDown, .poor), (3.4, .poor), (3.1.nextUp, .poor), (3.1, .poor),
    (3.1.nextDown, .bad), (2, .bad), (1, .bad),
    (.nan, .unknown), (.infinity, .unknown), (-.infinity, .unknown),
  ])
  func aBandBeginsWhereTheOneBelowEnds(score: Double, quality: CallQuality) {
    #expect(MOSCalculator.getQuality(mos: score) == quality)
    #expect(CallQualityMetrics(jitter: 0, rtt: 0, mos: score).quality == quality)
  }

  @Test func everyScoreHasABandAndABetterOneNoWorseBand() {
    let order: [CallQuality] = [.bad, .poor, .fair, .good, .excellent]
    let bands = (1000...5000).map { order.firstIndex(of: MOSCalculator.getQuality(mos: Double($0) / 1000)) }
    #expect(!bands.contains(nil))
    #expect(zip(bands, bands.dropFirst()).allSatisfy { ($0 ?? 0) <= ($1 ?? 0) })
    #expect(Set(bands).count == 5)
  }

  @Test func beforeAMeasurementTheScoreIsOne() {
    #expect(CallQualityMetrics.empty.mos == 1)
    #expect(CallQualityMetrics.empty.quality == .bad)
  }
}
