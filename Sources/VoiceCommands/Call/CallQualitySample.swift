import Calls
import Foundation
import RealtimeMedia
import VoiceCore

/// How a call sounded in the last second, for people and programs.
struct CallQualitySample: Hashable, Sendable {
  /// The codec that is sent, such as `opus`.
  var codec: String?
  var roundTrip: Duration?
  var jitter: Duration?
  /// The share of the other side's packets that did not come in the last second, from 0 to 1.
  var loss: Double?
  /// The share since the beginning.
  var lossInAll: Double?
  /// The mean opinion score, 1 to 5.
  var score: Double?

  init(_ metrics: CallQualityMetrics, _ statistics: MediaStatistics?) {
    self.codec = statistics?.codec?.encoding
    self.roundTrip = Self.time(metrics.rtt)
    self.jitter = Self.time(metrics.jitter)
    self.score = metrics.mos.isFinite ? metrics.mos : nil
    self.loss = statistics?.window?.loss
    if let reports = statistics?.reports {
      let all = reports.packetsReceived + reports.packetsLost
      self.lossInAll = all > 0 ? Double(reports.packetsLost) / Double(all) : nil
    }
  }

  private static func time(_ seconds: Double) -> Duration? {
    seconds.isFinite && seconds >= 0 && seconds < 1e6 ? .seconds(seconds) : nil
  }
}

/// What is to be said of a call after its end.
struct CallSummary: Hashable, Sendable {
  /// From the first time that both sides talked to the end; `nil` if they never did.
  var talked: Duration?
  /// How often the connection to the gateway was lost.
  var outages = 0
  var codec: String?
  var loss: Double?
  private var scores: [Double] = []
  private var roundTrips: [Duration] = []

  /// The mean of what was measured.
  var score: Double? {
    self.scores.isEmpty ? nil : self.scores.reduce(0, +) / Double(self.scores.count)
  }

  /// The middle one of those that were measured.
  var roundTrip: Duration? {
    self.roundTrips.isEmpty ? nil : self.roundTrips.sorted()[self.roundTrips.count / 2]
  }

  mutating func note(_ sample: CallQualitySample) {
    self.codec = sample.codec ?? self.codec
    self.loss = sample.lossInAll ?? self.loss
    if let score = sample.score { self.scores.append(score) }
    if let roundTrip = sample.roundTrip { self.roundTrips.append(roundTrip) }
  }
}

extension Phrases {
  /// A time on the clock of a call: `0:07`, `12:31`, `1:02:03`.
  static func callTime(_ duration: Duration) -> String {
    let seconds = max(0, duration.components.seconds)
    let tail = String(format: "%02d", Int(seconds % 60))
    guard seconds >= 3600 else { return "\(seconds / 60):\(tail)" }
    return "\(seconds / 3600):" + String(format: "%02d", Int(seconds / 60 % 60)) + ":\(tail)"
  }

  static func milliseconds(_ duration: Duration) -> String {
    "\(Int((duration / .milliseconds(1)).rounded())) ms"
  }

  /// A share from 0 to 1: `0 %`, `0.4 %`, `12 %`.
  static func percent(_ share: Double) -> String {
    let percent = max(0, share * 100)
    return percent == 0 || percent >= 9.95
      ? "\(Int(percent.rounded())) %" : String(format: "%.1f %%", percent)
  }

  static func score(_ score: Double) -> String { String(format: "MOS %.1f", score) }
}
