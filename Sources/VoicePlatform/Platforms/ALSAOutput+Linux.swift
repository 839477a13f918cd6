#if os(Linux)
  import CALSA
  import Foundation
  import VoiceCore

  /// An open playback device. Not `Sendable`: all calls are made on the playback thread.
  final class ALSAOutput {
    private let handle: ALSAHandle

    /// What the person calls the device.
    var name: String { self.handle.name }
    var sampleRate: Int { self.handle.sampleRate }
    var channels: Int { self.handle.channels }
    var periodFrames: Int { self.handle.periodFrames }
    var bufferFrames: Int { self.handle.bufferFrames }

    /// Opens a device.
    static func open(_ name: String, preferredRate: Int) throws(VoiceFailure) -> ALSAOutput {
      // All that the device holds is delay in a conversation, and all that keeps it from running empty.
      let settings = ALSAHandle.Settings(
        role: .loudspeaker, rate: preferredRate, period: .milliseconds(10), buffer: .milliseconds(60))
      return ALSAOutput(try ALSAHandle.open(name, settings, prepare: self.configureStart))
    }

    private init(_ handle: ALSAHandle) { self.handle = handle }

    /// Stops and frees the device; no other method may be called afterwards.
    func close() { self.handle.close() }

    /// Waits for room for at most 20 ms.
    func wait() -> Int32 { self.handle.wait() }

    /// Writes frames; a negative error number if none is taken.
    func write(_ frames: UnsafeBufferPointer<Int16>) -> Int {
      Int(
        snd_pcm_writei(
          self.handle.pointer, frames.baseAddress, snd_pcm_uframes_t(frames.count / self.channels))
      )
    }

    /// Makes the device ready again after it ran empty or was suspended; it starts by itself when enough is written.
    func restart() -> Int32 {
      snd_pcm_prepare(self.handle.pointer)
    }

    /// How many frames are heard before one that is written now; zero if the device does not know.
    func delayFrames() -> Int {
      var delay: snd_pcm_sframes_t = 0
      guard snd_pcm_delay(self.handle.pointer, &delay) >= 0 else { return 0 }
      // More than ten seconds is not a delay but a confused driver.
      return min(max(Int(delay), 0), self.sampleRate * 10)
    }

    private static func configureStart(_ handle: ALSAHandle) throws(VoiceFailure) {
      let pointer = handle.pointer
      var parameters: OpaquePointer?
      try handle.check(snd_pcm_sw_params_malloc(&parameters))
      defer { snd_pcm_sw_params_free(parameters) }
      try handle.check(snd_pcm_sw_params_current(pointer, parameters))
      let start = max(handle.bufferFrames / 2, handle.periodFrames)
      try handle.check(
        snd_pcm_sw_params_set_start_threshold(pointer, parameters, snd_pcm_uframes_t(start)))
      try handle.check(
        snd_pcm_sw_params_set_avail_min(pointer, parameters, snd_pcm_uframes_t(handle.periodFrames)))
      try handle.check(snd_pcm_sw_params(pointer, parameters))
    }
  }
#endif
