import Dispatch
import VoiceAudio
import VoiceCore

/// A recogniser with the serial queue on which everything about it happens, so that decoding never occupies the
/// threads of Swift's concurrency and a slow recogniser holds up nobody but its own context.
actor RecognizerWorker {
  private nonisolated let executor: QueueExecutor
  private let makeDetector: (@Sendable () throws(VoiceFailure) -> any VoiceActivityDetector)?
  private let capabilities: RecognitionCapabilities
  private let engine: any RecognitionEngine
  private var recognizer: (any Recognizer)?
  private var detector: (any VoiceActivityDetector)?
  private var driver: UtteranceDriver?
  /// Which context the driver belongs to: a call that comes too late must not reach the next one.
  private var context = 0
  private var hasFailed = false

  nonisolated var unownedExecutor: UnownedSerialExecutor { self.executor.asUnownedSerialExecutor() }

  init(
    index: Int, engine: any RecognitionEngine,
    makeDetector: (@Sendable () throws(VoiceFailure) -> any VoiceActivityDetector)?
  ) {
    self.executor = QueueExecutor(label: "swift-voice.recognizer.\(index)")
    self.engine = engine
    self.capabilities = engine.capabilities
    self.makeDetector = makeDetector
  }

  /// Makes the recogniser, after dropping the previous one.
  func load() -> VoiceFailure? {
    self.recognizer = nil
    self.detector = nil
    self.hasFailed = false
    do throws(VoiceFailure) {
      self.detector = try self.makeDetector?()
      self.recognizer = try self.engine.makeRecognizer()
      return nil
    } catch {
      return error
    }
  }

  /// Frees the recogniser's memory unless a context is using it.
  func unloadIfIdle() {
    guard self.driver == nil else { return }
    self.recognizer = nil
    self.detector = nil
  }

  /// Begins a context and gives it a number, which its other calls name.
  func begin(_ options: ContextOptions, settings: PipelineSettings) -> Result<Int, VoiceFailure> {
    guard let recognizer = self.recognizer else {
      return .failure(VoiceFailure(.engineFailed, message: "The recogniser is gone."))
    }
    let driver = UtteranceDriver(
      recognizer: recognizer, detector: self.detector, options: options,
      capabilities: self.capabilities, settings: settings)
    do throws(VoiceFailure) {
      try driver.begin()
      self.driver = driver
      self.context += 1
      return .success(self.context)
    } catch {
      return .failure(error)
    }
  }

  /// What a step of a context gave.
  struct Step: Sendable {
    var events: [RecognitionEvent] = []
    var failure: VoiceFailure?
    var adaptation: RecognizerAdaptation?
  }

  /// Hears samples; returns when they are decoded.
  func append(_ samples: [Int16], to context: Int) -> Step {
    self.step(context) { driver, events throws(VoiceFailure) in try driver.append(samples, into: &events) }
  }

  /// Ends the context.
  func finish(_ context: Int) -> Step {
    defer { if self.context == context { self.driver = nil } }
    return self.step(context) { driver, events throws(VoiceFailure) in try driver.finish(into: &events) }
  }

  /// Drops the context after everything that was asked before; then says whether the recogniser has failed.
  nonisolated func cancel(_ context: Int, then done: @escaping @Sendable (_ isBroken: Bool) -> Void) {
    self.executor.queue.async { done(self.assumeIsolated { $0.drop(context) }) }
  }

  private func drop(_ context: Int) -> Bool {
    if self.context == context {
      self.driver?.cancel()
      self.driver = nil
    }
    return self.hasFailed
  }

  private func step(
    _ context: Int, _ body: (UtteranceDriver, inout [RecognitionEvent]) throws(VoiceFailure) -> Void
  ) -> Step {
    guard self.context == context, let driver = self.driver else { return Step() }
    var step = Step()
    do throws(VoiceFailure) {
      try body(driver, &step.events)
    } catch {
      step.failure = error
      driver.abandon(into: &step.events)
      self.driver = nil
      self.hasFailed = true
    }
    step.adaptation = driver.adaptation
    return step
  }
}

/// Runs the calls of an actor on a serial queue, in their order.
private final class QueueExecutor: SerialExecutor {
  let queue: DispatchQueue

  init(label: String) { self.queue = DispatchQueue(label: label, qos: .userInitiated) }

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    self.queue.async { job.runSynchronously(on: self.asUnownedSerialExecutor()) }
  }

  func checkIsolated() { dispatchPrecondition(condition: .onQueue(self.queue)) }
}
