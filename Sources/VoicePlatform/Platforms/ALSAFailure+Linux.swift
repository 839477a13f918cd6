#if os(Linux)
  import Foundation
  import VoiceCore

  /// What an error number of ALSA means for the person at the device.
  enum ALSAFailure {
    /// What the device is for.
    enum Role: String, Hashable, CaseIterable {
      case microphone
      case loudspeaker

      var noDevice: VoiceFailure.Code { self == .microphone ? .noInputDevice : .noOutputDevice }
      var busy: VoiceFailure.Code { self == .microphone ? .inputDeviceBusy : .outputDeviceBusy }
      var lost: VoiceFailure.Code { self == .microphone ? .inputDeviceLost : .outputDeviceLost }
      var failed: VoiceFailure.Code { self == .microphone ? .inputDeviceFailed : .outputDeviceFailed }
    }

    /// When the error happened: the same number means different things.
    enum Phase: Hashable, CaseIterable {
      case opening
      case configuring
      /// Recording or playing.
      case running
    }

    /// The failure of a device.
    ///
    /// - Parameters:
    ///   - number: The error number, positive.
    ///   - detail: What ALSA would have printed.
    static func failure(
      _ number: Int32, of role: Role = .microphone, device: String, phase: Phase, detail: String? = nil
    ) -> VoiceFailure {
      let cause = ALSAError(number: number, detail: detail)
      let subject = "The \(role.rawValue) “\(device)”"
      switch number {
      case EACCES, EPERM:
        let message = "\(subject) may not be used; add the user to the group `audio`."
        return switch role {
        case .microphone: VoiceFailure(.microphoneDenied, message: message, cause: cause)
        case .loudspeaker:
          VoiceFailure(
            role.failed, message: message, recovery: .changeConfiguration("the group `audio`"), cause: cause)
        }
      case EBUSY, EAGAIN:
        return VoiceFailure(
          role.busy, message: "Another program is using the \(role.rawValue) “\(device)”.", cause: cause)
      case ENOENT, ENODEV, ENXIO, EBADFD, ECONNREFUSED, ECONNRESET, EHOSTDOWN, ENOTCONN:
        return missing(number, of: role, device: device, phase: phase, cause: cause)
      case EIO where phase == .running, EPIPE where phase == .running, ESTRPIPE where phase == .running:
        // The end of a sound server, and of some USB devices, shows as an error that cannot be recovered from.
        return missing(number, of: role, device: device, phase: phase, cause: cause)
      case EINVAL where phase == .opening:
        // ALSA's answer to the number of a card that does not exist.
        return missing(number, of: role, device: device, phase: phase, cause: cause)
      case EINVAL where phase == .configuring:
        return VoiceFailure(
          .formatNotSupported, message: "\(subject) offers no format that can be converted.", cause: cause)
      default:
        return VoiceFailure(role.failed, message: "\(subject) failed: \(cause.text).", cause: cause)
      }
    }

    private static func missing(
      _ number: Int32, of role: Role, device: String, phase: Phase, cause: ALSAError
    ) -> VoiceFailure {
      if phase == .running {
        return VoiceFailure(
          role.lost,
          message: "The \(role.rawValue) “\(device)” was unplugged, or its sound server has ended.",
          cause: cause)
      }
      let message =
        switch number {
        case ECONNREFUSED, ECONNRESET, EHOSTDOWN, ENOTCONN:
          "The sound server of the \(role.rawValue) “\(device)” is not running."
        default:
          "There is no \(role.rawValue) “\(device)”."
        }
      return VoiceFailure(role.noDevice, message: message, cause: cause)
    }
  }

  /// What ALSA reported.
  struct ALSAError: Error, Hashable, CustomStringConvertible {
    let number: Int32
    let detail: String?

    var text: String { String(cString: strerror(self.number)) }

    var description: String {
      "ALSA: \(self.text) (errno \(self.number))" + (self.detail.map { ": " + $0 } ?? "")
    }
  }
#endif
