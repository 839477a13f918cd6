/// What happens after a failure, and who has to act.
public enum Recovery: Hashable, Sendable {
  /// The SDK is trying again by itself; the app may show that and wait.
  case automatic(RetryState)
  /// Nothing is wrong with the app: the same action may succeed when it is tried again.
  case retry
  /// The credentials are not accepted (any more): sign in again, then retry.
  case signIn
  /// The person has to allow something first.
  case grantPermission(Permission)
  /// A setting is wrong; the text says which one and what it should be.
  case changeConfiguration(String)
  /// Nothing can or need be done: the failure was repaired, or it is only reported.
  case none
}

/// Something only the person, or the administrator of the machine, can allow.
public enum Permission: String, Hashable, Sendable, CaseIterable {
  case microphone
  case speechRecognition = "speech-recognition"
  case network
  case storage
}

/// Where a series of automatic tries stands.
public struct RetryState: Hashable, Sendable {
  /// The number of the next try, from 1.
  public var attempt: Int

  /// How many tries are allowed, or `nil` if only time limits them.
  public var limit: Int?

  /// How long the SDK waits before the next try.
  public var delay: Duration

  /// When the SDK stops trying, on the clock of the client, or `nil` if only the number of tries counts.
  public var deadline: VoiceInstant?

  /// Creates a state.
  public init(attempt: Int, limit: Int? = nil, delay: Duration, deadline: VoiceInstant? = nil) {
    self.attempt = attempt
    self.limit = limit
    self.delay = delay
    self.deadline = deadline
  }
}

extension Recovery: CustomStringConvertible {
  /// The stable word that programs read: the case's name in lower case, with its detail after a colon.
  public var description: String {
    switch self {
    case .automatic(let state):
      // Whole milliseconds: the delay is random, its other digits say nothing.
      "automatic: try \(state.attempt) in \(Duration.milliseconds(Int64((state.delay / .milliseconds(1)).rounded())))"
    case .retry: "retry"
    case .signIn: "sign-in"
    case .grantPermission(let permission): "grant-permission: \(permission.rawValue)"
    case .changeConfiguration(let what): "change-configuration: \(what)"
    case .none: "none"
    }
  }
}
