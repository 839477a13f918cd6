#if os(Linux)
  import VoiceCore

  enum PlatformSecureStore {
    static func standard(report: @escaping @Sendable (VoiceFailure) -> Void) -> any SecureStore {
      FileSecureStore(report: report)
    }
  }
#endif
