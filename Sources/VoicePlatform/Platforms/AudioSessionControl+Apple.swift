#if canImport(AVFoundation)
  import AVFoundation
  import Foundation
  import Synchronization
  import VoiceCore

  /// What the system tells of the audio of this process.
  enum AudioSessionEvent: Hashable, Sendable {
    case interruptionBegan
    case interruptionEnded(shouldResume: Bool)
    case routeChanged(CaptureSessionMachine.RouteChange)
    case mediaServicesLost
    case mediaServicesReset
    case engineChanged
    case loudspeakerStarted
  }

  /// Which parts of this process use its audio: they share one session, and a microphone beside a loudspeaker must not hear it.
  enum AudioUse {
    /// Posted when the first playback begins.
    static let loudspeakerStarted = Notification.Name("swift-voice.loudspeaker-started")
    private static let users = Mutex<[UUID: CaptureSessionMachine.Purpose]>([:])

    static var isPlaying: Bool { self.users.withLock { $0.values.contains(.playing) } }

    static func begin(_ user: UUID, _ purpose: CaptureSessionMachine.Purpose) {
      let isFirst = self.users.withLock { users in
        defer { users[user] = purpose }
        return purpose == .playing && !users.values.contains(.playing)
      }
      if isFirst { NotificationCenter.default.post(name: self.loudspeakerStarted, object: nil) }
    }

    /// Returns whether nobody uses the audio any more.
    static func end(_ user: UUID) -> Bool {
      self.users.withLock { users in
        users[user] = nil
        return users.isEmpty
      }
    }

    fileprivate static func observe(_ tell: @escaping @Sendable (AudioSessionEvent) -> Void)
      -> any NSObjectProtocol
    {
      NotificationCenter.default.addObserver(forName: self.loudspeakerStarted, object: nil, queue: nil) { _ in
        tell(.loudspeakerStarted)
      }
    }
  }

  #if os(macOS)
    /// A Mac has no audio session: programs share its devices, and an engine tells itself when its device changes.
    struct AudioSessionControl: Sendable {
      private let user = UUID()
      private let purpose: CaptureSessionMachine.Purpose

      init(_ purpose: CaptureSessionMachine.Purpose) {
        self.purpose = purpose
      }

      static var outputLabel: String? { "System output" }

      /// What would be recorded from, or played on, from now; an engine tells itself whether there is an output.
      var device: CaptureSessionMachine.Input? {
        guard self.purpose == .recording else {
          return CaptureSessionMachine.Input(name: "default", sampleRate: 0, channels: 0)
        }
        return AVCaptureDevice.default(for: .audio).map {
          CaptureSessionMachine.Input(name: $0.uniqueID, sampleRate: 0, channels: 0)
        }
      }

      func activate() throws(VoiceFailure) { AudioUse.begin(self.user, self.purpose) }

      func deactivate() { _ = AudioUse.end(self.user) }

      func observe(_ tell: @escaping @Sendable (AudioSessionEvent) -> Void) -> [any NSObjectProtocol] {
        [AudioUse.observe(tell)]
      }
    }
  #else
    /// The audio session that all parts of an app share.
    ///
    /// A category that the app has set and that allows what is wanted stays; otherwise it becomes `record`, or `playAndRecord`
    /// for a voice chat as soon as something is played. What others play goes on after the last use.
    struct AudioSessionControl: Sendable {
      private let user = UUID()
      private let purpose: CaptureSessionMachine.Purpose

      init(_ purpose: CaptureSessionMachine.Purpose) {
        self.purpose = purpose
      }

      static var outputLabel: String? {
        AVAudioSession.sharedInstance().currentRoute.outputs.first?.portName
      }

      /// What would be recorded from, or played on, from now.
      var device: CaptureSessionMachine.Input? {
        let session = AVAudioSession.sharedInstance()
        switch self.purpose {
        case .recording:
          guard session.isInputAvailable, let port = session.currentRoute.inputs.first else { return nil }
          return CaptureSessionMachine.Input(
            name: port.uid, sampleRate: session.sampleRate, channels: session.inputNumberOfChannels)
        case .playing:
          guard let port = session.currentRoute.outputs.first else { return nil }
          return CaptureSessionMachine.Input(
            name: port.uid, sampleRate: session.sampleRate, channels: session.outputNumberOfChannels)
        }
      }

      func activate() throws(VoiceFailure) {
        let session = AVAudioSession.sharedInstance()
        do {
          switch (self.purpose, session.category) {
          case (_, .playAndRecord), (_, .multiRoute), (.playing, .playback):
            break
          case (.recording, .record) where !AudioUse.isPlaying:
            break
          case (.recording, _) where !AudioUse.isPlaying:
            try session.setCategory(.record, mode: .measurement, options: [])
          default:
            try session.setCategory(.playAndRecord, mode: .voiceChat, options: [])
            Self.isCategoryOurs.store(true, ordering: .relaxed)
          }
          try session.setActive(true, options: [])
        } catch {
          throw VoiceFailure(
            self.purpose == .recording ? .inputDeviceBusy : .outputDeviceBusy,
            message: "The audio session cannot be activated.", cause: error)
        }
        AudioUse.begin(self.user, self.purpose)
      }

      func deactivate() {
        guard AudioUse.end(self.user) else { return }
        let session = AVAudioSession.sharedInstance()
        // An app that plays and records by itself decides by itself when it is done.
        let isOurs = Self.isCategoryOurs.exchange(false, ordering: .relaxed)
        guard session.category == .record || isOurs else { return }
        try? session.setActive(false, options: .notifyOthersOnDeactivation)
      }

      private static let isCategoryOurs = Atomic<Bool>(false)

      func observe(_ tell: @escaping @Sendable (AudioSessionEvent) -> Void) -> [any NSObjectProtocol] {
        func observer(
          _ name: Notification.Name, _ event: @escaping @Sendable (Notification) -> AudioSessionEvent?
        ) -> any NSObjectProtocol {
          NotificationCenter.default.addObserver(forName: name, object: nil, queue: nil) { notification in
            if let event = event(notification) { tell(event) }
          }
        }
        return [
          observer(AVAudioSession.interruptionNotification) { Self.interruption($0) },
          observer(AVAudioSession.routeChangeNotification) { Self.routeChange($0) },
          observer(AVAudioSession.mediaServicesWereLostNotification) { _ in .mediaServicesLost },
          observer(AVAudioSession.mediaServicesWereResetNotification) { _ in .mediaServicesReset },
          AudioUse.observe(tell),
        ]
      }

      private static func interruption(_ notification: Notification) -> AudioSessionEvent? {
        guard let value = notification.userInfo?[AVAudioSessionInterruptionTypeKey] as? UInt,
          let type = AVAudioSession.InterruptionType(rawValue: value)
        else { return nil }
        switch type {
        case .began: return .interruptionBegan
        case .ended:
          let options = notification.userInfo?[AVAudioSessionInterruptionOptionKey] as? UInt ?? 0
          return .interruptionEnded(
            shouldResume: AVAudioSession.InterruptionOptions(rawValue: options).contains(.shouldResume))
        @unknown default: return nil
        }
      }

      private static func routeChange(_ notification: Notification) -> AudioSessionEvent? {
        guard let value = notification.userInfo?[AVAudioSessionRouteChangeReasonKey] as? UInt,
          let reason = AVAudioSession.RouteChangeReason(rawValue: value)
        else { return .routeChanged(.other) }
        switch reason {
        case .oldDeviceUnavailable: return .routeChanged(.oldDeviceUnavailable)
        case .newDeviceAvailable: return .routeChanged(.newDeviceAvailable)
        case .categoryChange: return .routeChanged(.categoryChanged)
        case .noSuitableRouteForCategory: return .routeChanged(.noSuitableRoute)
        default: return .routeChanged(.other)
        }
      }
    }
  #endif
#endif
