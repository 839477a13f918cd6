#if canImport(AVFoundation)
  import AVFoundation
  import Foundation
  import VoiceCore

  /// What the system tells of the audio of this process.
  enum AudioSessionEvent: Hashable, Sendable {
    case interruptionBegan
    case interruptionEnded(shouldResume: Bool)
    case routeChanged(CaptureSessionMachine.RouteChange)
    case mediaServicesLost
    case mediaServicesReset
    case engineChanged
  }

  #if os(macOS)
    /// A Mac has no audio session: programs share its devices, and an engine tells itself when its device changes.
    struct AudioSessionControl: Sendable {
      var input: CaptureSessionMachine.Input? {
        AVCaptureDevice.default(for: .audio).map {
          CaptureSessionMachine.Input(name: $0.uniqueID, sampleRate: 0, channels: 0)
        }
      }

      func activate() throws(VoiceFailure) {}

      func deactivate() {}

      func observe(_ tell: @escaping @Sendable (AudioSessionEvent) -> Void) -> [any NSObjectProtocol] { [] }
    }
  #else
    /// The audio session that all parts of an app share.
    ///
    /// A category that the app has set and that allows recording stays; otherwise it becomes `record`, and what others play goes
    /// on after the capture.
    struct AudioSessionControl: Sendable {
      /// What would be recorded from now.
      var input: CaptureSessionMachine.Input? {
        let session = AVAudioSession.sharedInstance()
        guard session.isInputAvailable, let port = session.currentRoute.inputs.first else { return nil }
        return CaptureSessionMachine.Input(
          name: port.uid, sampleRate: session.sampleRate, channels: session.inputNumberOfChannels)
      }

      func activate() throws(VoiceFailure) {
        let session = AVAudioSession.sharedInstance()
        do {
          switch session.category {
          case .record, .playAndRecord, .multiRoute: break
          default: try session.setCategory(.record, mode: .measurement, options: [])
          }
          try session.setActive(true, options: [])
        } catch {
          throw VoiceFailure(
            .inputDeviceBusy, message: "The audio session cannot be activated.", cause: error)
        }
      }

      func deactivate() {
        let session = AVAudioSession.sharedInstance()
        // An app that plays and records decides by itself when it is done.
        guard session.category == .record else { return }
        try? session.setActive(false, options: .notifyOthersOnDeactivation)
      }

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
