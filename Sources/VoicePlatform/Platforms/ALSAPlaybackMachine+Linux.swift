#if os(Linux)
  import Foundation
  import VoiceAudio
  import VoiceCore

  /// Decides what to do with each result of an ALSA playback device.
  ///
  /// States: *playing*; *recovering* (the device ran empty or was suspended, was prepared again, and has taken nothing yet);
  /// *broken*.
  struct ALSAPlaybackMachine {
    enum Action: Equatable {
      /// Wait until the device has room.
      case wait
      /// Write what is next.
      case write
      /// Prepare the device again.
      case restart
      /// Do nothing for a few milliseconds: the device takes audio faster than it can be heard.
      case rest
      /// End the playback.
      case fail(VoiceFailure)
    }

    private enum State: Hashable {
      case playing
      case recovering(restarts: Int)
      case broken
    }

    // A device that takes nothing after so many restarts is not coming back.
    private static let restartLimit = 3
    // How long the speed of the device is measured: the drift of a clock stays far below the limit in this time.
    private static let paceWindow = Duration.seconds(1)

    private let device: String
    private let sampleRate: Int
    private let stallLimit: Duration
    private let aheadLimit: Duration
    private var state = State.playing
    private var takenUntil: VoiceInstant
    private var windowStart: VoiceInstant
    private var windowFrames: Int64 = 0

    /// Creates the machine of a device that was just opened.
    ///
    /// - Parameters:
    ///   - bufferFrames: How many frames the device holds.
    ///   - stallLimit: How long a device may take nothing at all before it counts as broken.
    init(
      device: String, sampleRate: Int, bufferFrames: Int, startedAt now: VoiceInstant,
      stallLimit: Duration = .seconds(5)
    ) {
      self.device = device
      self.sampleRate = sampleRate
      self.stallLimit = stallLimit
      self.aheadLimit =
        AudioChunk.time(ofSample: Int64(bufferFrames), sampleRate: sampleRate) + .milliseconds(100)
      self.takenUntil = now
      self.windowStart = now
    }

    /// `snd_pcm_wait` returned.
    mutating func waited(_ status: Int32, at now: VoiceInstant) -> Action {
      if status < 0 { return self.troubled(Int32(clamping: status.magnitude)) }
      guard status == 0 else { return .write }
      guard self.takenUntil.duration(to: now) >= self.stallLimit else { return .wait }
      return self.broke(
        VoiceFailure(
          .outputDeviceFailed, message: "The loudspeaker “\(self.device)” is open, but takes no audio."))
    }

    /// `snd_pcm_writei` returned.
    mutating func wrote(_ count: Int, at now: VoiceInstant) -> Action {
      if count == -Int(EAGAIN) || count == 0 { return .wait }
      if count < 0 { return self.troubled(Int32(clamping: count.magnitude)) }
      switch self.state {
      case .playing, .broken: break
      case .recovering: self.state = .playing
      }
      self.takenUntil = now
      self.windowFrames += Int64(count)
      return self.isAhead(at: now) ? .rest : .wait
    }

    /// `snd_pcm_prepare` returned.
    mutating func restarted(_ status: Int32, at now: VoiceInstant) -> Action {
      guard status < 0 else {
        self.beginWindow(at: now)
        return .write
      }
      return self.broke(self.failure(Int32(clamping: status.magnitude)))
    }

    /// The rest is over.
    mutating func rested(at now: VoiceInstant) -> Action {
      self.isAhead(at: now) ? .rest : .wait
    }

    /// Whether a device without a clock of its own, such as a file, has taken more than can have been heard.
    private mutating func isAhead(at now: VoiceInstant) -> Bool {
      let elapsed = self.windowStart.duration(to: now)
      let taken = AudioChunk.time(ofSample: self.windowFrames, sampleRate: self.sampleRate)
      if taken > elapsed + self.aheadLimit { return true }
      if elapsed >= Self.paceWindow { self.beginWindow(at: now) }
      return false
    }

    private mutating func beginWindow(at now: VoiceInstant) {
      self.windowStart = now
      self.windowFrames = 0
    }

    private mutating func troubled(_ number: Int32) -> Action {
      switch number {
      case EPIPE, ESTRPIPE, EIO, EINTR:
        switch self.state {
        case .playing:
          self.state = .recovering(restarts: 1)
          return .restart
        case .recovering(let restarts) where restarts < Self.restartLimit:
          self.state = .recovering(restarts: restarts + 1)
          return .restart
        case .recovering, .broken:
          return self.broke(self.failure(number))
        }
      default:
        return self.broke(self.failure(number))
      }
    }

    private func failure(_ number: Int32) -> VoiceFailure {
      ALSAFailure.failure(number, of: .loudspeaker, device: self.device, phase: .running)
    }

    private mutating func broke(_ failure: VoiceFailure) -> Action {
      self.state = .broken
      return .fail(failure)
    }
  }
#endif
