#if os(Linux)
  import Foundation
  import VoiceAudio
  import VoiceCore

  /// Decides what to do with each result of an ALSA capture device.
  ///
  /// States: *recording*; *interrupted* (audio was lost, the device was started again, and no audio has come yet);
  /// *broken*. The length of a loss is known when audio comes again: from the end of the last block to the start
  /// of the next one.
  struct ALSACaptureMachine {
    enum Action: Equatable {
      /// Wait until there is audio.
      case wait
      /// Read what there is.
      case read
      /// Deliver the frames that were read, after leaving out `missing` frames, then read on.
      case deliver(frames: Int, missing: Int)
      /// Prepare and start the device again.
      case restart
      /// End the capture.
      case fail(VoiceFailure)
    }

    private enum State: Hashable {
      case recording
      case interrupted(restarts: Int)
      case broken
    }

    // A device that does not deliver anything after so many restarts is not coming back.
    private static let restartLimit = 3

    private let device: String
    private let sampleRate: Int
    private let stallLimit: Duration
    private var state = State.recording
    private var heardUntil: VoiceInstant

    /// Creates the machine of a device that was just started.
    ///
    /// - Parameter stallLimit: How long a device may deliver nothing at all before it counts as broken.
    init(device: String, sampleRate: Int, startedAt now: VoiceInstant, stallLimit: Duration = .seconds(10)) {
      self.device = device
      self.sampleRate = sampleRate
      self.stallLimit = stallLimit
      self.heardUntil = now
    }

    /// `snd_pcm_wait` returned.
    mutating func waited(_ status: Int32, at now: VoiceInstant) -> Action {
      if status < 0 { return self.troubled(Int32(clamping: status.magnitude)) }
      guard status == 0 else { return .read }
      guard self.heardUntil.duration(to: now) >= self.stallLimit else { return .wait }
      return self.broke(
        VoiceFailure(
          .inputDeviceFailed, message: "The microphone “\(self.device)” is open, but delivers no audio."))
    }

    /// `snd_pcm_readi` returned.
    mutating func read(_ count: Int, at now: VoiceInstant) -> Action {
      if count == -Int(EAGAIN) || count == 0 { return .wait }
      if count < 0 { return self.troubled(Int32(clamping: count.magnitude)) }
      var missing: Int64 = 0
      switch self.state {
      case .recording, .broken:
        break
      case .interrupted:
        let elapsed = AudioChunk.sample(at: self.heardUntil.duration(to: now), sampleRate: self.sampleRate)
        missing = max(1, elapsed - Int64(count))
        self.state = .recording
      }
      self.heardUntil = now
      return .deliver(frames: count, missing: Int(clamping: missing))
    }

    /// `snd_pcm_prepare` and `snd_pcm_start` returned.
    mutating func restarted(_ status: Int32) -> Action {
      guard status < 0 else { return .wait }
      return self.broke(
        ALSAFailure.failure(Int32(clamping: status.magnitude), device: self.device, phase: .running))
    }

    private mutating func troubled(_ number: Int32) -> Action {
      switch number {
      case EPIPE, ESTRPIPE, EIO, EINTR:
        switch self.state {
        case .recording:
          self.state = .interrupted(restarts: 1)
          return .restart
        case .interrupted(let restarts) where restarts < Self.restartLimit:
          self.state = .interrupted(restarts: restarts + 1)
          return .restart
        case .interrupted, .broken:
          return self.broke(ALSAFailure.failure(number, device: self.device, phase: .running))
        }
      default:
        return self.broke(ALSAFailure.failure(number, device: self.device, phase: .running))
      }
    }

    private mutating func broke(_ failure: VoiceFailure) -> Action {
      self.state = .broken
      return .fail(failure)
    }
  }
#endif
