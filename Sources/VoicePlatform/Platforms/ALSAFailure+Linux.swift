#if os(Linux)
  import Foundation
  import VoiceCore

  /// What an error number of ALSA means for the person at the microphone.
  enum ALSAFailure {
    /// When the error happened: the same number means different things.
    enum Phase: Hashable, CaseIterable {
      case opening
      case configuring
      case recording
    }

    /// The failure of a device.
    ///
    /// - Parameters:
    ///   - number: The error number, positive.
    ///   - detail: What ALSA would have printed.
    static func failure(_ number: Int32, device: String, phase: Phase, detail: String? = nil) -> VoiceFailure
    {
      let cause = ALSAError(number: number, detail: detail)
      switch number {
      case EACCES, EPERM:
        return VoiceFailure(
          .microphoneDenied,
          message: "The microphone “\(device)” may not be used; add the user to the group `audio`.",
          cause: cause)
      case EBUSY, EAGAIN:
        return VoiceFailure(
          .inputDeviceBusy, message: "Another program is using the microphone “\(device)”.", cause: cause)
      case ENOENT, ENODEV, ENXIO, EBADFD, ECONNREFUSED, ECONNRESET, EHOSTDOWN, ENOTCONN:
        return missing(number, device: device, phase: phase, cause: cause)
      case EIO where phase == .recording, EPIPE where phase == .recording, ESTRPIPE where phase == .recording:
        // The end of a sound server, and of some USB devices, shows as an input error that cannot be recovered
        // from.
        return missing(number, device: device, phase: phase, cause: cause)
      case EINVAL where phase == .opening:
        // ALSA's answer to the number of a card that does not exist.
        return missing(number, device: device, phase: phase, cause: cause)
      case EINVAL where phase == .configuring:
        return VoiceFailure(
          .formatNotSupported,
          message: "The microphone “\(device)” offers no format that can be converted.", cause: cause)
      default:
        return VoiceFailure(
          .inputDeviceFailed, message: "The microphone “\(device)” failed: \(cause.text).", cause: cause)
      }
    }

    private static func missing(
      _ number: Int32, device: String, phase: Phase, cause: ALSAError
    ) -> VoiceFailure {
      if phase == .recording {
        return VoiceFailure(
          .inputDeviceLost,
          message: "The microphone “\(device)” was unplugged, or its sound server has ended.", cause: cause)
      }
      let message =
        switch number {
        case ECONNREFUSED, ECONNRESET, EHOSTDOWN, ENOTCONN:
          "The sound server of the microphone “\(device)” is not running."
        default:
          "There is no microphone “\(device)”."
        }
      return VoiceFailure(.noInputDevice, message: message, cause: cause)
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
