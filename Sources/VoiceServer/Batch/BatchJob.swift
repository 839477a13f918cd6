import Foundation
import GRPCCore
import VoiceAudio
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
  /// What went wrong, safe to show; a job that is done may have it too.
  var error = ""
  /// The length of the audio that was heard.
  var milliseconds: Int64 = 0

  /// Whether all tries are used up: then the audio is kept for as long as the job, so that somebody can look into it.
  var isGivenUp: Bool { self.status == .failed && self.attempts >= BatchJobs.attemptLimit }

  /// Whether the audio is still wanted.
  var needsAudio: Bool {
    switch self.status {
    case .queued, .processing: true
    case .failed: self.isGivenUp
    case .done: false
    }
  }

  /// What to call the recording to its client, who does not know the server's files.
  var name: String { "“\(self.reference.isEmpty ? self.id.uuidString.lowercased() : self.reference)”" }
}

extension BatchJob {
  /// What one try gave.
  struct Heard: Hashable, Sendable {
    var words: [Word] = []
    /// How many samples were recognised, at the rate of recognition.
    var samples: Int64 = 0
    /// What is wrong with the audio, though the recognition went on.
    var notices: [VoiceFailure] = []

    var milliseconds: Int64 { self.samples * 1000 / Int64(AudioFormat.recognition.sampleRate) }
  }
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
        job.error = Self.text([
          VoiceFailure(
            .engineFailed,
            message: "Recognition began \(job.attempts) times and never ended. Check the recording.")
        ])
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

  /// Takes the job that waits for longest out of the row; it still waits for a recogniser.
  mutating func began() -> BatchJob? {
    while !self.waiting.isEmpty {
      let id = self.waiting.removeFirst()
      if let job = self.jobs[id] { return job }
    }
    return nil
  }

  /// The recognition of a job begins; from now on it may be what ends the server.
  mutating func recognitionBegan(_ id: UUID) -> BatchJob? {
    guard var job = self.jobs[id] else { return nil }
    job.status = .processing
    job.attempts += 1
    self.jobs[id] = job
    return job
  }

  /// A job did not end because the server stops: the try does not count.
  mutating func interrupted(_ id: UUID) -> BatchJob? {
    guard var job = self.jobs[id] else { return nil }
    if job.status == .processing { job.attempts = max(0, job.attempts - 1) }
    job.status = .queued
    self.jobs[id] = job
    self.waiting.insert(id, at: 0)
    return job
  }

  /// Ends a job with its words.
  mutating func succeeded(_ id: UUID, _ heard: BatchJob.Heard) -> BatchJob? {
    guard var job = self.jobs[id] else { return nil }
    job.status = .done
    job.words = heard.words
    job.milliseconds = heard.milliseconds
    job.error = Self.text(heard.notices)
    self.jobs[id] = job
    return job
  }

  /// A try went wrong: if another may help, the job waits for it; else it ends with the words that were heard.
  mutating func failed(
    _ id: UUID, _ failure: VoiceFailure, _ heard: BatchJob.Heard = BatchJob.Heard()
  ) -> BatchJob? {
    guard var job = self.jobs[id] else { return nil }
    // What fails before the recognition begins counts too, or it would be tried for ever.
    if job.status == .queued { job.attempts += 1 }
    // The tries need not get equally far.
    if heard.words.count >= job.words.count {
      job.words = heard.words
      job.milliseconds = heard.milliseconds
    }
    job.error = Self.text(heard.notices + [failure])
    if failure.recovery == .retry, job.attempts < Self.attemptLimit {
      job.status = .queued
      self.waiting.append(id)
    } else {
      job.status = .failed
    }
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

  private static func text(_ failures: [VoiceFailure]) -> String {
    failures.map(\.description).joined(separator: " ")
  }
}
