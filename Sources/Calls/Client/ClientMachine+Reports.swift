import CallSignaling
import VoiceCore

/// What the report of a call holds (telnyx.md section 1.3).
struct ReportSettings: Hashable, Sendable {
  var isEnabled = true
  var interval: Duration = .seconds(5)
  var level = LogLevel.all
  var maximumEntries = 1000
  /// As the buffer of the published clients (telnyx.md section 1.7).
  static let maximumMeasurements = 360
}

/// The statistics of a call that the gateway is sent (telnyx.md section 2.2, debug report).
struct StatsReport: Hashable, Sendable {
  let id: String
  var sent: VoiceInstant?
  /// Not more often than the published clients do (telnyx.md section 1.7).
  static let interval: Duration = .seconds(2)
}

extension ClientMachine {
  /// Gives a new call what the settings say of it.
  func prepare(_ record: inout CallRecord) {
    guard let settings = self.session?.settings else { return }
    record.reporting = settings.reporting
    if settings.measuresQuality || settings.sendsStats { record.measuresQuality = true }
  }

  /// - Parameter wallTime: In seconds since 1970.
  mutating func measured(
    _ metrics: CallQualityMetrics, of id: CallID, wallTime: Int, at now: VoiceInstant
  ) {
    guard self.calls[id] != nil else { return }
    self.calls[id]?.note(metrics, at: now)
    guard self.session?.settings.sendsStats == true, self.connection.isReady else { return }
    self.sendStats(metrics, of: id, wallTime: wallTime, at: now)
  }

  private mutating func sendStats(
    _ metrics: CallQualityMetrics, of id: CallID, wallTime: Int, at now: VoiceInstant
  ) {
    var report = self.calls[id]?.stats ?? StatsReport(id: self.makeID())
    if let sent = report.sent {
      guard sent.duration(to: now) >= StatsReport.interval else { return }
    } else {
      self.write(
        DebugReport(
          .start, reportID: report.id, body: ["debug_report_version": 1, "call_id": .string(id.text)]))
    }
    report.sent = now
    self.calls[id]?.stats = report
    let data: JSONObject = [
      "event": "stats", "tag": "stats", "peerId": .string(id.text), "connectionId": .string(id.text),
      "data": .object(metrics.json), "timestamp": .integer(wallTime), "timeTaken": 0,
    ]
    self.write(DebugReport(.data, reportID: report.id, body: ["debug_report_data": .object(data)]))
  }

  mutating func stopStats(of record: CallRecord) {
    guard let report = record.stats, self.connection.isReady else { return }
    self.write(DebugReport(.stop, reportID: report.id))
  }

  private mutating func write(_ report: DebugReport) {
    let id = RPCID.string(self.makeID())
    self.emit(.send(generation: self.connection.socket.generation, self.codec.encode(report, id: id)))
  }
}

extension CallRecord {
  /// Keeps one measurement per interval, the latest of a long call.
  mutating func note(_ metrics: CallQualityMetrics, at now: VoiceInstant) {
    let after = self.began.duration(to: now)
    if let last = self.measurements.last, after - last.after < self.reporting.interval { return }
    self.measurements.append(CallReport.Measurement(metrics: metrics, after: after))
    let surplus = self.measurements.count - ReportSettings.maximumMeasurements
    if surplus > 0 { self.measurements.removeFirst(surplus) }
  }

  /// Keeps a line of the log, the latest of a long call.
  mutating func note(_ level: LogLevel, _ message: String, at now: VoiceInstant) {
    guard level != .none, level <= self.reporting.level, self.reporting.maximumEntries > 0 else { return }
    self.entries.append(
      CallReport.Entry(level: level, message: message, after: self.began.duration(to: now)))
    let surplus = self.entries.count - self.reporting.maximumEntries
    if surplus > 0 { self.entries.removeFirst(surplus) }
  }
}

extension CallQualityMetrics {
  /// Numbers that JSON can hold; what is not finite is left out.
  fileprivate var json: JSONObject {
    var object = JSONObject()
    for (name, value) in [
      ("jitter", self.jitter), ("rtt", self.rtt), ("mos", self.mos),
      ("inboundAudioLevel", self.inboundAudioLevel), ("outboundAudioLevel", self.outboundAudioLevel),
    ] {
      if let number = JSONNumber(value) { object[name] = .number(number) }
    }
    object["quality"] = .string(self.quality.rawValue)
    return object
  }
}
