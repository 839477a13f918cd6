import Dispatch
import VoiceAudio
import VoiceCore

/// A recogniser with the serial queue on which everything about it happens, so that decoding never occupies the
/// threads of Swift's concurrency and a slow recogniser holds up nobody but its own context.
///
/// `@unchecked Sendable`: all variables are used on `queue` only.
final class RecognizerWorker: @unchecked Sendable {
  private let queue: DispatchQueue
  private let makeDetector: (@Sendable () throws(VoiceFailure) -> any VoiceActivityDetector)?
  private let capabilities: RecognitionCapabilities
  private let engine: any RecognitionEngine
  private var recognizer: (any Recognizer)?
  private var detector: (any VoiceActivityDetector)?
  private var driver: UtteranceDriver?
  /// Which context the driver belongs to: a call that comes too late must not reach the next one.
  private var context = 0
  private var hasFailed = false

  init(
    index: Int, engine: any RecognitionEngine,
    makeDetector: (@Sendable () throws(VoiceFailure) -> any VoiceActivityDetector)?
  ) {
    self.queue = DispatchQueue(label: "swift-voice.recognizer.\(index)", qos: .userInitiated)
    self.engine = engine
    self.capabilities = engine.capabilities
    self.makeDetector = makeDetector
  }

  /// Makes the recogniser, after dropping the previous one.
  func load() async -> VoiceFailure? {
    await self.perform { worker in
      worker.recognizer = nil
      worker.detector = nil
      worker.hasFailed = false
      do throws(VoiceFailure) {
        worker.detector = try worker.makeDetector?()
        worker.recognizer = try worker.engine.makeRecognizer()
        return nil
      } catch {
        return error
      }
    }
  }

  /// Frees the recogniser's memory unless a context is using it.
  func unloadIfIdle() async {
    await self.perform { worker in
      guard worker.driver == nil else { return }
      worker.recognizer = nil
      worker.detector = nil
    }
  }

  /// Begins a context and gives it a number, which its other calls name.
  func begin(_ options: ContextOptions, settings: PipelineSettings) async -> Result<Int, VoiceFailure> {
    await self.perform { worker in
      guard let recognizer = worker.recognizer else {
        return .failure(VoiceFailure(.engineFailed, message: "The recogniser is gone."))
      }
      let driver = UtteranceDriver(
        recognizer: recognizer, detector: worker.detector, options: options,
        capabilities: worker.capabilities, settings: settings)
      do throws(VoiceFailure) {
        try driver.begin()
        worker.driver = driver
        worker.context += 1
        return .success(worker.context)
      } catch {
        return .failure(error)
      }
    }
  }

  /// What a step of a context gave.
  struct Step: Sendable {
    var events: [RecognitionEvent] = []
    var failure: VoiceFailure?
    var adaptation: RecognizerAdaptation?
  }

  /// Hears samples; returns when they are decoded.
  func append(_ samples: [Int16], to context: Int) async -> Step {
    await self.perform { worker in
      worker.step(context) { driver, events throws(VoiceFailure) in try driver.append(samples, into: &events)
      }
    }
  }

  /// Ends the context.
  func finish(_ context: Int) async -> Step {
    await self.perform { worker in
      defer { if worker.context == context { worker.driver = nil } }
      return worker.step(context) { driver, events throws(VoiceFailure) in try driver.finish(into: &events) }
    }
  }

  /// Drops the context after everything that was asked before; then says whether the recogniser has failed.
  func cancel(_ context: Int, then done: @escaping @Sendable (_ isBroken: Bool) -> Void) {
    self.queue.async {
      if self.context == context {
        self.driver?.cancel()
        self.driver = nil
      }
      done(self.hasFailed)
    }
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

  private func perform<Value: Sendable>(
    _ body: @escaping @Sendable (RecognizerWorker) -> Value
  ) async -> Value {
    await withCheckedContinuation { continuation in
      self.queue.async { continuation.resume(returning: body(self)) }
    }
  }
}
