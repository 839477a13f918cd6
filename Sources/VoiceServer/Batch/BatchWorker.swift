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
  /// How long a job waits for a recogniser that streams leave free, before the log says so and it waits on.
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

  /// Files that belonged to no job when the server started.
  private let leftovers: [String]
  /// Jobs that were given up when the server started.
  private let givenUp: [BatchJob]

  /// Reads what the data folder keeps, and changes nothing there before ``run()``.
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
    let (kept, leftovers) = try self.store.jobs()
    self.leftovers = leftovers
    self.givenUp = self.state.withLock { $0.restored(kept) }
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
    self.tidyUp()
    await cancelWhenGracefulShutdown {
      for await phase in self.phase.values() where phase >= .ready { break }
      for await _ in self.wakeUps {
        // A job that a stop interrupts waits in the row again and must not be begun at once.
        while !Task.isCancelled, self.phase.value == .ready, let job = self.state.withLock({ $0.began() }) {
          await self.work(on: job)
        }
        for id in self.state.withLock({ $0.expired(at: self.now()) }) { self.store.remove(id) }
      }
    }
  }

  // By name: what came in since the start is not among them.
  private func tidyUp() {
    for name in self.leftovers { self.store.removeLeftover(name) }
    for job in self.givenUp {
      self.keep(job)
      self.logGivenUp(job, code: .engineFailed)
    }
  }

  private func work(on job: BatchJob) async {
    let id = job.id.uuidString.lowercased()
    var heard = BatchJob.Heard()
    let ended: BatchJob?
    do {
      try await self.recognize(job, &heard)
      ended = self.state.withLock { $0.succeeded(job.id, self.forClient(heard, of: job)) }
      self.logger.info(
        "recording recognised", metadata: ["operation": "\(id)", "words": "\(heard.words.count)"])
    } catch {
      // A server that stops takes the job up again after its next start, as if it had never begun.
      if Task.isCancelled || self.phase.value != .ready {
        ended = self.state.withLock { $0.interrupted(job.id) }
      } else {
        let failure = error as? VoiceFailure ?? VoiceFailure(.unexpected, cause: error)
        ended = self.state.withLock {
          $0.failed(job.id, self.forClient(failure, of: job), self.forClient(heard, of: job))
        }
        self.log(failure, of: ended)
      }
    }
    for notice in heard.notices {
      self.logger.notice(
        "recording has a defect",
        metadata: ["operation": "\(id)", "code": "\(notice.code)", "reason": "\(notice.message)"])
    }
    if let ended { self.keep(ended) }
  }

  private func keep(_ job: BatchJob) {
    do throws(VoiceFailure) {
      try self.store.keep(job)
      if !job.needsAudio { self.store.removeAudio(of: job.id) }
    } catch {
      self.logger.error(
        "the state of a recording cannot be kept: it will be recognised again after a restart",
        metadata: [
          "operation": "\(job.id.uuidString.lowercased())", "code": "\(error.code)",
          "reason": "\(error.message)",
        ])
    }
  }

  private func log(_ failure: VoiceFailure, of job: BatchJob?) {
    guard let job else { return }
    if job.isGivenUp {
      self.logGivenUp(job, code: failure.code)
    } else {
      let isLast = job.status == .failed
      self.logger.notice(
        isLast ? "recording failed" : "recording failed and will be tried again",
        metadata: [
          "operation": "\(job.id.uuidString.lowercased())", "code": "\(failure.code)",
          "reason": "\(failure.message)", "attempts": "\(job.attempts)",
        ])
    }
  }

  private func logGivenUp(_ job: BatchJob, code: VoiceFailure.Code) {
    self.logger.error(
      "recording given up; its audio is kept for as long as the operation",
      metadata: [
        "operation": "\(job.id.uuidString.lowercased())", "code": "\(code)", "attempts": "\(job.attempts)",
        "audio": "\(self.store.audioPath(of: job.id))",
      ])
  }

  /// The same failure as the client may see it: its own name for the recording in place of the server's path.
  private func forClient(_ failure: VoiceFailure, of job: BatchJob) -> VoiceFailure {
    var shown = failure.withoutServerPaths
    shown.message = shown.message.replacing("“\(self.store.audioPath(of: job.id))”", with: job.name)
    return shown
  }

  private func forClient(_ heard: BatchJob.Heard, of job: BatchJob) -> BatchJob.Heard {
    var shown = heard
    shown.notices = heard.notices.map { self.forClient($0, of: job) }
    return shown
  }

  /// Waits for a recogniser, for as long as that takes: a busy server is no fault of the recording.
  private func decoder(for job: BatchJob, _ options: ContextOptions) async throws -> RecognitionContext {
    while true {
      do throws(VoiceFailure) {
        return try await self.pool.beginContext(options, patience: Self.patience)
      } catch {
        guard error.code == .serverOverloaded else { throw error }
        try Task.checkCancellation()
        self.logger.notice(
          "a recording still waits for a decoder: give the server more of them",
          metadata: ["operation": "\(job.id.uuidString.lowercased())"])
      }
    }
  }

  private func recognize(_ job: BatchJob, _ heard: inout BatchJob.Heard) async throws {
    guard let app = self.apps.directory.apps[job.app] else { throw VoiceFailure(.unknownApp) }
    let context = try await self.decoder(
      for: job,
      ContextOptions(
        silence: app.segmentingSilence ?? Self.silence, understanding: self.interface(app.id)))
    defer { context.cancel() }
    // A full disk may lose the count of the tries, but not the words.
    if let begun = self.state.withLock({ $0.recognitionBegan(job.id) }) { self.keep(begun) }
    do {
      let source = PipeSource(
        path: self.store.audioPath(of: job.id),
        rawFormat: job.format.map { RawAudioFormat(sampleRate: $0.sampleRate, channels: $0.channels) },
        chunkDuration: .seconds(1))
      for try await event in try await source.capture() {
        try Task.checkCancellation()
        switch event {
        case .chunk(let chunk):
          heard.samples += Int64(chunk.samples.count)
          heard.take(try await context.append(Array(chunk.samples)))
          if let failure = context.failure { throw failure }
        case .notice(let notice): heard.notices.append(notice)
        }
      }
      try Task.checkCancellation()
    } catch {
      // What was heard before the audio broke off is not lost. A recogniser that failed has given its words already.
      if context.failure == nil, !Task.isCancelled, let rest = try? await context.finish() {
        heard.take(rest)
      }
      throw error
    }
    heard.take(try await context.finish())
    if let failure = context.failure { throw failure }
  }
}

extension BatchJob.Heard {
  fileprivate mutating func take(_ events: [RecognitionEvent]) {
    for case .word(_, _, let word) in events {
      self.words.append(
        BatchJob.Word(
          text: word.text, start: ContextOutput.milliseconds(word.start),
          end: ContextOutput.milliseconds(word.end)))
    }
  }
}
