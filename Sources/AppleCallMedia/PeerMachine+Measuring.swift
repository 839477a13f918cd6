import Calls
import RealtimeMedia
import VoiceCore

/// The quality of the call, by the same monitor as that of `WebRTCMedia`.
extension PeerMachine {
  /// What was measured, for who asks; `nil` before the call was connected.
  func statistics(_ report: ConnectionReport) -> MediaStatistics? {
    guard self.hasBeenConnected else { return nil }
    var statistics = report.statistics
    statistics.window = self.window
    statistics.warnings = self.monitor.warnings
    return statistics
  }

  /// A measurement came, or failed.
  mutating func measured(
    _ report: ConnectionReport?, generation: Int, at now: VoiceInstant
  ) -> [Output] {
    self.isMeasuring = false
    guard !self.isStopped, self.measuresQuality else { return [] }
    switch self.media {
    case .idle, .failed: return []
    case .connecting, .connected, .interrupted: break
    }
    self.measuringAt = now.advanced(by: self.limits.measuring)
    guard let report, generation == self.generation else { return [] }
    let known = report.statistics
    guard let window = self.monitor.add(self.snapshot(known, at: now)) else { return [] }
    self.window = window
    var statistics = known
    statistics.window = window
    var outputs: [Output] = [.report(.measured(CallQualityMetrics(statistics)))]
    while let change = self.monitor.poll() { outputs.append(.report(.qualityChanged(change))) }
    return outputs
  }

  private func snapshot(_ known: MediaStatistics, at now: VoiceInstant) -> CallQualityMonitor.Snapshot {
    var snapshot = known.snapshot(at: now)
    snapshot.expectsInbound = !self.isHeld
    snapshot.expectsOutbound = !self.isMuted && !self.isHeld
    return snapshot
  }
}
