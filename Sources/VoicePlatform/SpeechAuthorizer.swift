public import VoiceCore

/// Whether speech may be recorded and recognised, and the way to ask for it; injectable, so that an app can be tested
/// without a person.
public protocol SpeechAuthorizer: Sendable {
  /// What has been decided so far; asks nobody.
  func state() async -> SpeechAuthorization

  /// Asks the person if nothing has been decided, and returns the decision.
  func request() async -> SpeechAuthorization
}

/// What has been decided about recording and recognising speech.
public enum SpeechAuthorization: String, Hashable, Sendable, CaseIterable {
  /// Speech may be recorded and recognised.
  case authorized
  /// The person, or the rights of the user on Linux, do not allow it.
  case denied
  /// A policy of the device forbids it, and the person cannot change that.
  case restricted
  /// The person has not been asked, or has not answered yet.
  case notDetermined = "not-determined"

  /// The failure of starting in this state, or `nil` if starting is allowed.
  public var failure: VoiceFailure? {
    switch self {
    case .authorized: nil
    case .denied: VoiceFailure(.recognitionDenied)
    case .restricted: VoiceFailure(.recognitionRestricted)
    case .notDetermined: VoiceFailure(.recognitionUndecided)
    }
  }
}

/// Authorisation by the microphone alone, for engines that need no permission of their own.
public struct MicrophoneAuthorizer: SpeechAuthorizer {
  private let permission: any MicrophonePermission

  /// Creates an authoriser; asks nothing.
  public init(_ permission: any MicrophonePermission = SystemMicrophonePermission()) {
    self.permission = permission
  }

  public func state() async -> SpeechAuthorization {
    Self.authorization(await self.permission.state())
  }

  public func request() async -> SpeechAuthorization {
    Self.authorization(await self.permission.request())
  }

  private static func authorization(_ state: MicrophonePermissionState) -> SpeechAuthorization {
    switch state {
    case .granted: .authorized
    case .denied: .denied
    case .restricted: .restricted
    case .notDetermined: .notDetermined
    }
  }
}

/// A decision that is made already: for tests, and for programs whose audio does not come from a microphone.
public struct FixedSpeechAuthorizer: SpeechAuthorizer {
  private let fixed: SpeechAuthorization

  /// Creates an authoriser.
  public init(_ state: SpeechAuthorization) {
    self.fixed = state
  }

  public func state() async -> SpeechAuthorization { self.fixed }
  public func request() async -> SpeechAuthorization { self.fixed }
}
