import Synchronization
public import VoiceAudio
public import VoiceCore

/// A running playback: takes samples, and tells how late they are heard and when the device breaks.
///
/// All methods may be called on any thread and return at once. Without a reference to it, the device is released.
public final class SpeakerPlayback: Sendable {
  /// What happened to the samples.
  public struct Statistics: Hashable, Sendable {
    /// How many samples were written.
    public var writtenCount = 0
    /// How many of them were given to the device.
    public var playedCount = 0
    /// How many of them were dropped, because more than the longest delay was waiting, or to shorten a needless delay
    /// where it is quiet.
    public var droppedCount = 0
    /// How often there was nothing to play after something had been played.
    public var underrunCount = 0
    /// How many samples of silence were played in place of what was missing.
    public var silentCount = 0
    /// How often the device itself ran empty, since the machine was too slow, and was started again.
    public var restartCount = 0

    /// Creates statistics.
    public init() {}
  }

  private let queue: PlaybackQueue

  init(queue: PlaybackQueue) {
    self.queue = queue
  }

  deinit {
    self.queue.stop()
  }

  /// The rate of the samples that are written, in Hz.
  public var sampleRate: Int { self.queue.sampleRate }

  /// What happened to the samples so far.
  public var statistics: Statistics { self.queue.statistics }

  /// How long it takes from now until a sample that is written now is heard: what waits here and in the device.
  public var delay: Duration { self.queue.delay }

  /// Whether the system itself takes what is played out of what the microphone hears.
  public var isEchoCancelledBySystem: Bool { PlatformSpeaker.cancelsEcho }

  /// Plays mono samples behind what was written before; never waits. After the end it does nothing.
  public func write(_ samples: [Int16]) {
    samples.withUnsafeBufferPointer { self.queue.write($0) }
  }

  /// Plays mono samples behind what was written before; never waits. After the end it does nothing.
  public func write(_ samples: UnsafeBufferPointer<Int16>) {
    self.queue.write(samples)
  }

  /// Ends the playback at once and releases the device; what waits is not played.
  public func stop() {
    self.queue.stop()
  }

  /// Ends the playback when all that was written has been heard; nothing may be written afterwards.
  ///
  /// - Returns: The failure of the device, or `nil` if all is well.
  @discardableResult
  public func finish() async -> VoiceFailure? {
    self.queue.drain()
    return await self.queue.waitUntilEnded()
  }

  /// Waits until the playback has ended and the device is released.
  ///
  /// - Returns: `audio.output.lost` or `audio.output.failed` if the device broke; `nil` after ``stop()``, ``finish()`` and when the
  ///   task is cancelled.
  public func waitUntilEnded() async -> VoiceFailure? {
    await self.queue.waitUntilEnded()
  }

  /// Tells a canceller of echo from now on what is played and when it is heard; replaces the one before.
  public func tell(_ playedAudio: PlayedAudio?) {
    self.queue.tell(playedAudio)
  }
}

/// What a playback and its device share.
final class PlaybackQueue: Sendable {
  private struct State {
    var buffer: PlaybackBuffer
    var deviceDelay = Duration.zero
    var end = Ending.open
    var waiters: [Int: CheckedContinuation<VoiceFailure?, Never>] = [:]
    var nextWaiter = 0
    var playedAudio: PlayedAudio?
    var restartCount = 0
    var onStop: (@Sendable () -> Void)?
  }

  private enum Ending {
    case open
    case ended(VoiceFailure?)
  }

  let sampleRate: Int
  private let state: Mutex<State>
  private let stopFlag = Atomic<Bool>(false)

  init(_ speaker: Speaker) throws(VoiceFailure) {
    try RawAudioFormat(sampleRate: speaker.sampleRate).validate()
    self.sampleRate = speaker.sampleRate
    self.state = Mutex(
      State(
        buffer: PlaybackBuffer(
          sampleRate: speaker.sampleRate, target: speaker.targetDelay, limit: speaker.longestDelay)))
  }

  // MARK: For the playback

  var statistics: SpeakerPlayback.Statistics {
    self.state.withLock { state in
      var statistics = state.buffer.statistics
      statistics.restartCount = state.restartCount
      return statistics
    }
  }

  var delay: Duration {
    self.state.withLock { state in
      state.deviceDelay + AudioChunk.time(ofSample: Int64(state.buffer.count), sampleRate: self.sampleRate)
    }
  }

  func write(_ samples: UnsafeBufferPointer<Int16>) {
    self.state.withLock { state in
      if case .open = state.end { state.buffer.write(samples) }
    }
  }

  func drain() {
    self.state.withLock { $0.buffer.drain() }
  }

  func stop() {
    self.stopFlag.store(true, ordering: .releasing)
    self.state.withLock { $0.onStop }?()
  }

  func tell(_ playedAudio: PlayedAudio?) {
    self.state.withLock { $0.playedAudio = playedAudio }
  }

  func waitUntilEnded() async -> VoiceFailure? {
    let number = self.state.withLock { state in
      state.nextWaiter += 1
      return state.nextWaiter
    }
    return await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let answer = self.state.withLock { state -> Ending in
          switch state.end {
          case .open where Task.isCancelled: return .ended(nil)
          case .open: state.waiters[number] = continuation
          case .ended: break
          }
          return state.end
        }
        if case .ended(let failure) = answer { continuation.resume(returning: failure) }
      }
    } onCancel: {
      self.state.withLock { $0.waiters.removeValue(forKey: number) }?.resume(returning: nil)
    }
  }

  // MARK: For the device

  /// Whether nothing more is to be played.
  var isStopped: Bool { self.stopFlag.load(ordering: .acquiring) }

  /// Whether all that was written has been read, and nothing more will come.
  var isDrained: Bool { self.state.withLock { $0.buffer.isDrained } }

  /// Who is told what is played.
  var playedAudio: PlayedAudio? { self.state.withLock { $0.playedAudio } }

  func read(into output: UnsafeMutableBufferPointer<Int16>) {
    self.state.withLock { $0.buffer.read(into: output) }
  }

  /// Says how long a sample that is read now takes until it is heard.
  func setDeviceDelay(_ delay: Duration) {
    self.state.withLock { $0.deviceDelay = delay }
  }

  /// Counts a restart of the device.
  func countRestart() {
    self.state.withLock { $0.restartCount += 1 }
  }

  /// Says what to do at ``stop()``, on any thread.
  func onStop(_ body: @escaping @Sendable () -> Void) {
    self.state.withLock { $0.onStop = body }
  }

  /// Ends the playback, after the device was released.
  func end(_ failure: VoiceFailure?) {
    let waiters = self.state.withLock { state in
      if case .open = state.end { state.end = .ended(failure) }
      state.deviceDelay = .zero
      state.playedAudio = nil
      state.onStop = nil
      defer { state.waiters = [:] }
      return state.waiters.values
    }
    for waiter in waiters { waiter.resume(returning: failure) }
  }
}
