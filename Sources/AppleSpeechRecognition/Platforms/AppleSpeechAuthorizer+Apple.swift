#if canImport(Speech) && !os(tvOS)
  import Speech
  public import VoicePlatform

  /// Authorisation by both permissions that recognising speech from a microphone needs on Apple platforms.
  ///
  /// The app's Info.plist must have `NSSpeechRecognitionUsageDescription` and, with a microphone,
  /// `NSMicrophoneUsageDescription`: the system ends an app that asks without them.
  public struct AppleSpeechAuthorizer: SpeechAuthorizer {
    private let microphone: MicrophoneAuthorizer?

    /// Creates an authoriser; asks nothing.
    ///
    /// - Parameter microphone: The permission of the microphone, or `nil` if audio does not come from one.
    public init(microphone: (any MicrophonePermission)? = SystemMicrophonePermission()) {
      self.microphone = microphone.map { MicrophoneAuthorizer($0) }
    }

    public func state() async -> SpeechAuthorization {
      .both(Self.recognitionState, await self.microphone?.state() ?? .authorized)
    }

    public func request() async -> SpeechAuthorization {
      let recognition = await withCheckedContinuation { continuation in
        SFSpeechRecognizer.requestAuthorization { continuation.resume(returning: Self.authorization($0)) }
      }
      // Who does not allow one need not be asked for the other.
      guard recognition == .authorized else { return recognition }
      return .both(recognition, await self.microphone?.request() ?? .authorized)
    }

    static var recognitionState: SpeechAuthorization {
      self.authorization(SFSpeechRecognizer.authorizationStatus())
    }

    private static func authorization(_ status: SFSpeechRecognizerAuthorizationStatus) -> SpeechAuthorization
    {
      switch status {
      case .authorized: .authorized
      case .denied: .denied
      case .restricted: .restricted
      case .notDetermined: .notDetermined
      @unknown default: .denied
      }
    }
  }
#endif
