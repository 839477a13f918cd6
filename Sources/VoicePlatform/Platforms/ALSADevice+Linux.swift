#if os(Linux)
  import CALSA
  import Foundation
  import VoiceAudio
  import VoiceCore

  /// An open capture device. Not `Sendable`: all calls are made on the capture thread.
  final class ALSADevice {
    /// What the person calls the device.
    let name: String
    private(set) var sampleRate = 0
    private(set) var channels = 0
    private(set) var periodFrames = 0
    // Owned by this object, closed once: by `close()` or in `deinit`.
    private let handle: OpaquePointer
    private var isOpen = true

    /// Opens a device; if it offers nothing that can be converted, ALSA's own conversion is put before it.
    static func open(_ name: String) throws(VoiceFailure) -> ALSADevice {
      do throws(VoiceFailure) {
        return try ALSADevice(name, calling: name)
      } catch {
        guard error.code == .formatNotSupported, name.hasPrefix("hw:") else { throw error }
        return try ALSADevice("plug" + name, calling: name)
      }
    }

    private init(_ definition: String, calling name: String) throws(VoiceFailure) {
      ALSAMessages.keepOnThisThread()
      var handle: OpaquePointer?
      // Blocking mode would wait in `open` for as long as another program holds the device.
      let status = snd_pcm_open(&handle, definition, SND_PCM_STREAM_CAPTURE, Int32(SND_PCM_NONBLOCK))
      guard status >= 0, let handle else {
        throw Self.failure(-status, name, .opening)
      }
      self.name = name
      self.handle = handle
      // From here on `deinit` closes the handle.
      try self.configure()
      try Self.check(snd_pcm_start(handle), name, .configuring)
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

    /// Waits for audio for at most 20 ms, which is how soon a capture can be stopped.
    func wait() -> Int32 {
      snd_pcm_wait(self.handle, 20)
    }

    /// Reads frames; a negative error number if there are none.
    func read(into buffer: UnsafeMutableBufferPointer<Int16>) -> Int {
      Int(snd_pcm_readi(self.handle, buffer.baseAddress, snd_pcm_uframes_t(buffer.count / self.channels)))
    }

    /// Starts again after an overrun or a suspended machine.
    func restart() -> Int32 {
      let status = snd_pcm_prepare(self.handle)
      return status < 0 ? status : snd_pcm_start(self.handle)
    }

    private func configure() throws(VoiceFailure) {
      var parameters: OpaquePointer?
      try Self.check(snd_pcm_hw_params_malloc(&parameters), self.name, .configuring)
      defer { snd_pcm_hw_params_free(parameters) }
      try Self.check(snd_pcm_hw_params_any(self.handle, parameters), self.name, .configuring)
      try Self.check(
        snd_pcm_hw_params_set_access(self.handle, parameters, SND_PCM_ACCESS_RW_INTERLEAVED), self.name,
        .configuring)
      try Self.check(
        snd_pcm_hw_params_set_format(self.handle, parameters, SND_PCM_FORMAT_S16_LE), self.name, .configuring)
      // Our resampler is better than the one of ALSA's plug devices: take the rate of the hardware.
      snd_pcm_hw_params_set_rate_resample(self.handle, parameters, 0)

      var channels: UInt32 = 1
      try Self.check(
        snd_pcm_hw_params_set_channels_near(self.handle, parameters, &channels), self.name, .configuring)
      var sampleRate: UInt32 = 16_000
      try Self.check(
        snd_pcm_hw_params_set_rate_near(self.handle, parameters, &sampleRate, nil), self.name, .configuring)
      var bufferTime: UInt32 = 500_000
      var periodTime: UInt32 = 20_000
      snd_pcm_hw_params_set_buffer_time_near(self.handle, parameters, &bufferTime, nil)
      snd_pcm_hw_params_set_period_time_near(self.handle, parameters, &periodTime, nil)
      try Self.check(snd_pcm_hw_params(self.handle, parameters), self.name, .configuring)

      var period: snd_pcm_uframes_t = 0
      snd_pcm_hw_params_get_period_size(parameters, &period, nil)
      try RawAudioFormat(sampleRate: Int(sampleRate), channels: Int(channels)).validate()
      self.sampleRate = Int(sampleRate)
      self.channels = Int(channels)
      self.periodFrames = min(max(Int(clamping: period), 16), 65_536)
    }

    private static func check(
      _ status: Int32, _ name: String, _ phase: ALSAFailure.Phase
    ) throws(VoiceFailure) {
      guard status < 0 else { return }
      throw failure(-status, name, phase)
    }

    private static func failure(_ number: Int32, _ name: String, _ phase: ALSAFailure.Phase) -> VoiceFailure {
      ALSAFailure.failure(number, device: name, phase: phase, detail: ALSAMessages.takeFromThisThread())
    }
  }

  /// Keeps what ALSA would print on standard error, for the failure's cause.
  ///
  /// The handler is one of the calling thread only; the app's own use of ALSA is left alone.
  enum ALSAMessages {
    private static let key = "voice.alsa.messages"

    static func keepOnThisThread() {
      Thread.current.threadDictionary[self.key] = ""
      _ = snd_lib_error_set_local { _, _, function, number, format, arguments in
        guard let format, let arguments else { return }
        var text = [CChar](repeating: 0, count: 512)
        vsnprintf(&text, text.count, format, arguments)
        let end = text.firstIndex(of: 0) ?? text.endIndex
        let line = String(decoding: text[..<end].map { UInt8(bitPattern: $0) }, as: UTF8.self)
        let name = function.map { String(cString: $0) } ?? "alsa"
        let earlier = Thread.current.threadDictionary[ALSAMessages.key] as? String ?? ""
        Thread.current.threadDictionary[ALSAMessages.key] = String(
          (earlier + "\(name): \(line); ").prefix(2_000))
      }
    }

    static func takeFromThisThread() -> String? {
      defer { Thread.current.threadDictionary[self.key] = "" }
      let text = Thread.current.threadDictionary[self.key] as? String ?? ""
      return text.isEmpty ? nil : text
    }
  }
#endif
