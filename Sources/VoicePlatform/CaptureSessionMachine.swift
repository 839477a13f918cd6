import VoiceAudio
import VoiceCore

/// Decides what a capture does when the system takes the microphone away, changes it, or loses its audio services; and a
/// playback with its loudspeaker, which is the *input* of the machine then.
///
/// States: *starting* (the engine was told to start), *recording* (or playing), *interrupted* (something else has the device),
/// *waiting* (an engine did not start and is tried again), *ended*. The engine is *built* for one input: whenever the input may
/// be another one, it is built anew. The length of a gap is known when audio comes again: from the end of the last buffer to the
/// start of the next one.
struct CaptureSessionMachine: Sendable {
  /// What is recorded from; another value needs another engine.
  struct Input: Hashable, Sendable {
    var name: String
    var sampleRate: Double
    var channels: Int
  }

  /// Why the route of the audio has changed (AVAudioSession.RouteChangeReason, as far as it matters).
  enum RouteChange: Hashable, Sendable {
    case oldDeviceUnavailable
    case newDeviceAvailable
    case categoryChanged
    case noSuitableRoute
    case other
  }

  enum Action: Hashable, Sendable {
    /// Stop the engine and keep it.
    case pause
    /// Start the engine again, and tell ``started(_:at:)`` or ``startFailed(_:at:)``.
    case restart
    /// Throw the engine away, make and start another, and tell the same.
    case rebuild
    /// Call ``timerFired(at:)`` at the instant; replaces an earlier timer.
    case startTimer(VoiceInstant)
    /// Stop the engine for good and end the capture.
    case end(VoiceFailure?)
  }

  /// What the engine is for.
  enum Purpose: Hashable, Sendable {
    case recording
    case playing

    fileprivate var lost: VoiceFailure {
      switch self {
      case .recording: VoiceFailure(.inputDeviceLost)
      case .playing: VoiceFailure(.outputDeviceLost)
      }
    }

    fileprivate var notGivenBack: VoiceFailure {
      switch self {
      case .recording:
        VoiceFailure(
          .inputInterrupted,
          message: "Something else took the microphone, and the system does not give it back.",
          recovery: .retry)
      case .playing:
        VoiceFailure(
          .outputDeviceLost,
          message: "Something else took the loudspeaker, and the system does not give it back.")
      }
    }

    fileprivate var stalled: VoiceFailure {
      switch self {
      case .recording:
        VoiceFailure(.inputDeviceFailed, message: "The microphone is open, but delivers no audio.")
      case .playing:
        VoiceFailure(.outputDeviceFailed, message: "The loudspeaker is open, but takes no audio.")
      }
    }
  }

  struct Settings: Hashable, Sendable {
    /// Whose failures are told.
    var purpose = Purpose.recording
    /// How long an interruption may last.
    var interruptionLimit = Duration.seconds(600)
    /// How long an engine that runs may deliver nothing.
    var stallLimit = Duration.seconds(5)
    /// How often an engine is started in vain before the capture ends.
    var startLimit = 5
    /// How long to wait before an engine is started again; doubles each time.
    var startDelay = Duration.milliseconds(200)
  }

  private enum Interruption: Hashable {
    case byOther
    case byLostServices
  }

  private enum State: Hashable {
    case starting
    case recording
    case interrupted(Interruption, since: VoiceInstant)
    case waiting(until: VoiceInstant)
    case ended
  }

  private let settings: Settings
  private var state = State.starting
  private var input: Input?
  private var failedStarts = 0
  /// Whether audio is missing before the next buffer.
  private var hasGap = false
  private var needsRebuild = false
  private var heardUntil: VoiceInstant

  /// Creates the machine of an engine that is being started.
  init(_ settings: Settings = Settings(), at now: VoiceInstant) {
    self.settings = settings
    self.heardUntil = now
  }

  var isEnded: Bool { self.state == .ended }

  // MARK: The engine

  /// The engine runs.
  mutating func started(_ input: Input, at now: VoiceInstant) -> [Action] {
    switch self.state {
    case .starting:
      self.state = .recording
      self.input = input
      self.needsRebuild = false
      return [.startTimer(now.advanced(by: self.settings.stallLimit))]
    case .interrupted:
      // The interruption began while the engine was starting.
      self.input = input
      return [.pause]
    case .recording, .waiting:
      return []
    case .ended:
      return [.end(nil)]
    }
  }

  /// The engine did not start.
  mutating func startFailed(_ failure: VoiceFailure, at now: VoiceInstant) -> [Action] {
    switch self.state {
    case .starting:
      self.failedStarts += 1
      self.hasGap = true
      self.needsRebuild = true
      guard self.failedStarts < self.settings.startLimit, failure.code != .microphoneDenied else {
        return self.end(failure)
      }
      let instant = now.advanced(by: self.settings.startDelay * (1 << (self.failedStarts - 1)))
      self.state = .waiting(until: instant)
      return [.startTimer(instant)]
    case .interrupted, .recording, .waiting, .ended:
      return []
    }
  }

