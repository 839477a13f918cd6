import Synchronization
public import VoiceAudio
package import VoiceCore

/// The audio of one call, in both directions, for programs.
///
/// ```swift
/// try await call.audio.play(AudioFileSource(path: "greeting.wav"))      // say something
/// for await frame in call.audio.frames { … }                           // hear the other side
/// let client = try SpeechClient(audioSource: call.audio.source, …)      // understand the other side
/// ```
///
/// It exists as long as the call object; it is silent before the call is connected and after its end. All methods may be called
/// on any thread.
public final class CallAudio: Sendable {
  private struct State {
    var outgoing = OutgoingAudio()
    var waiters: [Int: CheckedContinuation<Void, Never>] = [:]
    var nextWaiter = 0
    var position: Int64 = 0
    var isEnded = false
    var refusal = VoiceFailure(
      .callNotFound, message: "The call is over; what was to be said was not sent.")
  }

  private let state = Mutex(State())
  private let received = EventBroadcaster<CallAudioFrame>(capacity: 500) { _ in
    // Positions tell what is missing; an empty frame keeps the type simple.
    CallAudioFrame(position: 0, samples: [])
  }

  /// Creates the audio of a call that has not begun.
  public init() {}

  deinit { self.received.finish() }

  // MARK: Hearing

  /// What the other side says, in frames of 20 ms, from now on, for one reader; ends with the call.
  ///
  /// A reader that is more than 10 s behind loses the oldest frames.
  public var frames: CallAudioFrames { CallAudioFrames(self.received.subscribe()) }

  /// What the other side says, as something to listen to: for `SpeechClient`, `SpeechRecognitionUtility` or a recording.
  ///
  /// 16 kHz mono. Where packets were missing for longer than a tenth of a second, positions jump, so that a recogniser knows
  /// that words may be missing.
  public var source: any AudioSource { CallAudioSource(audio: self) }

  // MARK: Speaking

  /// How much waits to be sent.
  public var queued: Duration {
    AudioChunk.time(
      ofSample: Int64(self.state.withLock { $0.outgoing.count }), sampleRate: CallAudioFrame.sampleRate)
  }

  /// Sends samples behind those that wait; waits while more than 0.2 s are ahead.
  ///
  /// Nothing is sent that the other side could not hear: while the call is not connected, is held, or its way is
  /// interrupted, samples wait.
  ///
  /// - Parameter samples: Mono at 48 kHz, of any length.
  /// - Throws: ``VoiceFailure`` `call.not-found` after the end of the call, `call.media.no-samples` if the call's media gives
  ///   programs no part; `CancellationError`.
  public func send(_ samples: [Int16]) async throws {
    var rest = samples[...]
    while !rest.isEmpty {
      let piece = rest.prefix(960)
      try Task.checkCancellation()
      switch self.state.withLock({ $0.outgoing.offered(piece) }) {
      case .taken: rest = rest.dropFirst(piece.count)
      case .full: await self.room()
      case .closed: throw self.refusal
      }
    }
  }

  /// Sends samples of a live source at once, or not at all.
  ///
  /// If the source is faster than the call, the oldest are dropped, which ``MediaStatistics/liveSamplesDropped`` counts. What
  /// comes before the call is connected is dropped, too.
  public func sendLive(_ samples: [Int16]) {
    self.state.withLock { $0.outgoing.offeredLive(samples[...]) }
  }

  /// Drops what waits to be sent: to be silent at once when the other side begins to speak.
  public func discardQueued() {
    self.state.withLock { $0.outgoing.discard() }
    self.wakeWriters()
  }

  /// Sends all that a source delivers; returns when it has ended and everything was sent, or discarded by
  /// ``discardQueued()``.
  ///
  /// - Throws: ``VoiceFailure`` of the source with an `audio.*` code, or as ``send(_:)``.
  public func play(_ source: any AudioSource) async throws {
    let capture = try await source.capture()
    defer { capture.stop() }
    var upsampler = try RateConverter(from: AudioFormat.recognition.sampleRate, to: CallAudioFrame.sampleRate)
    for try await event in capture {
      guard case .chunk(let chunk) = event else { continue }
      let samples = upsampler.convert(chunk.samples)
      if capture.isLive {
        guard !self.state.withLock({ $0.outgoing.isClosed }) else { throw self.refusal }
        self.sendLive(samples)
      } else {
        try await self.send(samples)
      }
    }
    let rest = upsampler.finish()
    if capture.isLive { self.sendLive(rest) } else { try await self.send(rest) }
    while self.state.withLock({ $0.outgoing.count > 0 }) {
      try Task.checkCancellation()
      await self.room()
    }
    // What was sent before the end was heard; what waited then was not.
    if (self.state.withLock({ $0.outgoing.unsentAtEnd }) ?? 0) > 0 { throw self.refusal }
  }

