import RealtimeMedia
import Testing

@Suite struct EModelTests {
  @Test func whatIsNotFiniteGivesNoNumber() {
    for value in [Double.nan, .infinity, -.infinity] {
      #expect(EModel.rating(delay: value, loss: 0, impairment: .g711).isNaN)
      #expect(EModel.rating(delay: 0, loss: value, impairment: .g711).isNaN)
      #expect(EModel.rating(delay: 0, loss: 0, impairment: .init(equipment: value, robustness: 1)).isNaN)
    }
    #expect(EModel.score(rating: .nan).isNaN)
    #expect(EModel.score(rating: -.infinity) == 1 && EModel.score(rating: .infinity) == 4.5)
    #expect(EModel.rating(delay: -100, loss: -1, impairment: .g711) == EModel.bestRating)
    #expect(EModel.rating(delay: 1e12, loss: 5, impairment: .g711) == 0)
  }

  /// ITU-T G.107 table B.1 (limits of the categories of satisfaction), and its default rating.
  @Test(arguments: [
    (90.0, 4.34), (80, 4.03), (70, 3.60), (60, 3.10), (50, 2.58), (93.2, 4.41), (0, 1), (100, 4.5),
  ])
  func scoresAreThoseOfTheTable(rating: Double, score: Double) {
    #expect(abs(EModel.score(rating: rating) - score) < 0.0061)
  }

  @Test func scoresNeverLeaveTheirRange() {
    var last = 0.0
    for step in 0...1000 {
      let score = EModel.score(rating: Double(step) / 10)
      #expect(score >= 1 && score <= 4.5 && score >= last - 0.01)
      last = score
    }
  }

  /// By hand from G.107 section 7.5: Ie,eff = Ie + (95 − Ie) · Ppl / (Ppl / BurstR + Bpl).
  @Test func lossesAndDelayCostWhatTheFormulasSay() {
    let rating = { EModel.rating(delay: $0, loss: $1, impairment: $2, burstRatio: $3) }
    #expect(abs(rating(0, 0.05, .g711, 1) - (93.2 - 95 * 5 / 30.1)) < 1e-9)
    #expect(abs(rating(0, 0.05, .g711WithoutConcealment, 1) - (93.2 - 95 * 5 / 9.3)) < 1e-9)
    #expect(abs(rating(0, 0.05, .g711, 2) - (93.2 - 95 * 5 / 27.6)) < 1e-9)
    #expect(abs(rating(150, 0, .g711, 1) - 89.6) < 1e-9)
    #expect(abs(rating(277.3, 0, .g711, 1) - (93.2 - 6.6552 - 11)) < 1e-9)
  }
}
