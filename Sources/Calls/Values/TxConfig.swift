public import CallSignaling
public import Foundation

/// Who logs in, and how a client behaves (telnyx.md section 1.3).
///
/// ```swift
/// let config = TxConfig(sipUser: "alice", password: password, logLevel: .warning)
/// try client.connect(txConfig: config)
/// ```
public struct TxConfig: Sendable {
  /// How long calls are kept while the client reconnects, in seconds.
  public static let DEFAULT_TIMEOUT: Double = 60.0

  /// The user, with a password.
  public internal(set) var sipUser: String?
  /// The user's password.
  public internal(set) var password: String?
  /// A JSON web token in place of user and password.
  public internal(set) var token: String?
  /// How pushes reach the device.
  public internal(set) var pushNotificationConfig: TxPushConfig?
  /// The file that an app plays while an incoming call rings; the client plays nothing.
  public internal(set) var ringtone: String?
  /// The file that an app plays while the other side rings; the client plays nothing.
  public internal(set) var ringBackTone: String?
  /// Which of the push service's installations is meant.
  public internal(set) var pushEnvironment: PushEnvironment?
  /// Whether the gateway pushes missed calls.
  public internal(set) var enableMissedCallNotifications: Bool
  /// What is logged.
  public internal(set) var logLevel: LogLevel
  /// Where log lines go; by default to the standard error output.
  public internal(set) var customLogger: (any TxLogger)?
  /// Whether a lost connection is made again and its calls are kept.
  public internal(set) var reconnectClient: Bool
  /// Whether all calls measure their quality; each can do so by its own `debug` too.
  public internal(set) var debug: Bool
  /// Whether media goes through relays only.
  public internal(set) var forceRelayCandidate: Bool
  /// The same as ``debug``.
  public internal(set) var enableQualityMetrics: Bool
  /// Whether measurements are sent to the gateway, every 2 seconds at most; calls measure their quality then.
  public internal(set) var sendWebRTCStatsViaSocket: Bool
  /// How long calls are kept while the client reconnects, in seconds.
  public internal(set) var reconnectTimeout: Double
  /// Whether candidates are sent one by one.
  public internal(set) var useTrickleIce: Bool
  /// Whether a ``CallReport`` is made at the end of each call; it stays in the process.
  public internal(set) var enableCallReports: Bool
  /// How often a report takes a measurement, in seconds.
  public internal(set) var callReportInterval: TimeInterval
  /// From which level on a report has the lines of the log: a name of ``LogLevel`` such as `info`; `debug` is everything.
  public internal(set) var callReportLogLevel: String
  /// The most entries of a report.
  public internal(set) var callReportMaxLogEntries: Int
  /// Whether the gateway pushes calls also to a connected client.
  public internal(set) var pushWhenActive: Bool
  /// How often the gateway is asked for the registration before `.serverError(.gatewayNotRegistered)`.
  public var maxRegisterRetry = 3
  /// How long after a question the next one is asked.
  public var registerInterval: Duration = .seconds(3)
  /// How long a call may ring before it ends with `NO_ANSWER`.
  public var ringTimeout: Duration = .seconds(120)
  /// The kind of the gateway; `.verto` is FreeSWITCH.
  public var dialect: Dialect = .telnyx

  /// Creates a configuration for a user with a password; it is checked by ``TxClient/connect(txConfig:serverConfiguration:)``.
  public init(
    sipUser: String, password: String, pushDeviceToken: String? = nil, ringtone: String? = nil,
    ringBackTone: String? = nil, pushEnvironment: PushEnvironment? = nil,
    enableMissedCallNotifications: Bool = false,
    logLevel: LogLevel = .none, customLogger: (any TxLogger)? = nil, reconnectClient: Bool = true,
    debug: Bool = false,
    forceRelayCandidate: Bool = false, enableQualityMetrics: Bool = false,
    sendWebRTCStatsViaSocket: Bool = false,
    reconnectTimeOut: Double = TxConfig.DEFAULT_TIMEOUT, useTrickleIce: Bool = false,
    enableCallReports: Bool = true,
    callReportInterval: TimeInterval = 5.0, callReportLogLevel: String = "debug",
    callReportMaxLogEntries: Int = 1000,
    pushWhenActive: Bool = false
  ) {
    self.sipUser = sipUser
    self.password = password
    self.pushNotificationConfig = pushDeviceToken.map { TxPushConfig(pushDeviceToken: $0) }
    self.ringtone = ringtone
    self.ringBackTone = ringBackTone
    self.pushEnvironment = pushEnvironment
    self.enableMissedCallNotifications = enableMissedCallNotifications
    self.logLevel = logLevel
    self.customLogger = customLogger
    self.reconnectClient = reconnectClient
    self.debug = debug
    self.forceRelayCandidate = forceRelayCandidate
    self.enableQualityMetrics = enableQualityMetrics
    self.sendWebRTCStatsViaSocket = sendWebRTCStatsViaSocket
    self.reconnectTimeout = reconnectTimeOut
    self.useTrickleIce = useTrickleIce
    self.enableCallReports = enableCallReports
    self.callReportInterval = callReportInterval
    self.callReportLogLevel = callReportLogLevel
    self.callReportMaxLogEntries = callReportMaxLogEntries
    self.pushWhenActive = pushWhenActive
  }

