#if os(Linux)
  import CALSA
  import Foundation
  import VoiceAudio
  import VoiceCore

  /// An open device for interleaved 16-bit samples, whatever it is for. Not `Sendable`: all calls are made on the device's thread.
  final class ALSAHandle {
    /// What the device is wanted for, and how.
    struct Settings {
      let role: ALSAFailure.Role
      /// The rate that is asked for; the nearest one that the hardware has is taken.
      let rate: Int
      /// How much the device moves at a time.
      let period: Duration
      /// How much the device holds.
      let buffer: Duration
    }

    /// What the person calls the device.
    let name: String
    private(set) var sampleRate = 0
    private(set) var channels = 0
    private(set) var periodFrames = 0
    private(set) var bufferFrames = 0
    private let role: ALSAFailure.Role
    // Owned by this object, closed once: by `close()` or in `deinit`.
    let pointer: OpaquePointer
    private var isOpen = true

    /// Opens a device; if it takes or offers nothing that can be converted, ALSA's own conversion is put before it.
    ///
    /// - Parameter prepare: What else has to succeed before the device can be used.
    static func open(
      _ name: String, _ settings: Settings, prepare: (ALSAHandle) throws(VoiceFailure) -> Void
    ) throws(VoiceFailure) -> ALSAHandle {
      func open(_ definition: String) throws(VoiceFailure) -> ALSAHandle {
        let handle = try ALSAHandle(definition, calling: name, settings)
        try prepare(handle)
        return handle
      }
      do throws(VoiceFailure) {
        return try open(name)
      } catch {
        guard error.code == .formatNotSupported, name.hasPrefix("hw:") else { throw error }
        return try open("plug" + name)
      }
    }

    private init(_ definition: String, calling name: String, _ settings: Settings) throws(VoiceFailure) {
      ALSAMessages.keepOnThisThread()
      let stream =
        switch settings.role {
        case .microphone: SND_PCM_STREAM_CAPTURE
        case .loudspeaker: SND_PCM_STREAM_PLAYBACK
        }
      var pointer: OpaquePointer?
      // Blocking mode would wait in `open` for as long as another program holds the device.
      let status = snd_pcm_open(&pointer, definition, stream, Int32(SND_PCM_NONBLOCK))
      guard status >= 0, let pointer else {
        throw ALSAFailure.failure(
          -status, of: settings.role, device: name, phase: .opening,
          detail: ALSAMessages.takeFromThisThread())
      }
      self.name = name
      self.role = settings.role
      self.pointer = pointer
      // From here on `deinit` closes the device.
      try self.configure(settings)
    }

    deinit {
      self.close()
    }

    /// Stops and frees the device; no other method may be called afterwards.
    func close() {
      guard self.isOpen else { return }
      self.isOpen = false
      snd_pcm_drop(self.pointer)
      snd_pcm_close(self.pointer)
    }

    /// Waits for the device for at most 20 ms, which is how soon it can be stopped.
    func wait() -> Int32 {
      snd_pcm_wait(self.pointer, 20)
    }

    /// Throws what a negative error number means while the device is set up.
    func check(_ status: Int32) throws(VoiceFailure) {
      guard status < 0 else { return }
      throw ALSAFailure.failure(
        -status, of: self.role, device: self.name, phase: .configuring,
        detail: ALSAMessages.takeFromThisThread())
    }

    private func configure(_ settings: Settings) throws(VoiceFailure) {
      var parameters: OpaquePointer?
      try self.check(snd_pcm_hw_params_malloc(&parameters))
      defer { snd_pcm_hw_params_free(parameters) }
      try self.check(snd_pcm_hw_params_any(self.pointer, parameters))
      try self.check(snd_pcm_hw_params_set_access(self.pointer, parameters, SND_PCM_ACCESS_RW_INTERLEAVED))
      try self.check(snd_pcm_hw_params_set_format(self.pointer, parameters, SND_PCM_FORMAT_S16_LE))
      // Our resampler is better than the one of ALSA's plug devices: take the rate of the hardware.
      snd_pcm_hw_params_set_rate_resample(self.pointer, parameters, 0)

      var channels: UInt32 = 1
      try self.check(snd_pcm_hw_params_set_channels_near(self.pointer, parameters, &channels))
      var sampleRate = UInt32(clamping: settings.rate)
      try self.check(snd_pcm_hw_params_set_rate_near(self.pointer, parameters, &sampleRate, nil))
      var period = UInt32(clamping: Int((settings.period / .microseconds(1)).rounded()))
      var buffer = UInt32(clamping: Int((settings.buffer / .microseconds(1)).rounded()))
      snd_pcm_hw_params_set_period_time_near(self.pointer, parameters, &period, nil)
      snd_pcm_hw_params_set_buffer_time_near(self.pointer, parameters, &buffer, nil)
      try self.check(snd_pcm_hw_params(self.pointer, parameters))

      var periodFrames: snd_pcm_uframes_t = 0
      var bufferFrames: snd_pcm_uframes_t = 0
      snd_pcm_hw_params_get_period_size(parameters, &periodFrames, nil)
      snd_pcm_hw_params_get_buffer_size(parameters, &bufferFrames)
      try RawAudioFormat(sampleRate: Int(sampleRate), channels: Int(channels)).validate()
      self.sampleRate = Int(sampleRate)
      self.channels = Int(channels)
      self.periodFrames = min(max(Int(clamping: periodFrames), 16), 65_536)
      self.bufferFrames = min(max(Int(clamping: bufferFrames), self.periodFrames), 1_048_576)
    }
  }
#endif
