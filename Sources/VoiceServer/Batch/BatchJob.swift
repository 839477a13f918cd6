import Foundation
import GRPCCore
import VoiceCore

/// A recording on its way to its words, as it is kept on the disk.
struct BatchJob: Codable, Hashable, Sendable {
  /// Where a job stands.
  enum Status: String, Codable, Hashable, Sendable {
    case queued, processing, done, failed
  }

  /// A word that was recognised.
  struct Word: Codable, Hashable, Sendable {
    var text: String
    /// From the start of the recording, in milliseconds.
    var start: Int32
    var end: Int32
  }

  /// What the samples are, unless a header says so.
  struct Format: Codable, Hashable, Sendable {
    var sampleRate: Int
    var channels: Int
  }

  var id: UUID
  /// What the client called it; may be empty.
  var reference: String
  var project: UUID
  var app: UUID
  var deviceID: String
  var language: String
  /// `nil` for audio with a header.
  var format: Format?
  /// When it came, in seconds since 1970-01-01T00:00:00 UTC.
  var createdAt: Int64
  var status = Status.queued
  /// How often recognition began.
  var attempts = 0
  var words: [Word] = []
  /// What went wrong, safe to show.
  var error = ""
  /// The length of the audio, once it was heard.
  var milliseconds: Int64 = 0
}

/// The jobs of a server and their order.
///
/// A value without input or output of its own: jobs come, are begun one after the other, and end.
struct BatchJobs: Sendable {
  /// The most jobs that may wait.
  static let waitingLimit = 1000
  /// How long a job is remembered, in seconds.
  static let lifetime: Int64 = 7 * 86_400
  /// A job whose recognition began that often and never ended is given up: it may be what ends the server.
  static let attemptLimit = 3

  private var jobs: [UUID: BatchJob] = [:]
  private var waiting: [UUID] = []

  /// How many jobs wait.
  var waitingCount: Int { self.waiting.count }

  /// Takes the jobs that were kept over a restart; those that had not ended are run again, oldest first.
  ///
  /// - Returns: The jobs that changed.
  mutating func restored(_ kept: [BatchJob]) -> [BatchJob] {
    var changed: [BatchJob] = []
    for var job in kept.sorted(by: { ($0.createdAt, $0.id.uuidString) < ($1.createdAt, $1.id.uuidString) }) {
      switch job.status {
      case .done, .failed: break
      case .processing where job.attempts >= Self.attemptLimit:
        job.status = .failed
        job.error = Self.text(
          VoiceFailure(
            .engineFailed,
            message: "Recognition began \(job.attempts) times and never ended. Check the recording."))
        changed.append(job)
      case .queued, .processing:
        job.status = .queued
        self.waiting.append(job.id)
      }
      self.jobs[job.id] = job
    }
    return changed
  }

  /// Takes a new job.
  ///
  /// - Throws: ``Refusal`` if too many wait.
  mutating func came(_ job: BatchJob) throws(Refusal) {
    guard self.waiting.count < Self.waitingLimit else {
      throw Refusal(
        .serverOverloaded, "\(Self.waitingLimit) recordings are waiting, the limit. Try again later.",
        status: .resourceExhausted, retryAfter: .seconds(60))
    }
    self.jobs[job.id] = job
    self.waiting.append(job.id)
  }

  /// Begins the job that waits for longest.
  mutating func began() -> BatchJob? {
    while !self.waiting.isEmpty {
      let id = self.waiting.removeFirst()
      guard var job = self.jobs[id] else { continue }
      job.status = .processing
      job.attempts += 1
      self.jobs[id] = job
      return job
    }
    return nil
  }

  /// Ends a job with its words.
  mutating func succeeded(_ id: UUID, _ words: [BatchJob.Word], milliseconds: Int64) -> BatchJob? {
    guard var job = self.jobs[id] else { return nil }
    job.status = .done
    job.words = words
    job.milliseconds = milliseconds
    self.jobs[id] = job
    return job
  }

  /// Ends a job without them.
  mutating func failed(_ id: UUID, _ failure: VoiceFailure) -> BatchJob? {
    guard var job = self.jobs[id] else { return nil }
    job.status = .failed
    job.error = Self.text(failure)
    self.jobs[id] = job
    return job
  }

  /// Drops a job that could not be kept.
  mutating func dropped(_ id: UUID) {
    self.jobs[id] = nil
    self.waiting.removeAll { $0 == id }
  }

  /// Forgets the jobs that are too old.
  ///
  /// - Returns: Their ids.
  mutating func expired(at now: Int64) -> [UUID] {
    let old = self.jobs.values.filter { job in
      (job.status == .done || job.status == .failed) && job.createdAt < now - Self.lifetime
    }
    for job in old { self.jobs[job.id] = nil }
    return old.map(\.id)
  }

  /// The job of a project with an id.
  func job(_ id: UUID, of project: UUID) -> BatchJob? {
    self.jobs[id].flatMap { $0.project == project ? $0 : nil }
  }

  /// The latest job of a project with a reference.
  func job(reference: String, of project: UUID) -> BatchJob? {
    self.jobs.values.filter { $0.reference == reference && $0.project == project }
      .max { ($0.createdAt, $0.id.uuidString) < ($1.createdAt, $1.id.uuidString) }
  }

  private static func text(_ failure: VoiceFailure) -> String { "\(failure.message) [\(failure.code)]" }
}
