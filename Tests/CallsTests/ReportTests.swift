import CallSignaling
import Calls
import Foundation
import Testing
import VoiceCore
import VoiceTesting

/// What of a call is kept, and what of it the gateway is sent: nothing unless the app asks for it.
@Suite(.timeLimit(.minutes(4))) struct ReportTests {
  static let metrics = CallQualityMetrics(jitter: 0.01, rtt: 0.1, mos: 4.3)

  private func config(
    stats: Bool = false, reports: Bool = true, interval: Double = 5, level: String = "debug",
    entries: Int = 1000, debug: Bool = false
  ) -> TxConfig {
    TxConfig(
      sipUser: "alice", password: "secret", debug: debug, sendWebRTCStatsViaSocket: stats,
      enableCallReports: reports, callReportInterval: interval, callReportLogLevel: level,
      callReportMaxLogEntries: entries)
  }

  private func measure(_ world: CallsWorld, _ call: Call, seconds: Int) {
    for _ in 0..<seconds {
      world.peer(of: call)?.report(.measured(Self.metrics))
      world.clock.advance(by: .seconds(1))
    }
  }

  @Test func nothingIsSentUnlessItIsAskedFor() async throws {
    let world = try await CallsWorld.ready(config: self.config(debug: true))
    let (call, log) = try await world.activeCall()
    self.measure(world, call, seconds: 5)
    call.hangup()
    _ = await log.ended()
    _ = try await world.gateway.request(.bye)
    #expect(world.gateway.reports.isEmpty)
  }

  @Test func statisticsGoToTheGatewayEveryTwoSecondsIfAskedFor() async throws {
    let world = try await CallsWorld.ready(config: self.config(stats: true))
    let (call, log) = try await world.activeCall()
    #expect(call.debug)
    self.measure(world, call, seconds: 6)
    call.hangup()
    _ = await log.ended()
    _ = try await world.gateway.request(.bye)
    let reports = world.gateway.reports
    #expect(reports.map(\.kind) == [.start, .data, .data, .data, .stop])
    #expect(Set(reports.map(\.reportID)).count == 1)
    let data = try #require(reports[1].body["debug_report_data"]?.objectValue)
    #expect(data["data"]?["quality"]?.stringValue == "excellent")
    #expect(data["data"]?["rtt"] == JSONNumber(0.1).map { JSON.number($0) })
    for name in ["event", "tag", "peerId", "connectionId", "timestamp", "timeTaken"] {
      #expect(data[name] != nil, "\(name)")
    }
  }

  @Test func aReportHasAMeasurementPerIntervalAndTheLog() async throws {
    let world = try await CallsWorld.ready(config: self.config(interval: 3, debug: true))
    let (call, log) = try await world.activeCall()
    self.measure(world, call, seconds: 7)
    call.hangup()
    _ = await log.ended()
    let report = try #require(call.report)
    #expect(report.measurements.map { $0.after.components.seconds } == [0, 3, 6])
    #expect(report.measurements.first?.metrics == Self.metrics)
    #expect(report.entries.contains { $0.message.contains("is ACTIVE") })
    #expect(!report.entries.contains { $0.message.contains("secret") })
  }

  @Test func theLogOfAReportHasItsLevelAndItsLimit() async throws {
    let warnings = try await CallsWorld.ready(config: self.config(level: "warning"))
    let (call, log) = try await warnings.activeCall()
    warnings.gateway.cut()
    await log.state("RECONNECTING")
    call.hangup()
    _ = await log.ended()
    let report = try #require(call.report)
    #expect(!report.entries.isEmpty)
    #expect(report.entries.allSatisfy { $0.level <= .warning })

    let short = try await CallsWorld.ready(config: self.config(entries: 2))
    let (other, otherLog) = try await short.activeCall()
    other.hangup()
    _ = await otherLog.ended()
    #expect(other.report?.entries.count == 2)
    #expect(other.report?.entries.last?.message.contains("is DONE") == true)
  }

  @Test func withoutReportsThereIsNone() async throws {
    let world = try await CallsWorld.ready(config: self.config(reports: false))
    let (call, log) = try await world.activeCall()
    call.hangup()
    _ = await log.ended()
    #expect(call.report == nil)
    await world.client.disconnected()
    #expect(world.log.count("callReported") == 0)
  }

  @Test func anInboundCallIsMeasuredIfItsAnswerAsksForIt() async throws {
    let world = try await CallsWorld.ready()
    world.gateway.invite(CallID("1b0c9f4e-7a1f-4f0e-9e6b-0f6f3a1b2c3d"))
    let event = await world.log.first { if case .incomingCall = $0 { true } else { false } }
    guard case .incomingCall(let call)? = event else { return }
    #expect(!call.debug)
    call.answer(debug: true)
    _ = try await world.gateway.request(.answer)
    #expect(call.debug)
  }
}
