public import VoiceCore

/// Something that can be listened to: a microphone, a file, a pipe, a generator.
///
/// Creating a source opens nothing. ``capture()`` opens it and begins; several captures of one source are
/// independent where the source allows it (files) and fail with a busy failure where it does not (devices).
public protocol AudioSource: Sendable {
  /// Opens the source and begins to deliver 16 kHz mono audio.
  ///
  /// - Throws: ``VoiceFailure`` with an `audio.*` code if the source cannot be opened.
  func capture() async throws(VoiceFailure) -> AudioCapture

  /// Checks that ``capture()`` would work, without keeping anything open.
  ///
  /// - Throws: ``VoiceFailure`` as ``capture()`` would; the default does nothing.
  func check() async throws(VoiceFailure)
}

extension AudioSource {
  public func check() async throws(VoiceFailure) {}
}

/// What a capture delivers.
public enum AudioEvent: Sendable {
  /// Audio, in order; the samples are 16 kHz mono.
  case chunk(AudioChunk)
  /// Something went wrong, but the capture goes on: a truncated file, samples that are not numbers, an overrun.
  case notice(VoiceFailure)
}

/// A running capture: the sequence of its events, and the switch to stop it.
///
/// The sequence ends when the source ends (a file) or after ``stop()``; it throws a ``VoiceFailure`` when the source
/// breaks (an unplugged microphone). It may be iterated once.
public struct AudioCapture: AsyncSequence, Sendable {
  public typealias Element = AudioEvent
  public typealias Failure = VoiceFailure

  /// Whether audio comes at its own pace, like that of a microphone; otherwise it comes as fast as it is read.
  public let isLive: Bool
  private let nextEvent: @Sendable () async throws(VoiceFailure) -> AudioEvent?
  private let stopCapture: @Sendable () -> Void

  /// Creates a capture from its two operations.
  ///
  /// - Parameters:
  ///   - isLive: Whether audio comes at its own pace.
  ///   - next: Waits for the next event; `nil` at the end. Must return `nil` soon after the task is cancelled.
  ///   - stop: Ends the capture; what was recorded before is still delivered. May be called on any thread, repeatedly.
  public init(
    isLive: Bool = true,
    next: @escaping @Sendable () async throws(VoiceFailure) -> AudioEvent?,
    stop: @escaping @Sendable () -> Void
  ) {
    self.isLive = isLive
    self.nextEvent = next
    self.stopCapture = stop
  }

  /// Stops recording and releases the device at once; what was recorded is still delivered.
  public func stop() {
    self.stopCapture()
  }

  public func makeAsyncIterator() -> Iterator {
    Iterator(nextEvent: self.nextEvent)
  }

  /// Reads the events.
  public struct Iterator: AsyncIteratorProtocol {
    let nextEvent: @Sendable () async throws(VoiceFailure) -> AudioEvent?

    public mutating func next() async throws(VoiceFailure) -> AudioEvent? {
      try await self.nextEvent()
    }

    public mutating func next(
      isolation actor: isolated (any Actor)?
    ) async throws(VoiceFailure) -> AudioEvent? {
      try await self.nextEvent()
    }
  }
}
