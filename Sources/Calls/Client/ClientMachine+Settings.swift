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

  init() {}

  init(_ config: TxConfig) {
    self.maxRegisterRetry = max(1, config.maxRegisterRetry)
    self.registerInterval = max(.milliseconds(1), config.registerInterval)
    self.reconnects = config.reconnectClient
    self.reconnectTimeout = Self.duration(config.reconnectTimeout)
    self.ringTimeout = max(.zero, config.ringTimeout)
    self.tricklesCandidates = config.useTrickleIce
    self.forcesRelay = config.forceRelayCandidate
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