  private var refusal: VoiceFailure { self.state.withLock { $0.refusal } }

  private func room() async {
    let id = self.state.withLock { state in
      state.nextWaiter += 1
      return state.nextWaiter
    }
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let isOver = self.state.withLock { state in
          guard !state.isEnded, !Task.isCancelled, state.outgoing.count > 0 else { return true }
          state.waiters[id] = continuation
          return false
        }
        if isOver { continuation.resume() }
      }
    } onCancel: {
      self.state.withLock { $0.waiters.removeValue(forKey: id) }?.resume()
    }
  }

  private func wakeWriters() {
    let waiters = self.state.withLock { state in
      defer { state.waiters = [:] }
      return state.waiters
    }
    for waiter in waiters.values { waiter.resume() }
  }

  // MARK: The media's side

  /// Whether anybody listens.
  var hasReaders: Bool { self.received.readerCount > 0 }

  /// Samples of live sources that were dropped.
  var liveSamplesDropped: Int64 { self.state.withLock { $0.outgoing.dropped } }

  /// The index of the next sample that comes from the other side.
  var position: Int64 { self.state.withLock { $0.position } }

  /// Takes the next frame to send.
  ///
  /// - Parameter isHeard: Whether the other side can hear it.
  func takeFrame(into frame: inout [Int16], isHeard: Bool) -> Bool {
    let (hadAudio, wakesWriters) = self.state.withLock { state in
      state.outgoing.wayChanged(isOpen: isHeard)
      let hadAudio = state.outgoing.take(960, into: &frame)
      // Not with every frame: to wake a task costs more than to send one.
      return (hadAudio, hadAudio && state.outgoing.hasRoom && !state.waiters.isEmpty)
    }
    if wakesWriters { self.wakeWriters() }
    return hadAudio
  }

  /// Hands on what was heard.
  func deliver(_ samples: [Int16], concealed: Int) {
    let position = self.state.withLock { state in
      defer { state.position += Int64(samples.count) }
      return state.position
    }
    self.received.publish(CallAudioFrame(position: position, samples: samples, concealed: concealed))
  }

  /// Counts what was heard by nobody.
  func skip(_ count: Int) {
    self.state.withLock { $0.position += Int64(count) }
  }

  /// The call is over, or its media has no samples for programs: readers come to their ends, writers are told.
  ///
  /// - Parameter refusal: What writers are told from now on; `nil` says that the call is over.
  package func end(_ refusal: VoiceFailure? = nil) {
    self.state.withLock { state in
      if let refusal { state.refusal = refusal }
      state.isEnded = true
      state.outgoing.close()
    }
    self.wakeWriters()
    self.received.finish()
  }
}

/// The frames of a call for one reader; see ``CallAudio/frames``.
public struct CallAudioFrames: AsyncSequence, Sendable {
  public typealias Element = CallAudioFrame
  public typealias Failure = Never

  private let subscription: EventBroadcaster<CallAudioFrame>.Subscription

  init(_ subscription: EventBroadcaster<CallAudioFrame>.Subscription) {
    self.subscription = subscription
  }

  public func makeAsyncIterator() -> Iterator { Iterator(base: self.subscription.makeAsyncIterator()) }

  /// Reads the frames.
  public struct Iterator: AsyncIteratorProtocol {
    var base: EventBroadcaster<CallAudioFrame>.Subscription.Iterator

    public mutating func next() async -> CallAudioFrame? {
      await self.next(isolation: nil)
    }

    public mutating func next(isolation actor: isolated (any Actor)?) async -> CallAudioFrame? {
      while let frame = await self.base.next(isolation: actor) {
        if !frame.samples.isEmpty { return frame }
      }
      return nil
    }
  }
}
