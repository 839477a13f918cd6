import Dispatch
import Synchronization
public import VoiceCore

/// The bridge from a device's capture thread to the task that reads an ``AudioCapture``.
///
/// The capture thread calls ``write(_:)``, which neither waits nor allocates; conversion to 16 kHz mono happens on
/// the reader's side. When the reader is more than `bufferDuration` behind, audio is lost: the reader gets an
/// `audio.input.overrun` notice with the length, and positions skip as much.
///
/// Use it to make an ``AudioSource`` of a device that the toolkit does not know:
///
/// ```swift
/// let input = try LiveInput(sampleRate: 48_000, channels: 2, onStop: { device.stop() })
/// device.onSamples = { input.write($0) }
/// return input.makeCapture()
/// ```
public final class LiveInput: Sendable {
  private struct Reader: ~Copyable {
    var converter: PCMConverter
    var events: [AudioEvent] = []
    var samples: [Int16] = []
    var end: Ending = .open
    var waiter: CheckedContinuation<Bool, Never>?
  }

  private enum Ending {
    case open
    case ended(VoiceFailure?)
    case delivered
  }

  private let ring: SampleRing
  private let channels: Int
  private let sampleRate: Int
  private let reader: Mutex<Reader>
  private let wakeUp: WakeUp
  private let onStop: @Sendable () -> Void

  /// Creates the bridge.
  ///
  /// - Parameters:
  ///   - sampleRate: The device's rate in Hz.
  ///   - channels: The device's interleaved channels.
  ///   - bufferDuration: How far the reader may be behind before audio is lost.
  ///   - chunkDuration: How long each delivered chunk is.
  ///   - onStop: Stops the device; called on any thread, perhaps repeatedly, and must not wait. The device then
  ///     calls ``end(_:)``.
  /// - Throws: ``VoiceFailure`` with the code `audio.format.not-supported`.
  public init(
    sampleRate: Int,
    channels: Int,
    bufferDuration: Duration = .seconds(30),
    chunkDuration: Duration = .milliseconds(100),
    onStop: @escaping @Sendable () -> Void
  ) throws(VoiceFailure) {
    let format = RawAudioFormat(sampleRate: sampleRate, channels: channels)
    let converter = try PCMConverter(format: format, chunkDuration: chunkDuration)
    let duration = min(max(bufferDuration, .milliseconds(10)), .seconds(60))
    self.ring = SampleRing(
      capacity: Int(AudioChunk.sample(at: duration, sampleRate: sampleRate)) * channels)
    self.channels = channels
    self.sampleRate = sampleRate
    self.reader = Mutex(Reader(converter: converter))
    self.onStop = onStop
    // Made last, since a dispatch source must not be freed before it was activated.
    self.wakeUp = WakeUp()
    self.wakeUp.activate { [weak self] in self?.resumeReader() }
  }

  deinit {
    self.wakeUp.cancel()
  }

  /// Takes samples from the capture thread: whole frames, interleaved.
  public func write(_ samples: UnsafeBufferPointer<Int16>) {
    self.ring.write(samples)
    self.wakeUp.signal()
  }

  /// Tells that the device lost frames; for the capture thread.
  public func skip(frames: Int) {
    self.ring.skip(frames.multipliedReportingOverflow(by: self.channels).partialValue)
  }

  /// Tells that the device was taken away for a while, by something else or for another device, and how many frames are missing; for the capture thread.
  ///
  /// The reader gets an `audio.input.interrupted` notice with the length where the audio goes on, and positions skip as much.
  public func interrupted(frames: Int) {
    self.ring.skip(frames.multipliedReportingOverflow(by: self.channels).partialValue, isInterruption: true)
  }

  /// Ends the capture after what was recorded; with a failure if the device broke. For the capture thread, which
  /// must not write afterwards.
  public func end(_ failure: VoiceFailure? = nil) {
    self.ring.finish()
    self.reader.withLock { reader in
      guard case .open = reader.end else { return }
      reader.end = .ended(failure)
    }
    self.resumeReader()
  }

