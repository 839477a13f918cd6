#if os(Linux)
  import CALSA
  import Foundation
  import VoiceCore

  /// An open capture device. Not `Sendable`: all calls are made on the capture thread.
  final class ALSADevice {
    private let handle: ALSAHandle

    /// What the person calls the device.
    var name: String { self.handle.name }
    var sampleRate: Int { self.handle.sampleRate }
    var channels: Int { self.handle.channels }
    var periodFrames: Int { self.handle.periodFrames }

    /// Opens a device and starts recording.
    static func open(_ name: String) throws(VoiceFailure) -> ALSADevice {
      let settings = ALSAHandle.Settings(
        role: .microphone, rate: 16_000, period: .milliseconds(20), buffer: .milliseconds(500))
      return ALSADevice(
        try ALSAHandle.open(name, settings) { handle throws(VoiceFailure) in
          try handle.check(snd_pcm_start(handle.pointer))
        })
    }

    private init(_ handle: ALSAHandle) { self.handle = handle }

    /// Stops and frees the device; no other method may be called afterwards.
    func close() { self.handle.close() }

    /// Waits for audio for at most 20 ms.
    func wait() -> Int32 { self.handle.wait() }

    /// Reads frames; a negative error number if there are none.
    func read(into buffer: UnsafeMutableBufferPointer<Int16>) -> Int {
      Int(
        snd_pcm_readi(
          self.handle.pointer, buffer.baseAddress, snd_pcm_uframes_t(buffer.count / self.channels)))
    }

    /// Starts again after an overrun or a suspended machine.
    func restart() -> Int32 {
      let status = snd_pcm_prepare(self.handle.pointer)
      return status < 0 ? status : snd_pcm_start(self.handle.pointer)
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
