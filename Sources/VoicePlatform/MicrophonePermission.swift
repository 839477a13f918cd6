public import VoiceCore

/// Whether the microphone may be used, and the way to ask for it; injectable, so that an app can be tested without
/// a person.
public protocol MicrophonePermission: Sendable {
  /// What has been decided so far.
  func state() async -> MicrophonePermissionState

  /// Asks the person if nothing has been decided, and returns the decision.
  ///
  /// On Linux nobody can be asked: this returns ``state()``.
  func request() async -> MicrophonePermissionState
}

/// What has been decided about the microphone.
public enum MicrophonePermissionState: String, Hashable, Sendable, CaseIterable {
  /// The microphone may be used.
  case granted
  /// The microphone may not be used.
  case denied
  /// The person has not been asked.
  case notDetermined = "not-determined"
  /// A policy of the device forbids the microphone, and the person cannot change that.
  case restricted

  /// The failure of starting in this state, or `nil` if the microphone may be used or the person can still be
  /// asked.
  public var failure: VoiceFailure? {
    switch self {
    case .granted, .notDetermined: nil
    case .denied: VoiceFailure(.microphoneDenied)
    case .restricted:
      VoiceFailure(.microphoneDenied, message: "A policy of this device forbids the use of the microphone.")
    }
  }
}

/// The permission as the operating system knows it.
public struct SystemMicrophonePermission: MicrophonePermission {
  /// Creates the permission; asks nothing.
  public init() {}

  public func state() async -> MicrophonePermissionState {
    PlatformMicrophonePermission.state()
  }

  public func request() async -> MicrophonePermissionState {
    await PlatformMicrophonePermission.request()
  }
}

/// A permission that is always in the same state: for tests, and for programs whose audio does not come from a
/// microphone.
public struct FixedMicrophonePermission: MicrophonePermission {
  private let fixed: MicrophonePermissionState

  /// Creates a permission.
  public init(_ state: MicrophonePermissionState) {
    self.fixed = state
  }

  public func state() async -> MicrophonePermissionState { self.fixed }
  public func request() async -> MicrophonePermissionState { self.fixed }
}
