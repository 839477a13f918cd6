/// Which push service reaches the device (telnyx.md section 1.3).
public struct TxPushConfig: Hashable, Sendable, CustomStringConvertible {
  /// The device's token; never printed.
  public var pushDeviceToken: String
  /// The service.
  public var pushNotificationProvider: String

  /// Creates a value.
  public init(pushDeviceToken: String, pushNotificationProvider: String = "ios") {
    self.pushDeviceToken = pushDeviceToken
    self.pushNotificationProvider = pushNotificationProvider
  }

  public var description: String {
    "\(self.pushNotificationProvider) (\(self.pushDeviceToken.utf8.count) bytes)"
  }
}

/// Which of the push service's installations is meant.
public enum PushEnvironment: String, Hashable, Sendable, CaseIterable {
  case production, debug
}