  /// A buffer of audio came.
  ///
  /// - Returns: How much is missing before it, or `nil` if it is not to be delivered.
  mutating func heard(_ length: Duration, at now: VoiceInstant) -> Duration? {
    switch self.state {
    // A buffer may come before the engine says that it runs, and one from before an interruption after it.
    case .starting, .recording, .interrupted, .waiting: break
    case .ended: return nil
    }
    defer {
      self.heardUntil = max(self.heardUntil, now)
      if self.state == .recording {
        self.hasGap = false
        self.failedStarts = 0
      }
    }
    guard self.hasGap else { return .zero }
    return max(.zero, self.heardUntil.duration(to: now) - length)
  }

  // MARK: The system

  /// Something else took the microphone.
  mutating func interruptionBegan(at now: VoiceInstant) -> [Action] {
    self.interrupt(.byOther, at: now)
  }

  /// The microphone is free again.
  ///
  /// - Parameter shouldResume: Whether the system wants the app to go on by itself.
  mutating func interruptionEnded(shouldResume: Bool) -> [Action] {
    switch self.state {
    case .interrupted(.byOther, _):
      return shouldResume ? self.start() : self.end(self.settings.purpose.notGivenBack)
    case .interrupted(.byLostServices, _), .starting, .recording, .waiting, .ended:
      return []
    }
  }

  /// The system's audio services have ended; every audio object is dead.
  mutating func mediaServicesLost(at now: VoiceInstant) -> [Action] {
    self.needsRebuild = true
    return self.interrupt(.byLostServices, at: now)
  }

  /// The system's audio services are there again.
  mutating func mediaServicesReset() -> [Action] {
    self.needsRebuild = true
    switch self.state {
    case .interrupted, .recording, .waiting: return self.start()
    // The engine that is being started is dead too: it will fail, or be silent.
    case .starting, .ended: return []
    }
  }

  /// The audio goes another way.
  ///
  /// - Parameter input: What would be recorded from now, or `nil` if there is no input.
  mutating func routeChanged(_ change: RouteChange, input: Input?) -> [Action] {
    switch change {
    case .noSuitableRoute: self.inputChanged(to: nil)
    case .oldDeviceUnavailable, .newDeviceAvailable, .categoryChanged: self.inputChanged(to: input)
    // Such a change says nothing of the input, which may be missing for a moment.
    case .other: input == nil ? [] : self.inputChanged(to: input)
    }
  }

  /// The engine has stopped itself, because its hardware changed.
  mutating func engineConfigurationChanged(input: Input?) -> [Action] {
    switch self.state {
    case .recording:
      guard input != nil else { return self.end(self.settings.purpose.lost) }
      self.needsRebuild = true
      return self.start()
    case .starting, .interrupted, .waiting:
      self.needsRebuild = true
      return []
    case .ended:
      return []
    }
  }

  /// The timer ended.
  mutating func timerFired(at now: VoiceInstant) -> [Action] {
    switch self.state {
    case .waiting(let instant):
      return now < instant ? [.startTimer(instant)] : self.start()
    case .interrupted(_, let since):
      let limit = since.advanced(by: self.settings.interruptionLimit)
      return now < limit ? [.startTimer(limit)] : self.end(self.settings.purpose.notGivenBack)
    case .recording:
      let limit = self.heardUntil.advanced(by: self.settings.stallLimit)
      guard now >= limit else { return [.startTimer(limit)] }
      self.failedStarts += 1
      self.needsRebuild = true
      guard self.failedStarts < self.settings.startLimit else {
        return self.end(self.settings.purpose.stalled)
      }
      return self.start()
    case .starting, .ended:
      return []
    }
  }

  /// The reader wants no more.
  mutating func stopRequested() -> [Action] {
    self.state == .ended ? [] : self.end(nil)
  }

  private mutating func interrupt(_ interruption: Interruption, at now: VoiceInstant) -> [Action] {
    switch self.state {
    case .starting, .recording, .waiting:
      self.state = .interrupted(interruption, since: now)
      self.hasGap = true
      return [.pause, .startTimer(now.advanced(by: self.settings.interruptionLimit))]
    case .interrupted(_, let since):
      self.state = .interrupted(interruption, since: since)
      return []
    case .ended:
      return []
    }
  }

  private mutating func inputChanged(to input: Input?) -> [Action] {
    switch self.state {
    case .recording:
      guard let input else { return self.end(self.settings.purpose.lost) }
      guard input != self.input else { return [] }
      self.needsRebuild = true
      return self.start()
    case .starting, .interrupted, .waiting:
      // What starts next looks for itself.
      self.needsRebuild = true
      return []
    case .ended:
      return []
    }
  }

  private mutating func start() -> [Action] {
    self.state = .starting
    self.hasGap = true
    return [self.needsRebuild ? .rebuild : .restart]
  }

  private mutating func end(_ failure: VoiceFailure?) -> [Action] {
    self.state = .ended
    return [.end(failure)]
  }
}
