import CallSignaling
import VoiceCore

/// What an app may set about a client, in the machines' terms.
struct ClientSettings: Hashable, Sendable {
  var maxRegisterRetry = 3
  var registerInterval: Duration = .seconds(3)
  var reconnects = true
  var reconnectTimeout: Duration = .seconds(60)
  var ringTimeout: Duration = .seconds(120)
  var tricklesCandidates = false
  var forcesRelay = false
  var measuresQuality = false
  var sendsStats = false
  var reporting = ReportSettings()

  init() {}

  init(_ config: TxConfig) {
    self.maxRegisterRetry = max(1, config.maxRegisterRetry)
    self.registerInterval = max(.milliseconds(1), config.registerInterval)
    self.reconnects = config.reconnectClient
    self.reconnectTimeout = Self.duration(config.reconnectTimeout)
    self.ringTimeout = max(.zero, config.ringTimeout)
    self.tricklesCandidates = config.useTrickleIce
    self.forcesRelay = config.forceRelayCandidate
    self.measuresQuality = config.debug || config.enableQualityMetrics
    self.sendsStats = config.sendWebRTCStatsViaSocket
    self.reporting = ReportSettings(
      isEnabled: config.enableCallReports, interval: Self.duration(config.callReportInterval),
      level: LogLevel(name: config.callReportLogLevel), maximumEntries: max(0, config.callReportMaxLogEntries)
    )
  }

  /// Seconds of an app: anything that is no time counts as none.
  private static func duration(_ seconds: Double) -> Duration {
    guard seconds.isFinite, seconds > 0 else { return .zero }
    return .seconds(min(seconds, 1e9))
  }
}

extension ClientMachine {
  /// Takes the settings of a connection to come; the machines of the last one are at rest.
  mutating func configure(_ settings: ClientSettings, dialect: Dialect) {
    var configuration = ConnectionMachine.Configuration()
    configuration.registration.maxRegisterRetry = settings.maxRegisterRetry
    configuration.registration.registerInterval = settings.registerInterval
    if !settings.reconnects { configuration.retry = .never }
    self.callConfiguration.reconnectTimeout = settings.reconnectTimeout
    self.callConfiguration.ringTimeout = settings.ringTimeout
    self.connection.reconfigure(dialect: dialect, configuration: configuration)
    self.codec.dialect = dialect
  }
}

extension CallRecord {
  /// What a call is before the machine has taken it in.
  static func new(_ id: CallID, _ setup: CallSetup, at now: VoiceInstant) -> CallRecord {
    var record = CallRecord(
      id: id, order: 0, machine: CallMachine(outbound: .init()), dialog: setup.dialog, began: now)
    record.measuresQuality = setup.measuresQuality
    record.callerName = setup.dialog.callerIDName
    record.callerNumber = setup.dialog.callerIDNumber
    return record
  }
}

extension LogLevel {
  /// The level that a text of the configuration means; one that is not known keeps everything.
  fileprivate init(name: String) {
    self =
      switch name.lowercased() {
      case "none", "off": .none
      case "error": .error
      case "warning", "warn": .warning
      case "success": .success
      case "info": .info
      case "verto": .verto
      case "stats": .stats
      default: .all
      }
  }
}
