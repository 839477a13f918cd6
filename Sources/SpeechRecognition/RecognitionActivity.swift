import SpeechPipeline
import Synchronization
import VoiceAudio
import VoiceCore

/// Records from a source and has it recognised, from its start to its end.
final class RecognitionActivity: Sendable {
  /// What an activity tells, in order.
  enum Report: Sendable {
    case opened
    case heard([RecognitionEvent])
    case noticed(VoiceFailure)
    case captureEnded(VoiceFailure?)
    case recognizerFailed(VoiceFailure)
  }

  private struct State: Sendable {
    var capture: AudioCapture?
    var isStopped = false
    var isAbandoned = false
  }

  private let source: any AudioSource
  private let engines: EnginePool
  private let report: @Sendable (Report) -> Void
  private let state = Mutex(State())

  init(source: any AudioSource, engines: EnginePool, report: @escaping @Sendable (Report) -> Void) {
    self.source = source
    self.engines = engines
    self.report = report
  }

  /// Ends recording; what was recorded is still recognised.
  func stop() {
    let capture = self.state.withLock { state in
      state.isStopped = true
      return state.capture
    }
    capture?.stop()
  }

  /// Ends recording; nothing more is reported.
  func abandon() {
    self.state.withLock { $0.isAbandoned = true }
    self.stop()
  }

  private var isAbandoned: Bool { self.state.withLock { $0.isAbandoned } }

  /// Returns when everything is reported, the source is free and the recogniser is back.
  func run() async {
    guard !self.isAbandoned else { return }
    let capture: AudioCapture
    do throws(VoiceFailure) {
      capture = try await self.source.capture()
    } catch {
      return self.report(.captureEnded(error))
    }
    let isStopped = self.state.withLock { state in
      state.capture = capture
      return state.isStopped
    }
    defer { self.state.withLock { $0.capture = nil } }
    if isStopped { capture.stop() }
    self.report(.opened)
    do throws(VoiceFailure) {
      // The source keeps what is said while a recogniser is loaded.
      var contexts = try await ContextChain(engines: self.engines)
      defer { contexts.cancel() }
      try await self.hear(capture, with: &contexts)
    } catch {
      capture.stop()
      if !self.isAbandoned { self.report(.recognizerFailed(error)) }
    }
  }

  /// - Throws: What the recogniser throws.
  private func hear(_ capture: AudioCapture, with contexts: inout ContextChain) async throws(VoiceFailure) {
    var feed = try SampleFeed(sampleRate: self.engines.sampleRate)
    var iterator = capture.makeAsyncIterator()
    var end: VoiceFailure?
    while !self.isAbandoned {
      let event: AudioEvent?
      do throws(VoiceFailure) {
        event = try await iterator.next()
      } catch {
        end = error
        break
      }
      guard let event else { break }
      switch event {
      case .chunk(let chunk):
        while let silence = feed.silence(before: chunk) {
          guard !self.isAbandoned else { return }
          try await contexts.append(silence, told: self.tell)
        }
        try await contexts.append(feed.samples(of: chunk), told: self.tell)
      case .notice(let failure):
        self.report(.noticed(failure))
      }
    }
    capture.stop()
    guard !self.isAbandoned else { return }
    self.report(.captureEnded(end))
    let rest = feed.finish()
    if !rest.isEmpty { try await contexts.append(rest, told: self.tell) }
    try await contexts.finish(told: self.tell)
  }

  private func tell(_ step: ContextChain.Step) {
    if !step.events.isEmpty { self.report(.heard(step.events)) }
    if let failure = step.repaired { self.report(.noticed(failure)) }
  }
}

/// Makes of chunks what a recogniser hears: at its rate, and with silence in place of audio that is missing, so that times
/// stay linear.
private struct SampleFeed: ~Copyable {
  private let resampler: Resampler?
  private var position: Int64?

  /// No more silence than this is made at a time.
  private static let longestSilence: Int64 = 16_000

  init(sampleRate: Int) throws(VoiceFailure) {
    let rate = AudioFormat.recognition.sampleRate
    self.resampler = sampleRate == rate ? nil : try Resampler(from: rate, to: sampleRate)
  }

  /// A piece of the silence that stands for what is missing before a chunk, until nothing is missing.
  mutating func silence(before chunk: AudioChunk) -> [Int16]? {
    let position = self.position ?? chunk.position
    guard position < chunk.position else { return nil }
    let length = min(chunk.position - position, Self.longestSilence)
    self.position = position + length
    return self.converted([Int16](repeating: 0, count: Int(length)))
  }

  mutating func samples(of chunk: AudioChunk) -> [Int16] {
    self.position = chunk.endPosition
    return self.converted(chunk.samples)
  }

  /// What the conversion kept back.
  func finish() -> [Int16] {
    var rest: [Float] = []
    self.resampler?.finish(into: &rest)
    return rest.map(Self.sample)
  }

  private func converted(_ samples: [Int16]) -> [Int16] {
    guard let resampler = self.resampler else { return samples }
    var result: [Float] = []
    samples.map(Float.init).withUnsafeBufferPointer { resampler.process($0, into: &result) }
    return result.map(Self.sample)
  }

  private static func sample(_ value: Float) -> Int16 {
    Int16(min(max(value.rounded(), -32_768), 32_767))
  }
}
