#if canImport(AVFoundation)
  import AVFoundation
  import Dispatch
  import Foundation
  import Synchronization
  import VoiceAudio
  import VoiceCore

  /// A running playback: performs what a ``CaptureSessionMachine`` decides, and keeps three blocks of 20 ms with the engine.
  // @unchecked: everything is used on the queue only.
  final class PlaybackSession: @unchecked Sendable {
    private static let blocksAhead = 3

    private let queue = DispatchQueue(label: "swift-voice.loudspeaker", qos: .userInteractive)
    private let samples: PlaybackQueue
    private let clock: any VoiceClock
    private let audio = AudioSessionControl(.playing)
    private let blockLength: Int
    private var blocks: PlaybackBlocks
    private var machine: CaptureSessionMachine
    private var engine: PlaybackEngine?
    /// The number of the engine; one that was replaced gives its blocks back too.
    private var generation = 0
    /// How many blocks the engine has.
    private var pending = 0
    private var observers: [any NSObjectProtocol] = []
    /// How many blocks are still to be played after the last sample.
    private var blocksUntilHeard: Int?
    private var isClosed = false
    // Outlives the event that began it, and ends with the playback.
    private var timer: Task<Void, Never>?

    private init(_ samples: PlaybackQueue, clock: any VoiceClock) throws(VoiceFailure) {
      self.samples = samples
      self.clock = clock
      self.blockLength = max(1, samples.sampleRate / 50)
      self.blocks = try PlaybackBlocks(
        samples, sampleRate: samples.sampleRate, channels: 1, frames: self.blockLength)
      self.machine = CaptureSessionMachine(CaptureSessionMachine.Settings(purpose: .playing), at: clock.now)
    }

    /// Opens the loudspeaker; the session keeps itself alive until the playback has ended.
    static func start(_ samples: PlaybackQueue, clock: any VoiceClock) async throws(VoiceFailure) {
      let session = try PlaybackSession(samples, clock: clock)
      let failure = await withCheckedContinuation { continuation in
        session.queue.async { continuation.resume(returning: session.open()) }
      }
      if let failure { throw failure }
    }

    // MARK: On the queue

    private func open() -> VoiceFailure? {
      do throws(VoiceFailure) {
        let device = try self.startEngine()
        self.observers = self.audio.observe { [weak self] in self?.told($0) }
        self.samples.onStop { self.step { $0.stopRequested() } }
        self.perform(self.machine.started(device, at: self.clock.now))
        return nil
      } catch {
        self.engine?.close()
        self.audio.deactivate()
        return error
      }
    }

    private func startEngine() throws(VoiceFailure) -> CaptureSessionMachine.Input {
      try self.audio.activate()
      guard let device = self.audio.device else { throw VoiceFailure(.noOutputDevice) }
      let engine: PlaybackEngine
      if let kept = self.engine {
        engine = kept
      } else {
        engine = try PlaybackEngine(sampleRate: self.samples.sampleRate) { [weak self] in
          self?.told(.engineChanged)
        }
        self.engine = engine
        self.generation += 1
        self.pending = 0
      }
      try engine.start()
      while self.pending < Self.blocksAhead { try self.schedule(on: engine) }
      return device
    }

    private func schedule(on engine: PlaybackEngine) throws(VoiceFailure) {
      let ahead = AudioChunk.time(
        ofSample: Int64(self.pending * self.blockLength), sampleRate: self.samples.sampleRate)
      let delay = ahead + engine.latency
      self.blocks.fill(heardAt: self.clock.now.advanced(by: delay), delay: delay)
      let generation = self.generation
      let isScheduled = self.blocks.withUnsafeFrames { frames in
        engine.schedule(frames) { [weak self] in
          guard let self else { return }
          self.queue.async { self.played(by: generation) }
        }
      }
      guard isScheduled else { throw VoiceFailure(.outputDeviceFailed) }
      self.pending += 1
    }

    private func played(by generation: Int) {
      guard generation == self.generation, let engine = self.engine else { return }
      self.pending -= 1
      let length = AudioChunk.time(ofSample: Int64(self.blockLength), sampleRate: self.samples.sampleRate)
      _ = self.machine.heard(length, at: self.clock.now)
      if let blocks = self.blocksUntilHeard {
        guard blocks > 0 else { return self.perform(self.machine.stopRequested()) }
        self.blocksUntilHeard = blocks - 1
      } else if self.samples.isDrained {
        self.blocksUntilHeard = Self.blocksAhead
      }
      do throws(VoiceFailure) {
        try self.schedule(on: engine)
      } catch {
        self.close(error)
      }
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
          self.samples.countRestart()
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
        let device = try self.startEngine()
        self.perform(self.machine.started(device, at: self.clock.now))
      } catch {
        self.engine?.close()
        self.engine = nil
        self.perform(self.machine.startFailed(error, at: self.clock.now))
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
      guard !self.isClosed else { return }
      self.isClosed = true
      for observer in self.observers { NotificationCenter.default.removeObserver(observer) }
      self.observers = []
      self.timer?.cancel()
      self.engine?.close()
      self.engine = nil
      self.audio.deactivate()
      self.samples.end(failure)
    }

    // MARK: On any thread

    private func told(_ event: AudioSessionEvent) {
      self.step { [audio, clock] machine in
        switch event {
        case .interruptionBegan: machine.interruptionBegan(at: clock.now)
        case .interruptionEnded(let shouldResume): machine.interruptionEnded(shouldResume: shouldResume)
        case .routeChanged(let change): machine.routeChanged(change, input: audio.device)
        case .mediaServicesLost: machine.mediaServicesLost(at: clock.now)
        case .mediaServicesReset: machine.mediaServicesReset()
        case .engineChanged: machine.engineConfigurationChanged(input: audio.device)
        case .loudspeakerStarted: []
        }
      }
    }

    private func step(
      _ body: @escaping @Sendable (inout CaptureSessionMachine) -> [CaptureSessionMachine.Action]
    ) {
      self.queue.async { self.perform(body(&self.machine)) }
    }
  }

  /// An engine that plays blocks of mono samples.
  final class PlaybackEngine {
    private let engine = AVAudioEngine()
    private let player = AVAudioPlayerNode()
    private let format: AVAudioFormat
    private let observer: any NSObjectProtocol

    /// Makes an engine; ``start()`` starts it.
    ///
    /// - Parameter onChange: Called on any thread when the engine has stopped itself, because its hardware changed.
    init(sampleRate: Int, onChange: @escaping @Sendable () -> Void) throws(VoiceFailure) {
      let hardware = self.engine.outputNode.outputFormat(forBus: 0)
      guard hardware.sampleRate > 0, hardware.channelCount > 0 else { throw VoiceFailure(.noOutputDevice) }
      guard
        let format = AVAudioFormat(
          commonFormat: .pcmFormatFloat32, sampleRate: Double(sampleRate), channels: 1, interleaved: false)
      else { throw VoiceFailure(.formatNotSupported) }
      self.format = format
      self.engine.attach(self.player)
      self.engine.connect(self.player, to: self.engine.mainMixerNode, format: format)
      self.observer = NotificationCenter.default.addObserver(
        forName: .AVAudioEngineConfigurationChange, object: self.engine, queue: nil
      ) { _ in onChange() }
    }

    /// How long the system and the device take until a sample is heard.
    var latency: Duration {
      let seconds = self.engine.outputNode.presentationLatency
      return seconds.isFinite ? .seconds(min(max(seconds, 0), 10)) : .zero
    }

    func start() throws(VoiceFailure) {
      self.engine.prepare()
      do {
        try self.engine.start()
      } catch {
        throw VoiceFailure(.outputDeviceFailed, cause: error)
      }
      self.player.play()
    }

    /// Plays samples behind those that were scheduled before; calls back on any thread, also when the engine is stopped.
    ///
    /// - Returns: Whether there is memory for them.
    func schedule(_ samples: UnsafeBufferPointer<Int16>, whenPlayed body: @escaping @Sendable () -> Void)
      -> Bool
    {
      guard let buffer = AVAudioPCMBuffer(pcmFormat: self.format, frameCapacity: UInt32(samples.count)),
        let channel = buffer.floatChannelData?[0]
      else { return false }
      for (index, sample) in samples.enumerated() { channel[index] = Float(sample) / 32_768 }
      buffer.frameLength = UInt32(samples.count)
      self.player.scheduleBuffer(buffer, completionCallbackType: .dataConsumed) { _ in body() }
      return true
    }

    func pause() {
      self.player.pause()
      self.engine.pause()
    }

    func close() {
      NotificationCenter.default.removeObserver(self.observer)
      self.player.stop()
      self.engine.stop()
    }
  }
#endif
