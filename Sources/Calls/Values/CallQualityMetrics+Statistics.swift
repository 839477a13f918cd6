package import RealtimeMedia

extension CallQualityMetrics {
  /// The documented numbers: round trip and jitter as the other side reports them, loss in the last second
  /// (telnyx.md section 1.7).
  package init(_ statistics: MediaStatistics) {
    let window = statistics.window
    let jitter = (statistics.reports.remoteJitter ?? window?.jitter)?.seconds ?? .infinity
    let roundTrip = statistics.roundTrip?.seconds ?? .infinity
    self.init(
      jitter: jitter, rtt: roundTrip,
      mos: MOSCalculator.calculateMOS(
        jitter: jitter * 1000, rtt: roundTrip * 1000, packetsReceived: window?.packetsReceived ?? 0,
        packetsLost: window?.packetsLost ?? 0),
      inboundAudioLevel: window?.inboundLevel ?? 0, outboundAudioLevel: window?.outboundLevel ?? 0)
    self.noteStreams(statistics)
  }
}

extension Duration {
  var seconds: Double {
    Double(self.components.seconds) + Double(self.components.attoseconds) / 1e18
  }
}