  /// The capture to hand to the reader; dropping it stops the device.
  public func makeCapture() -> AudioCapture {
    let handle = Handle(input: self)
    return AudioCapture(
      next: { () async throws(VoiceFailure) -> AudioEvent? in try await handle.input.next() },
      stop: { handle.input.onStop() })
  }

  private final class Handle: Sendable {
    let input: LiveInput

    init(input: LiveInput) {
      self.input = input
    }

    deinit { self.input.onStop() }
  }

  private func resumeReader() {
    let waiter = self.reader.withLock { reader in
      defer { reader.waiter = nil }
      return reader.waiter
    }
    waiter?.resume(returning: true)
  }

  private func next() async throws(VoiceFailure) -> AudioEvent? {
    while !Task.isCancelled {
      if let result = self.reader.withLock({ self.take(from: &$0) }) { return try result.get() }
      let isOnlyReader = await withTaskCancellationHandler {
        await withCheckedContinuation { continuation in
          let answer = self.reader.withLock { reader -> Bool? in
            // A second reader would wait for ever: it gets the end instead.
            guard reader.waiter == nil else { return false }
            self.drain(into: &reader)
            let isOpen = if case .open = reader.end { true } else { false }
            if !reader.events.isEmpty || !isOpen || Task.isCancelled { return true }
            reader.waiter = continuation
            return nil
          }
          if let answer { continuation.resume(returning: answer) }
        }
      } onCancel: {
        self.resumeReader()
      }
      guard isOnlyReader else { return nil }
    }
    return nil
  }

  private func take(from reader: inout Reader) -> Result<AudioEvent?, VoiceFailure>? {
    self.drain(into: &reader)
    if !reader.events.isEmpty { return .success(reader.events.removeFirst()) }
    switch reader.end {
    case .open:
      return nil
    case .ended(let failure):
      reader.end = .delivered
      reader.events = reader.converter.finish().map { .chunk($0) }
      guard reader.events.isEmpty else {
        // The rest of the last chunk comes before the failure.
        reader.end = .ended(failure)
        return .success(reader.events.removeFirst())
      }
      return failure.map { .failure($0) } ?? .success(nil)
    case .delivered:
      return .success(nil)
    }
  }

  private func drain(into reader: inout Reader) {
    while let missing = self.ring.read(into: &reader.samples) {
      if missing > 0 {
        let frames = Int64(missing / self.channels)
        reader.events += reader.converter.skip(frames: frames).map { .chunk($0) }
        let interrupted = min(frames, Int64(self.ring.interruptedCount / self.channels))
        self.report(.inputInterrupted, frames: interrupted, into: &reader)
        self.report(.inputOverrun, frames: frames - interrupted, into: &reader)
      }
      reader.events += reader.samples.withUnsafeBufferPointer { reader.converter.append(samples: $0) }
        .map { .chunk($0) }
      reader.samples.removeAll(keepingCapacity: true)
    }
  }

  private func report(_ code: VoiceFailure.Code, frames: Int64, into reader: inout Reader) {
    guard frames > 0 else { return }
    let length = AudioChunk.time(ofSample: frames, sampleRate: self.sampleRate).inSeconds
    let message =
      code == .inputInterrupted
      ? "The microphone was taken away for a while: \(length) are missing."
      : "The machine was too slow: \(length) of the microphone are missing."
    reader.events.append(.notice(VoiceFailure(code, message: message)))
  }
}

/// How a thread that must not wait wakes a task that does: `signal` is an atomic addition.
// @unchecked: dispatch sources may be used on any thread, which their declaration on Linux does not say.
private struct WakeUp: @unchecked Sendable {
  private let source = DispatchSource.makeUserDataAddSource(queue: .global())

  func activate(_ handler: @escaping @Sendable () -> Void) {
    self.source.setEventHandler(handler: handler)
    self.source.activate()
  }

  func signal() {
    self.source.add(data: 1)
  }

  func cancel() {
    self.source.cancel()
  }
}
