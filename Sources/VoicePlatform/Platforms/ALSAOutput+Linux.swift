#if os(Linux)
  import CALSA
  import Foundation
  import VoiceAudio
  import VoiceCore

  /// An open playback device. Not `Sendable`: all calls are made on the playback thread.
  final class ALSAOutput {
    /// What the person calls the device.
    let name: String
    private(set) var sampleRate = 0
    private(set) var channels = 0
    private(set) var periodFrames = 0
    private(set) var bufferFrames = 0
    // Owned by this object, closed once: by `close()` or in `deinit`.
    private let handle: OpaquePointer
    private var isOpen = true

    /// Opens a device; if it takes nothing that can be made, ALSA's own conversion is put before it.
    static func open(_ name: String, preferredRate: Int) throws(VoiceFailure) -> ALSAOutput {
      do throws(VoiceFailure) {
        return try ALSAOutput(name, calling: name, preferredRate: preferredRate)
      } catch {
        guard error.code == .formatNotSupported, name.hasPrefix("hw:") else { throw error }
        return try ALSAOutput("plug" + name, calling: name, preferredRate: preferredRate)
      }
    }

    private init(_ definition: String, calling name: String, preferredRate: Int) throws(VoiceFailure) {
      ALSAMessages.keepOnThisThread()
      var handle: OpaquePointer?
      // Blocking mode would wait in `open` for as long as another program holds the device.
      let status = snd_pcm_open(&handle, definition, SND_PCM_STREAM_PLAYBACK, Int32(SND_PCM_NONBLOCK))
      guard status >= 0, let handle else {
        throw ALSAFailure.failure(
          -status, of: .loudspeaker, device: name, phase: .opening,
          detail: ALSAMessages.takeFromThisThread())
      }
      self.name = name
      self.handle = handle
      // From here on `deinit` closes the handle.
      try self.configureHardware(preferredRate: UInt32(clamping: preferredRate))
      try self.configureStart()
    }

    deinit {
      self.close()
    }

    /// Stops and frees the device; no other method may be called afterwards.
    func close() {
      guard self.isOpen else { return }
      self.isOpen = false
      snd_pcm_drop(self.handle)
      snd_pcm_close(self.handle)
    }

    /// Waits for room for at most 20 ms, which is how soon a playback can be stopped.
    func wait() -> Int32 {
      snd_pcm_wait(self.handle, 20)
    }

    /// Writes frames; a negative error number if none is taken.
    func write(_ frames: UnsafeBufferPointer<Int16>) -> Int {
      Int(snd_pcm_writei(self.handle, frames.baseAddress, snd_pcm_uframes_t(frames.count / self.channels)))
    }

    /// Makes the device ready again after it ran empty or was suspended; it starts by itself when enough is written.
    func restart() -> Int32 {
      snd_pcm_prepare(self.handle)
    }

    /// How many frames are heard before one that is written now; zero if the device does not know.
    func delayFrames() -> Int {
      var delay: snd_pcm_sframes_t = 0
      guard snd_pcm_delay(self.handle, &delay) >= 0 else { return 0 }
      // More than ten seconds is not a delay but a confused driver.
      return min(max(Int(delay), 0), self.sampleRate * 10)
    }

    private func configureHardware(preferredRate: UInt32) throws(VoiceFailure) {
      var parameters: OpaquePointer?
      try self.check(snd_pcm_hw_params_malloc(&parameters))
      defer { snd_pcm_hw_params_free(parameters) }
      try self.check(snd_pcm_hw_params_any(self.handle, parameters))
      try self.check(snd_pcm_hw_params_set_access(self.handle, parameters, SND_PCM_ACCESS_RW_INTERLEAVED))
      try self.check(snd_pcm_hw_params_set_format(self.handle, parameters, SND_PCM_FORMAT_S16_LE))
      // Our resampler is better than the one of ALSA's plug devices: take the rate of the hardware.
      snd_pcm_hw_params_set_rate_resample(self.handle, parameters, 0)

      var channels: UInt32 = 1
      try self.check(snd_pcm_hw_params_set_channels_near(self.handle, parameters, &channels))
      var sampleRate = preferredRate
      try self.check(snd_pcm_hw_params_set_rate_near(self.handle, parameters, &sampleRate, nil))
      // All that the device holds is delay in a conversation, and all that keeps it from running empty.
      var periodTime: UInt32 = 10_000
      var bufferTime: UInt32 = 60_000
      snd_pcm_hw_params_set_period_time_near(self.handle, parameters, &periodTime, nil)
      snd_pcm_hw_params_set_buffer_time_near(self.handle, parameters, &bufferTime, nil)
      try self.check(snd_pcm_hw_params(self.handle, parameters))

      var period: snd_pcm_uframes_t = 0
      var buffer: snd_pcm_uframes_t = 0
      snd_pcm_hw_params_get_period_size(parameters, &period, nil)
      snd_pcm_hw_params_get_buffer_size(parameters, &buffer)
      try RawAudioFormat(sampleRate: Int(sampleRate), channels: Int(channels)).validate()
      self.sampleRate = Int(sampleRate)
      self.channels = Int(channels)
      self.periodFrames = min(max(Int(clamping: period), 16), 65_536)
      self.bufferFrames = min(max(Int(clamping: buffer), self.periodFrames), 1_048_576)
    }

    private func configureStart() throws(VoiceFailure) {
      var parameters: OpaquePointer?
      try self.check(snd_pcm_sw_params_malloc(&parameters))
      defer { snd_pcm_sw_params_free(parameters) }
      try self.check(snd_pcm_sw_params_current(self.handle, parameters))
      let start = max(self.bufferFrames / 2, self.periodFrames)
      try self.check(
        snd_pcm_sw_params_set_start_threshold(self.handle, parameters, snd_pcm_uframes_t(start)))
      try self.check(
        snd_pcm_sw_params_set_avail_min(self.handle, parameters, snd_pcm_uframes_t(self.periodFrames)))
      try self.check(snd_pcm_sw_params(self.handle, parameters))
    }

    private func check(_ status: Int32) throws(VoiceFailure) {
      guard status < 0 else { return }
      throw ALSAFailure.failure(
        -status, of: .loudspeaker, device: self.name, phase: .configuring,
        detail: ALSAMessages.takeFromThisThread())
    }
  }
#endif
