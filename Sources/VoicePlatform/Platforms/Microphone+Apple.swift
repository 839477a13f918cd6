#if !os(Linux)
  import AVFoundation
  import Synchronization
  import VoiceAudio
  import VoiceCore

  /// The microphone through AVAudioEngine; only the system's preferred input can be used.
  enum PlatformMicrophone {
    static func capture(_ microphone: Microphone) async throws(VoiceFailure) -> AudioCapture {
      guard microphone.device == Microphone.defaultDevice else {
        throw VoiceFailure(
          .noInputDevice, message: "Only the system's preferred microphone can be used here: “default”.")
      }
      if let failure = await SystemMicrophonePermission().request().failure { throw failure }
      let engine = EngineInput()
      return try engine.start(chunkDuration: microphone.chunkDuration)
    }

    static func devices() async -> [Microphone.Device] {
      guard let device = AVCaptureDevice.default(for: .audio) else { return [] }
      return [Microphone.Device(name: Microphone.defaultDevice, label: device.localizedName)]
    }
  }

  /// Owns an engine with a tap on its input.
  // @unchecked: the engine is configured before the tap runs, and stopped once, under the lock.
  private final class EngineInput: @unchecked Sendable {
    private let engine = AVAudioEngine()
    private let isStopped = Mutex(false)

    func start(chunkDuration: Duration) throws(VoiceFailure) -> AudioCapture {
      let node = self.engine.inputNode
      let format = node.outputFormat(forBus: 0)
      guard format.sampleRate > 0, format.channelCount > 0 else { throw VoiceFailure(.noInputDevice) }
      let input = try LiveInput(
        sampleRate: Int(format.sampleRate), channels: 1, chunkDuration: chunkDuration,
        onStop: { [self] in self.stop() })
      let scratch = Scratch()
      node.installTap(onBus: 0, bufferSize: 1024, format: format) { buffer, _ in
        scratch.mix(buffer) { input.write($0) }
      }
      self.onStopped = { input.end() }
      do {
        self.engine.prepare()
        try self.engine.start()
      } catch {
        node.removeTap(onBus: 0)
        throw VoiceFailure(.inputDeviceFailed, cause: error)
      }
      return input.makeCapture()
    }

    private var onStopped: () -> Void = {}

    private func stop() {
      let isFirst = self.isStopped.withLock { isStopped in
        defer { isStopped = true }
        return !isStopped
      }
      guard isFirst else { return }
      self.engine.inputNode.removeTap(onBus: 0)
      self.engine.stop()
      self.onStopped()
    }
  }

  /// Averages the channels of a tap's buffers into memory that is allocated once.
  // @unchecked: used by the tap's thread only.
  private final class Scratch: @unchecked Sendable {
    private let samples = UnsafeMutableBufferPointer<Int16>.allocate(capacity: 65_536)

    deinit { self.samples.deallocate() }

    func mix(_ buffer: AVAudioPCMBuffer, into body: (UnsafeBufferPointer<Int16>) -> Void) {
      guard let channels = buffer.floatChannelData else { return }
      let count = min(Int(buffer.frameLength), self.samples.count)
      let channelCount = Int(buffer.format.channelCount)
      for frame in 0..<count {
        var sum: Float = 0
        for channel in 0..<channelCount { sum += channels[channel][frame * buffer.stride] }
        let value = sum / Float(max(1, channelCount)) * 32_768
        self.samples[frame] = value.isFinite ? Int16(min(max(value.rounded(), -32_768), 32_767)) : 0
      }
      body(UnsafeBufferPointer(rebasing: self.samples.prefix(count)))
    }
  }
#endif
