#if canImport(WebRTC)
  #if !os(macOS)
    public import AVFoundation
  #endif
  public import Calls
  public import VoiceCore
  public import VoicePlatform
  import WebRTC

  /// Makes media peers on Google's `WebRTC.framework`, in place of ``WebRTCMedia``.
  ///
  /// ```swift
  /// let client = TxClient(media: WebRTCFrameworkMedia())
  /// ```
  ///
  /// The framework records and plays by itself, with its own echo cancellation: `Call.audio` has no samples
  /// (`call.media.no-samples`), and `Microphone` and `Speaker` should rest during a call. The first description asks for the
  /// permission to record; without it the call ends with `audio.input.permission-denied`. All calls of a factory share the
  /// framework's threads. `CallEvent.keyPressed` does not come, as the framework does not tell of keys.
  public final class WebRTCFrameworkMedia: MediaPeerFactory {
    /// Who activates the audio session of the app.
    public enum AudioActivation: Hashable, Sendable {
      /// The framework, as soon as a call has audio.
      case automatic
      /// CallKit; the app hands on what its provider's delegate is told.
      case callKit
    }

    private let framework: FrameworkFactory
    private let permission: any MicrophonePermission
    private let clock: any VoiceClock

    /// Creates a factory; it asks for nothing yet.
    ///
    /// - Parameters:
    ///   - activation: Who activates the audio session; the last factory that was made decides for the process. Without
    ///     meaning on macOS.
    ///   - permission: The permission to record.
    ///   - clock: The time that waits and measurements are taken on.
    public init(
      activation: AudioActivation = .automatic,
      permission: any MicrophonePermission = SystemMicrophonePermission(),
      clock: any VoiceClock = MonotonicClock()
    ) {
      self.framework = FrameworkFactory()
      self.permission = permission
      self.clock = clock
      #if !os(macOS)
        let session = RTCAudioSession.sharedInstance()
        session.useManualAudio = activation == .callKit
        session.isAudioEnabled = activation == .automatic
      #endif
    }

    /// Opus, PCMU and PCMA, which the framework always has; it offers others behind them.
    public var supportedCodecs: [TxCodecCapability] {
      [
        TxCodecCapability(
          mimeType: "audio/opus", clockRate: 48_000, channels: 2, sdpFmtpLine: "minptime=10;useinbandfec=1"),
        TxCodecCapability(mimeType: "audio/PCMU", clockRate: 8_000),
        TxCodecCapability(mimeType: "audio/PCMA", clockRate: 8_000),
      ]
    }

    public func makePeer(_ setup: MediaPeerSetup) throws -> any MediaPeer {
      let framework = self.framework
      return ConnectionPeer(setup, permission: self.permission, clock: self.clock) { settings, tell in
        try FrameworkConnection(framework, settings, tell: tell)
      }
    }

    #if !os(macOS)
      /// CallKit activated the audio session: `provider(_:didActivate:)`.
      public func audioSessionDidActivate(_ session: AVAudioSession) {
        RTCAudioSession.sharedInstance().audioSessionDidActivate(session)
        RTCAudioSession.sharedInstance().isAudioEnabled = true
      }

      /// CallKit deactivated the audio session: `provider(_:didDeactivate:)`.
      public func audioSessionDidDeactivate(_ session: AVAudioSession) {
        RTCAudioSession.sharedInstance().isAudioEnabled = false
        RTCAudioSession.sharedInstance().audioSessionDidDeactivate(session)
      }
    #endif
  }
#endif
