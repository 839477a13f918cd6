#if canImport(AVFoundation)
  import AVFoundation
  import Dispatch
  import Foundation
  import Synchronization
  import VoiceAudio
  import VoiceCore

  /// A running capture: performs what a ``CaptureSessionMachine`` decides.
  // @unchecked: the machine has its lock; everything else is used on the queue only.
  final class CaptureSession: @unchecked Sendable {
    // The engine must not be freed by the thread that tells a notification, or it may wait for itself (documentation of
    // AVAudioEngineConfigurationChange): all work is done here.
    private let queue = DispatchQueue(label: "swift-voice.microphone", qos: .userInitiated)
    private let machine: Mutex<CaptureSessionMachine>
    private let clock: any VoiceClock
    private let input: LiveInput
    private let owner: Owner
    private let audio = AudioSessionControl(.recording)
    private var engine: CaptureEngine?
    private var observers: [any NSObjectProtocol] = []
    // Outlives the event that began it, and ends with the capture.
    private var timer: Task<Void, Never>?

    private init(input: LiveInput, owner: Owner, clock: any VoiceClock) {
      self.input = input
      self.owner = owner
      self.clock = clock
      self.machine = Mutex(CaptureSessionMachine(at: clock.now))
    }

    /// Opens the microphone.
    static func start(chunkDuration: Duration, clock: any VoiceClock) async throws(VoiceFailure)
      -> AudioCapture
    {
      let owner = Owner()
      let input = try LiveInput(
        sampleRate: AudioFormat.recognition.sampleRate, channels: 1, chunkDuration: chunkDuration,
        onStop: { owner.session?.stop() })
      let session = CaptureSession(input: input, owner: owner, clock: clock)
      let failure = await withCheckedContinuation { continuation in
        session.queue.async { continuation.resume(returning: session.open()) }
      }
      if let failure { throw failure }
      return input.makeCapture()
    }

    /// Keeps the session alive for the capture, until it has ended.
    final class Owner: Sendable {
      private let kept = Mutex<CaptureSession?>(nil)

      var session: CaptureSession? { self.kept.withLock { $0 } }

      func keep(_ session: CaptureSession?) { self.kept.withLock { $0 = session } }
    }

    // MARK: On the queue

    private func open() -> VoiceFailure? {
      do throws(VoiceFailure) {
        let input = try self.startEngine()
        self.owner.keep(self)
        self.observers = self.audio.observe { [weak self] event in self?.told(event) }
        self.perform(self.machine.withLock { $0.started(input, at: self.clock.now) })
        return nil
      } catch {
        self.engine?.close()
        self.audio.deactivate()
        return error
      }
    }

    private func startEngine() throws(VoiceFailure) -> CaptureSessionMachine.Input {
      try self.audio.activate()
      guard let input = self.audio.device else { throw VoiceFailure(.noInputDevice) }
      let engine: CaptureEngine
      if let kept = self.engine {
        engine = kept
      } else {
        engine = try CaptureEngine(
          deliver: { [weak self] in self?.heard($0, length: $1) },
          onChange: { [weak self] in self?.told(.engineChanged) })
        self.engine = engine
      }
      try engine.start()
      return input
    }

    private func perform(_ actions: [CaptureSessionMachine.Action]) {
      for action in actions {
        switch action {
        case .pause:
          self.engine?.pause()
        case .restart:
          self.restart()
        case .rebuild:
          self.engine?.close()
          self.engine = nil
          self.restart()
        case .startTimer(let instant):
          self.startTimer(instant)
        case .end(let failure):
          self.close(failure)
        }
      }
    }

    private func restart() {
      do throws(VoiceFailure) {
        let input = try self.startEngine()
        self.perform(self.machine.withLock { $0.started(input, at: self.clock.now) })
      } catch {
        self.engine?.close()
        self.engine = nil
        self.perform(self.machine.withLock { $0.startFailed(error, at: self.clock.now) })
      }
    }

    private func startTimer(_ instant: VoiceInstant) {
      self.timer?.cancel()
      let clock = self.clock
      self.timer = Task { [weak self] in
        guard (try? await clock.sleep(until: instant, tolerance: nil)) != nil else { return }
        self?.step { $0.timerFired(at: clock.now) }
      }
    }

    private func close(_ failure: VoiceFailure?) {
      for observer in self.observers { NotificationCenter.default.removeObserver(observer) }
      self.observers = []
      self.timer?.cancel()
      self.engine?.close()
      self.engine = nil
      self.audio.deactivate()
      self.input.end(failure)
      self.owner.keep(nil)
    }

    // MARK: On any thread

    private func stop() {
      self.step { $0.stopRequested() }
    }

    private func told(_ event: AudioSessionEvent) {
      self.step { [audio, clock] machine in
        switch event {
        case .interruptionBegan: machine.interruptionBegan(at: clock.now)
        case .interruptionEnded(let shouldResume): machine.interruptionEnded(shouldResume: shouldResume)
        case .routeChanged(let change): machine.routeChanged(change, input: audio.device)
        case .mediaServicesLost: machine.mediaServicesLost(at: clock.now)
        case .mediaServicesReset: machine.mediaServicesReset()
        // Its engine must take the echo out from now on.
        case .loudspeakerStarted, .engineChanged: machine.engineConfigurationChanged(input: audio.device)
        }
      }
    }

    private func step(
      _ body: @escaping @Sendable (inout CaptureSessionMachine) -> [CaptureSessionMachine.Action]
    ) {
      self.queue.async { self.perform(self.machine.withLock { body(&$0) }) }
    }

    /// Takes a buffer from the tap's thread, which is not the audio hardware's and may wait.
    private func heard(_ samples: UnsafeBufferPointer<Int16>, length: Duration) {
      self.machine.withLock { machine in
        guard let missing = machine.heard(length, at: self.clock.now) else { return }
        self.input.interrupted(
          frames: Int(
            clamping: AudioChunk.sample(at: missing, sampleRate: AudioFormat.recognition.sampleRate)))
        // Under the lock, since the tap of an engine that was replaced may still have a buffer.
        self.input.write(samples)
      }
    }
  }

  /// An engine with a tap on its input, which gives 16 kHz mono samples.
  final class CaptureEngine {
    private let engine = AVAudioEngine()
    private let observer: any NSObjectProtocol

    /// Makes an engine; ``start()`` starts it.
    ///
    /// - Parameters:
    ///   - deliver: Gets the samples and how long they took, on the tap's thread.
    ///   - onChange: Called on any thread when the engine has stopped itself, because its hardware changed.
    init(
      deliver: @escaping @Sendable (UnsafeBufferPointer<Int16>, Duration) -> Void,
      onChange: @escaping @Sendable () -> Void
    ) throws(VoiceFailure) {
      let node = self.engine.inputNode
      let cancelsEcho = AudioUse.isPlaying
      if cancelsEcho { try Self.cancelEcho(node) }
      let format = node.outputFormat(forBus: 0)
      guard format.sampleRate > 0, format.sampleRate < 1_000_000, format.channelCount > 0 else {
        throw VoiceFailure(.noInputDevice)
      }
      // Beside the voice, voice processing gives channels that are of no use here.
      let converter = try TapConverter(
        sampleRate: Int(format.sampleRate), channels: cancelsEcho ? 1 : Int(format.channelCount))
      node.installTap(onBus: 0, bufferSize: 1024, format: format) { buffer, _ in
        converter.convert(buffer, deliver)
      }
      self.observer = NotificationCenter.default.addObserver(
        forName: .AVAudioEngineConfigurationChange, object: self.engine, queue: nil
      ) { _ in onChange() }
    }

    private static func cancelEcho(_ node: AVAudioInputNode) throws(VoiceFailure) {
      do {
        try node.setVoiceProcessingEnabled(true)
      } catch {
        throw VoiceFailure(
          .inputDeviceFailed, message: "The system cannot take the loudspeaker out of the microphone.",
          cause: error)
      }
      #if !os(tvOS)
        // Voice processing lowers what else is played, and that is what the other side of the call says.
        node.voiceProcessingOtherAudioDuckingConfiguration =
          AVAudioVoiceProcessingOtherAudioDuckingConfiguration(
            enableAdvancedDucking: false, duckingLevel: .min)
      #endif
    }

    func start() throws(VoiceFailure) {
      self.engine.prepare()
      do {
        try self.engine.start()
      } catch {
        throw VoiceFailure(.inputDeviceFailed, cause: error)
      }
    }

    func pause() {
      self.engine.pause()
    }

    func close() {
      NotificationCenter.default.removeObserver(self.observer)
      self.engine.inputNode.removeTap(onBus: 0)
      self.engine.stop()
    }
  }

  /// Makes 16 kHz mono of a tap's buffers.
  // @unchecked: used by the tap's thread only.
  private final class TapConverter: @unchecked Sendable {
    private let sampleRate: Int
    private let channels: Int
    private let resampler: Resampler
    private var mixed: [Float] = []
    private var resampled: [Float] = []
    private var samples: [Int16] = []

    /// - Parameter channels: How many of the channels are mixed.
    init(sampleRate: Int, channels: Int) throws(VoiceFailure) {
      self.sampleRate = sampleRate
      self.channels = channels
      self.resampler = try Resampler(from: sampleRate, to: AudioFormat.recognition.sampleRate)
    }

    func convert(_ buffer: AVAudioPCMBuffer, _ deliver: (UnsafeBufferPointer<Int16>, Duration) -> Void) {
      guard let channels = buffer.floatChannelData else { return }
      let channelCount = min(self.channels, Int(buffer.format.channelCount))
      let count = Int(buffer.frameLength)
      self.mixed.removeAll(keepingCapacity: true)
      for frame in 0..<count {
        var sum: Float = 0
        for channel in 0..<channelCount { sum += channels[channel][frame * buffer.stride] }
        self.mixed.append(sum.isFinite ? sum / Float(max(1, channelCount)) * 32_768 : 0)
      }
      self.resampled.removeAll(keepingCapacity: true)
      self.mixed.withUnsafeBufferPointer { self.resampler.process($0, into: &self.resampled) }
      self.samples.removeAll(keepingCapacity: true)
      for value in self.resampled {
        self.samples.append(value.isFinite ? Int16(min(max(value.rounded(), -32_768), 32_767)) : 0)
      }
      self.samples.withUnsafeBufferPointer {
        deliver($0, AudioChunk.time(ofSample: Int64(count), sampleRate: self.sampleRate))
      }
    }
  }
#endif
