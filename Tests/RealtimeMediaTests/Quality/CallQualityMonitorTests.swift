import RealtimeMedia
import Testing
import VoiceCore

@Suite struct CallQualityMonitorTests {
  /// A call of which each second is like a good one but for what is changed.
  struct Course {
    var monitor = CallQualityMonitor()
    var snapshot = CallQualityMonitor.Snapshot(at: VoiceInstant())
    var changes: [CallQualityMonitor.Change] = []

    init() {
      self.snapshot.roundTrip = .milliseconds(60)
      self.snapshot.jitter = .milliseconds(5)
      self.snapshot.inboundLevel = 0.3
      self.snapshot.outboundLevel = 0.3
      _ = self.monitor.add(self.snapshot)
    }

    mutating func second(lost: Int64 = 0, _ change: (inout CallQualityMonitor.Snapshot) -> Void = { _ in })
      -> CallQualityMonitor.Report?
    {
      self.snapshot.at = self.snapshot.at.advanced(by: .seconds(1))
      self.snapshot.packetsReceived += 50 - lost
      self.snapshot.packetsLost += lost
      self.snapshot.samplesPlayed += 48000
      self.snapshot.samplesConcealed += lost * 960
      self.snapshot.bytesReceived += 4000
      self.snapshot.bytesSent += 5000
      change(&self.snapshot)
      let report = self.monitor.add(self.snapshot)
      while let change = self.monitor.poll() { self.changes.append(change) }
      return report
    }
  }

  @Test func numbersThatCannotBeHarmNothing() {
    var monitor = CallQualityMonitor()
    var snapshot = CallQualityMonitor.Snapshot(at: VoiceInstant(offset: .seconds(5)))
    #expect(monitor.add(snapshot) == nil)
    #expect(monitor.add(snapshot) == nil, "no time has passed")
    snapshot.at = VoiceInstant(offset: .seconds(4))
    #expect(monitor.add(snapshot) == nil, "time has gone back")
    snapshot.at = VoiceInstant(offset: .seconds(6))
    snapshot.inboundLevel = .nan
    snapshot.outboundLevel = -.infinity
    snapshot.packetsReceived = .min
    snapshot.packetsLost = .max
    snapshot.bytesReceived = .max
    snapshot.samplesConcealed = .max
    snapshot.samplesPlayed = 1
    snapshot.roundTrip = .seconds(Int64.max / 4)
    snapshot.impairment = .init(equipment: .nan, robustness: .nan)
    let report = monitor.add(snapshot)
    #expect(report?.inboundLevel == 0 && report?.outboundLevel == 0)
    #expect(report?.concealment == 1 && report?.loss == 1)
    #expect(report?.score == nil && report?.rating == nil)
    snapshot.at = VoiceInstant(offset: .seconds(7))
    snapshot.packetsLost = .min
    snapshot.samplesPlayed = .max
    #expect(monitor.add(snapshot)?.loss == 0)
  }

  @Test func aWindowHoldsWhatHappenedInIt() {
    var course = Course()
    _ = course.second(lost: 10)
    let report = course.second(lost: 5)
    #expect(report?.packetsReceived == 45 && report?.packetsLost == 5 && report?.loss == 0.1)
    #expect(report?.concealment == 0.1)
    #expect(report?.inboundBitrate == 32000 && report?.outboundBitrate == 40000)
    #expect(report?.roundTrip == .milliseconds(60) && report?.jitter == .milliseconds(5))
    let good = course.second()
    // 30 ms there, and 20 ms for the packet.
    #expect(abs((good?.rating ?? 0) - (93.2 - 0.024 * 50)) < 1e-9)
    #expect((good?.score ?? 0) > 4.35)
    let unknown = course.second { $0.roundTrip = nil }
    #expect(unknown?.score == nil)
  }

  @Test func aWarningIsRaisedAfterSomeWindowsAndClearedWhenItIsClearlyBetter() {
    var course = Course()
    for _ in 0..<2 { _ = course.second { $0.roundTrip = .milliseconds(450) } }
    _ = course.second { $0.roundTrip = .milliseconds(100) }
    for _ in 0..<2 { _ = course.second { $0.roundTrip = .milliseconds(450) } }
    #expect(course.changes.isEmpty, "never three in a row")
    _ = course.second { $0.roundTrip = .milliseconds(401) }
    #expect(course.changes.first == .raised(.highRoundTrip))
    #expect(course.monitor.warnings.contains(.highRoundTrip))
    for _ in 0..<20 { _ = course.second { $0.roundTrip = .milliseconds(380) } }
    #expect(course.monitor.warnings.contains(.highRoundTrip), "better, but not clearly")
    for _ in 0..<3 { _ = course.second { $0.roundTrip = .milliseconds(300) } }
    #expect(!course.monitor.warnings.contains(.highRoundTrip))
    #expect(course.changes.filter { $0 == .raised(.highRoundTrip) }.count == 1)
    #expect(course.changes.filter { $0 == .cleared(.highRoundTrip) }.count == 1)
  }

  @Test func eachWarningHasItsOwnReason() {
    let reasons: [(CallQualityMonitor.Warning, Int64, (inout CallQualityMonitor.Snapshot) -> Void)] = [
      (.highJitter, 0, { $0.jitter = .milliseconds(31) }),
      (.highLoss, 4, { $0.samplesConcealed -= 4 * 960 }),
      (.lowScore, 0, { $0.samplesConcealed += 9600 }),
      (.silentInput, 0, { $0.inboundLevel = 0 }),
      (.silentOutput, 0, { $0.outboundLevel = 0.0005 }),
    ]
    for (warning, lost, change) in reasons {
      var course = Course()
      for _ in 0..<10 { _ = course.second(lost: lost, change) }
      #expect(course.changes == [.raised(warning)], "\(warning)")
      for _ in 0..<5 {
        _ = course.second {
          $0.jitter = .milliseconds(5)
          $0.inboundLevel = 0.3
          $0.outboundLevel = 0.3
        }
      }
      #expect(course.changes == [.raised(warning), .cleared(warning)], "\(warning)")
      #expect(course.monitor.warnings.isEmpty)
    }
  }

  @Test func whoIsMutedOrHeldIsNotMissed() {
    var course = Course()
    for _ in 0..<20 {
      _ = course.second {
        $0.outboundLevel = 0
        $0.inboundLevel = 0
        $0.expectsOutbound = false
        $0.expectsInbound = false
      }
    }
    #expect(course.changes.isEmpty)
  }
}
