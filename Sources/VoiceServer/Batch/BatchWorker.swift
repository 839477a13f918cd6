import Foundation
import Logging
import ServiceLifecycle
import SpeechMessages
import SpeechPipeline
import Synchronization
import VoiceAudio
import VoiceCore

/// Recognises recordings in the background, one after the other, with the recognisers of the streams.
///
/// What came before a restart is done after it; a job that was under way begins anew.
final class BatchWorker: Service {
  /// How long a job waits for a recogniser that streams leave free.
  private static let patience: Duration = .seconds(3600)
  /// The pause that ends a segment, so that words come out while a recording is heard.
  private static let silence: Duration = .milliseconds(720)

  let store: BatchStore
  private let state = Mutex(BatchJobs())
  private let apps: AppRegistry
  private let pool: RecognizerPool
  private let phase: ServerPhase
  private let now: @Sendable () -> Int64
  private let interface: @Sendable (UUID) -> ContextUnderstanding?
  private let logger: Logger
  private let wakeUps: AsyncStream<Void>
  private let wakeUp: AsyncStream<Void>.Continuation

  /// Reads what the data folder keeps.
  ///
  /// - Throws: ``VoiceFailure`` with `server.data-folder.invalid` or `server.data-folder.not-writable`.
  init(
    dataFolder: String, apps: AppRegistry, pool: RecognizerPool, phase: ServerPhase,
    now: @escaping @Sendable () -> Int64, interface: @escaping @Sendable (UUID) -> ContextUnderstanding?,
    logger: Logger
  ) throws(VoiceFailure) {
    self.store = BatchStore(dataFolder: dataFolder)
    self.apps = apps
    self.pool = pool
    self.phase = phase
    self.now = now
    self.interface = interface
    self.logger = logger
    (self.wakeUps, self.wakeUp) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    let kept = try self.store.jobs()
    for job in self.state.withLock({ $0.restored(kept) }) {
      try self.store.keep(job)
      self.store.removeAudio(of: job.id)
    }
    self.wakeUp.yield()
  }

  /// Takes a job whose audio is complete.
  ///
  /// - Throws: ``Refusal`` if too many wait or if it cannot be kept.
  func submit(_ job: BatchJob) throws(Refusal) {
    try self.state.withLock { state throws(Refusal) in try state.came(job) }
    do throws(VoiceFailure) {
      try self.store.keep(job)
    } catch {
      self.state.withLock { $0.dropped(job.id) }
      throw Refusal(error)
    }
    self.wakeUp.yield()
  }

  /// The job of a project with an id or, without one, with a reference.
  func job(_ id: UUID?, reference: String, of project: UUID) -> BatchJob? {
    self.state.withLock { state in
      if let id { state.job(id, of: project) } else { state.job(reference: reference, of: project) }
    }
  }

  /// Works until the server stops.
  func run() async throws {
    await cancelWhenGracefulShutdown {
      for await phase in self.phase.values() where phase >= .ready { break }
      for await _ in self.wakeUps {
        while !Task.isCancelled, let job = self.state.withLock({ $0.began() }) {
          await self.work(on: job)
        }
        for id in self.state.withLock({ $0.expired(at: self.now()) }) { self.store.remove(id) }
      }
    }
  }

  private func work(on job: BatchJob) async {
    let id = job.id.uuidString.lowercased()
    let ended: BatchJob?
    do {
      try self.store.keep(job)
      let (words, milliseconds) = try await self.recognize(job)
      ended = self.state.withLock { $0.succeeded(job.id, words, milliseconds: milliseconds) }
      self.logger.info("recording recognised", metadata: ["operation": "\(id)", "words": "\(words.count)"])
    } catch {
      // A server that stops leaves the job as it is, to begin it anew.
      guard !Task.isCancelled, self.phase.value == .ready else { return }
      let failure = error as? VoiceFailure ?? VoiceFailure(.unexpected, cause: error)
      self.logger.notice("recording failed", metadata: ["operation": "\(id)", "code": "\(failure.code)"])
      ended = self.state.withLock { $0.failed(job.id, failure) }
    }
    guard let ended else { return }
    do throws(VoiceFailure) {
      try self.store.keep(ended)
      self.store.removeAudio(of: job.id)
    } catch {
      self.logger.error(
        "the result of a recording cannot be kept: it will be recognised again after a restart",
        metadata: ["operation": "\(id)", "code": "\(error.code)", "reason": "\(error.message)"])
    }
  }

  private func recognize(_ job: BatchJob) async throws -> (words: [BatchJob.Word], milliseconds: Int64) {
    guard let app = self.apps.directory.apps[job.app] else { throw VoiceFailure(.unknownApp) }
    let source = PipeSource(
      path: self.store.audioPath(of: job.id),
      rawFormat: job.format.map { RawAudioFormat(sampleRate: $0.sampleRate, channels: $0.channels) },
      chunkDuration: .seconds(1))
    let capture = try await source.capture()
    let context = try await self.pool.beginContext(
      ContextOptions(
        silence: app.segmentingSilence ?? Self.silence, understanding: self.interface(app.id)),
      patience: Self.patience)
    defer { context.cancel() }
    var words: [BatchJob.Word] = []
    var samples = 0
    func take(_ events: [RecognitionEvent]) {
      for case .word(_, _, let word) in events {
        words.append(
          BatchJob.Word(
            text: word.text, start: ContextOutput.milliseconds(word.start),
            end: ContextOutput.milliseconds(word.end)))
      }
    }
    for try await event in capture {
      try Task.checkCancellation()
      guard case .chunk(let chunk) = event else { continue }
      samples += chunk.samples.count
      take(try await context.append(Array(chunk.samples)))
      if let failure = context.failure { throw failure }
    }
    try Task.checkCancellation()
    take(try await context.finish())
    if let failure = context.failure { throw failure }
    return (words, Int64(samples) * 1000 / Int64(AudioFormat.recognition.sampleRate))
  }
}
