#if canImport(AVFoundation)
  import AVFoundation

  enum PlatformMicrophonePermission {
    static func state() -> MicrophonePermissionState {
      switch AVCaptureDevice.authorizationStatus(for: .audio) {
      case .authorized: .granted
      case .denied: .denied
      case .notDetermined: .notDetermined
      case .restricted: .restricted
      @unknown default: .denied
      }
    }

    static func request() async -> MicrophonePermissionState {
      if state() == .notDetermined { _ = await AVCaptureDevice.requestAccess(for: .audio) }
      return state()
    }
  }
#endif
