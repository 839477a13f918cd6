/// Estimates what people think of a call from its delay and losses (ITU-T G.107, reduced to what a network changes).
///
/// `R = 93.2 − Id − Ie,eff`: 93.2 is what all other parameters give at their defaults. `Id` is the usual approximation
/// of the effect of delay (Cole and Rosenbluth, 2001), `Ie,eff` the one of coding and losses (G.107 section 7.5).
public enum EModel {
  /// How a codec suffers (ITU-T G.113 appendix I).
  public struct Impairment: Hashable, Sendable {
    /// The impairment by the codec itself, `Ie`.
    public var equipment: Double
    /// How well it bears losses, `Bpl`: the larger the better.
    public var robustness: Double

    /// Creates an impairment.
    public init(equipment: Double, robustness: Double) {
      self.equipment = equipment
      self.robustness = robustness
    }

    /// G.711 without concealment.
    public static let g711WithoutConcealment = Impairment(equipment: 0, robustness: 4.3)
    /// G.711 with concealment as in its appendix I.
    public static let g711 = Impairment(equipment: 0, robustness: 25.1)
    /// Opus, for which there is no table: taken to be no worse than G.711 with concealment.
    public static let opus = Impairment(equipment: 0, robustness: 25.1)
  }

  /// The transmission rating without any delay or loss.
  public static let bestRating = 93.2

  /// The transmission rating `R`.
  ///
  /// - Parameters:
  ///   - delay: From mouth to ear, in milliseconds.
  ///   - loss: The share of the audio that is lost and not recovered, from 0 to 1.
  ///   - burstRatio: How much longer losses in a row are than random ones, `BurstR`; 1 for random ones.
  /// - Returns: At most 93.2, 0 at least; NaN for numbers that are not finite.
  public static func rating(
    delay: Double, loss: Double, impairment: Impairment, burstRatio: Double = 1
  ) -> Double {
    guard delay.isFinite, loss.isFinite, burstRatio.isFinite, impairment.equipment.isFinite,
      impairment.robustness.isFinite
    else { return .nan }
    let delay = max(0, delay)
    let delayImpairment = 0.024 * delay + (delay > 177.3 ? 0.11 * (delay - 177.3) : 0)
    let percent = max(0, min(1, loss)) * 100
    let robustness = max(0.1, impairment.robustness)
    let equipment =
      impairment.equipment
      + (95 - impairment.equipment) * percent / (percent / max(1, burstRatio) + robustness)
    return max(0, min(Self.bestRating, Self.bestRating - delayImpairment - equipment))
  }

  /// The mean opinion score of a rating, from 1 to 4.5 (G.107 annex B); NaN for NaN.
  public static func score(rating: Double) -> Double {
    guard !rating.isNaN else { return .nan }
    if rating <= 0 { return 1 }
    if rating >= 100 { return 4.5 }
    // Close above zero the polynomial is a little below 1.
    return max(1, 1 + 0.035 * rating + 0.000_007 * rating * (rating - 60) * (100 - rating))
  }
}