  /// Creates a configuration for a token; it is checked by ``TxClient/connect(txConfig:serverConfiguration:)``.
  public init(
    token: String, pushDeviceToken: String? = nil, ringtone: String? = nil, ringBackTone: String? = nil,
    pushEnvironment: PushEnvironment? = nil, enableMissedCallNotifications: Bool = false,
    logLevel: LogLevel = .none,
    customLogger: (any TxLogger)? = nil, reconnectClient: Bool = true, debug: Bool = false,
    forceRelayCandidate: Bool = false, enableQualityMetrics: Bool = false,
    sendWebRTCStatsViaSocket: Bool = false,
    reconnectTimeOut: Double = TxConfig.DEFAULT_TIMEOUT, useTrickleIce: Bool = false,
    enableCallReports: Bool = true,
    callReportInterval: TimeInterval = 5.0, callReportLogLevel: String = "debug",
    callReportMaxLogEntries: Int = 1000,
    pushWhenActive: Bool = false
  ) {
    self.init(
      sipUser: "", password: "", pushDeviceToken: pushDeviceToken, ringtone: ringtone,
      ringBackTone: ringBackTone,
      pushEnvironment: pushEnvironment, enableMissedCallNotifications: enableMissedCallNotifications,
      logLevel: logLevel, customLogger: customLogger, reconnectClient: reconnectClient, debug: debug,
      forceRelayCandidate: forceRelayCandidate, enableQualityMetrics: enableQualityMetrics,
      sendWebRTCStatsViaSocket: sendWebRTCStatsViaSocket, reconnectTimeOut: reconnectTimeOut,
      useTrickleIce: useTrickleIce, enableCallReports: enableCallReports,
      callReportInterval: callReportInterval,
      callReportLogLevel: callReportLogLevel, callReportMaxLogEntries: callReportMaxLogEntries,
      pushWhenActive: pushWhenActive)
    self.sipUser = nil
    self.password = nil
    self.token = token
  }

  /// Checks what can be checked without a gateway.
  ///
  /// - Throws: ``TxError/clientConfigurationFailed(reason:)`` with what is missing.
  public func validateParams() throws {
    guard let user = self.sipUser, let password = self.password else {
      guard self.token?.isEmpty == false else {
        throw TxError.clientConfigurationFailed(reason: .tokenIsRequired)
      }
      return
    }
    switch (user.isEmpty, password.isEmpty) {
    case (true, true): throw TxError.clientConfigurationFailed(reason: .userNameAndPasswordAreRequired)
    case (true, false): throw TxError.clientConfigurationFailed(reason: .userNameIsRequired)
    case (false, true): throw TxError.clientConfigurationFailed(reason: .passwordIsRequired)
    case (false, false): break
    }
  }

  /// Checked by ``validateParams()`` before it is asked for.
  var credentials: Credentials {
    if let user = self.sipUser, let password = self.password {
      return .password(user: user, password: Secret(password))
    }
    return .token(Secret(self.token ?? ""))
  }

  /// The variables of a login (telnyx.md section 2.2).
  var userVariables: JSONObject {
    var variables = self.pushVariables
    if self.pushWhenActive {
      variables["push_when_active"] = "true"
      variables["pn_late_fanout"] = "true"
    }
    return variables
  }

  /// The device's part of the variables.
  var pushVariables: JSONObject {
    var variables = JSONObject()
    guard let push = self.pushNotificationConfig else { return variables }
    variables["push_device_token"] = .string(push.pushDeviceToken)
    variables["push_notification_provider"] = .string(push.pushNotificationProvider)
    variables["push_notification_environment"] = .string((self.pushEnvironment ?? .production).rawValue)
    return variables
  }
}

extension TxConfig: CustomStringConvertible {
  /// Who logs in, without secrets.
  public var description: String {
    self.sipUser.map { "user \($0.isEmpty ? "(empty)" : "(given)")" }
      ?? "token of \(self.token?.utf8.count ?? 0) bytes"
  }
}
