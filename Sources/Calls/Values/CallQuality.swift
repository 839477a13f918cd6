/// How good a call sounds (telnyx.md section 1.7).
public enum CallQuality: String, Hashable, Sendable, CaseIterable {
  case excellent, good, fair, poor, bad, unknown
}

/// Estimates what people think of a call, from 1 to 5 (a simplified E-model, telnyx.md section 1.7).
public enum MOSCalculator {
  /// The mean opinion score.
  ///
  /// - Parameters:
  ///   - jitter: In milliseconds.
  ///   - rtt: The round trip, in milliseconds.
  ///   - packetsReceived: Packets that came in the window.
  ///   - packetsLost: Packets that did not.
  /// - Returns: 1 to 5, or NaN for numbers that are not finite.
  public static func calculateMOS(
    jitter: Double, rtt: Double, packetsReceived: Int, packetsLost: Int
  ) -> Double {
    guard jitter.isFinite, rtt.isFinite else { return .nan }
    let (received, lost) = (Double(max(0, packetsReceived)), Double(max(0, packetsLost)))
    let loss = received + lost > 0 ? lost / (received + lost) * 100 : 0
    let delay = jitter + rtt / 2
    let delayImpairment = 0.024 * delay + (delay > 177.3 ? 0.11 * (delay - 177.3) : 0)
    let lossImpairment = 20 * Self.logarithm(1 + loss)
    let r = 93.2 - delayImpairment - lossImpairment
    // Below zero the polynomial turns round; the E-model has 1 there (ITU-T G.107 annex B).
    guard r > 0 else { return 1 }
    return min(5, max(1, 1 + 0.035 * r + 0.000_007 * r * (r - 60) * (100 - r)))
  }

  /// The word for a score.
  public static func getQuality(mos: Double) -> CallQuality {
    guard mos.isFinite else { return .unknown }
    if mos > 4.2 { return .excellent }
    if mos >= 4.1 { return .good }
    if mos >= 3.7 { return .fair }
    if mos >= 3.1 { return .poor }
    return .bad
  }
}

/// A measurement of a call (telnyx.md section 1.7).
public struct CallQualityMetrics: Hashable, Sendable {
  /// In seconds.
  public var jitter: Double
  /// The round trip, in seconds.
  public var rtt: Double
  /// The mean opinion score, 1 to 5.
  public var mos: Double
  /// The word for it.
  public var quality: CallQuality
  /// How loud the other side is, 0 to 1.
  public var inboundAudioLevel: Double
  /// How loud this side is, 0 to 1.
  public var outboundAudioLevel: Double
  var inbound: StreamStatistics?
  var outbound: StreamStatistics?
  var remoteInbound: StreamStatistics?
  var remoteOutbound: StreamStatistics?

  /// Creates a measurement.
  public init(
    jitter: Double, rtt: Double, mos: Double, inboundAudioLevel: Double = 0, outboundAudioLevel: Double = 0
  ) {
    self.jitter = jitter
    self.rtt = rtt
    self.mos = mos
    self.quality = MOSCalculator.getQuality(mos: mos)
    self.inboundAudioLevel = inboundAudioLevel
    self.outboundAudioLevel = outboundAudioLevel
  }

  /// Before anything was measured.
  public static let empty = CallQualityMetrics(jitter: 0, rtt: 0, mos: 1)
}
