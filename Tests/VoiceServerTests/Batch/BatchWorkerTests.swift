import Foundation
import Logging
import SpeechPipeline
import SpeechProtocol
import Synchronization
import Testing
import VoiceCore
import VoiceTesting

@testable import VoiceServer

@Suite struct BatchWorkerTests {
  private let folder: Fixture.Folder
  private let log = CapturingLog()

  init() throws {
    self.folder = try Fixture.Folder()
  }

  private func worker(
    _ pool: RecognizerPool, dataFolder: String? = nil
  ) throws -> BatchWorker {
    let phase = ServerPhase()
    phase.advance(to: .ready)
    let folder = dataFolder ?? self.folder.path
    return try BatchWorker(
      dataFolder: folder, apps: AppRegistry(Fixture.configuration(dataFolder: folder)), pool: pool,
      phase: phase,
      now: { 1_700_000_000 }, interface: { _ in nil }, logger: self.log.logger)
  }

  private static func job(_ change: (inout BatchJob) -> Void = { _ in }) -> BatchJob {
    var job = BatchJob(
      id: UUID(), reference: "", project: ServerConfiguration.App.demo.project,
      app: ServerConfiguration.App.demo.id, deviceID: "", language: "en-US",
      format: .init(sampleRate: 16_000, channels: 1), createdAt: 1_700_000_000)
    change(&job)
    return job
  }

  private static func bytes(_ samples: [Int16]) -> Data {
    Data(samples.flatMap { [UInt8(truncatingIfNeeded: $0), UInt8(truncatingIfNeeded: $0 >> 8)] })
  }

  /// Puts a job into the data folder, as one that waits.
  private func keep(_ job: BatchJob, _ audio: Data) throws {
    let store = BatchStore(dataFolder: self.folder.path)
    let spool = try store.makeSpool(for: job.id)
    try spool.append(audio)
    try spool.finish()
    try store.keep(job)
  }

  private func kept(_ id: UUID) throws -> BatchJob? {
    try BatchStore(dataFolder: self.folder.path).jobs().jobs.first { $0.id == id }
  }

  private func hasAudio(_ id: UUID) -> Bool {
    FileManager.default.fileExists(atPath: BatchStore(dataFolder: self.folder.path).audioPath(of: id))
  }

  /// Lets a worker run until a job has ended.
  private func run(_ worker: BatchWorker, until id: UUID) async throws -> BatchJob {
    let task = Task { try await worker.run() }
    defer { task.cancel() }
    while true {
      if let job = worker.job(id, reference: "", of: ServerConfiguration.App.demo.project),
        job.status == .done || job.status == .failed
      {
        task.cancel()
        _ = await task.result
        return job
      }
      await Task.yield()
    }
  }

  @Test func anOrderlyStopCostsNoTry() async throws {
    let job = Self.job()
    try self.keep(job, Self.bytes(RunEngine.audio([1, 2])))
    for _ in 0..<BatchJobs.attemptLimit {
      let (heard, hears) = AsyncStream<Void>.makeStream()
      let gate = DispatchSemaphore(value: 0)
      let engine = RunEngine(hears: {
        hears.yield()
        gate.wait()
        gate.signal()
      })
      let worker = try self.worker(RecognizerPool(engine: engine, size: 1))
      let task = Task { try await worker.run() }
      for await _ in heard { break }
      #expect(try self.kept(job.id)?.status == .processing)
      task.cancel()
      gate.signal()
      _ = await task.result
      #expect(try self.kept(job.id) == job)
    }
    let ended = try await self.run(
      try self.worker(RecognizerPool(engine: RunEngine(), size: 1)), until: job.id)
    #expect(ended.status == .done)
    #expect(ended.words.map(\.text) == ["w1", "w2"])
    #expect(ended.error == "")
  }

  @Test func aJobWaitsForADecoderForAsLongAsItTakes() async throws {
    let job = Self.job()
    try self.keep(job, Self.bytes(RunEngine.audio([3])))
    let clock = TestClock()
    let pool = RecognizerPool(engine: RunEngine(), size: 1, clock: clock)
    try await pool.load()
    let holder = try await pool.beginContext(ContextOptions(), patience: .zero)
    let worker = try self.worker(pool)
    async let ended = self.run(worker, until: job.id)
    for _ in 0..<5 {
      // A recording that fails is awaited by nobody, and nothing sets a timer any more.
      let deadline = await clock.nextTimer()
      #expect(try self.kept(job.id) == job)
      clock.advance(to: deadline)
    }
    await clock.nextTimer()
    holder.cancel()
    #expect(try await ended.words.map(\.text) == ["w3"])
    #expect(try await ended.attempts == 1)
  }

  @Test func theWordsBeforeAFailureAreKept() async throws {
    let job = Self.job()
    try self.keep(job, Self.bytes(RunEngine.audio([1, 2, 9], silence: 1000)))
    let worker = try self.worker(RecognizerPool(engine: RunEngine(failingWord: "w9"), size: 1))
    let ended = try await self.run(worker, until: job.id)
    #expect(ended.status == .failed)
    #expect(ended.words.map(\.text).starts(with: ["w1", "w2"]))
    #expect(ended.attempts == BatchJobs.attemptLimit)
    #expect(ended.error.hasSuffix("[speech.engine.failed]"))
    // Somebody may want to know what it is that the recogniser cannot hear.
    #expect(self.hasAudio(job.id))
    #expect(self.log.text.contains("error recording given up"))
    #expect(Speechly_Slu_V1_Operation(ended).transcripts.map(\.word).starts(with: ["w1", "w2"]))
  }

  @Test func aFailureThatPassesIsTriedAgain() async throws {
    let job = Self.job()
    try self.keep(job, Self.bytes(RunEngine.audio([4])))
    let failures = Mutex(2)
    let engine = RunEngine(hears: { () throws(VoiceFailure) in
      let fails = failures.withLock { left in
        left -= 1
        return left >= 0
      }
      if fails { throw VoiceFailure(.engineFailed) }
    })
    let ended = try await self.run(try self.worker(RecognizerPool(engine: engine, size: 1)), until: job.id)
    #expect(ended.status == .done)
    #expect(ended.words.map(\.text) == ["w4"])
    #expect(ended.error == "")
    #expect(!self.hasAudio(job.id))
  }

  @Test func saysThatARecordingWasCutOff() async throws {
    let job = Self.job {
      $0.reference = "call-7"
      $0.format = nil
    }
    let audio = Self.bytes(RunEngine.audio([5]))
    func number(_ value: Int, _ count: Int) -> [UInt8] {
      (0..<count).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
    }
    // The header declares twice the audio that there is.
    var header = Array("RIFF".utf8) + number(36 + 2 * audio.count, 4) + Array("WAVEfmt ".utf8) + number(16, 4)
    header +=
      number(1, 2) + number(1, 2) + number(16_000, 4) + number(32_000, 4) + number(2, 2) + number(16, 2)
    header += Array("data".utf8) + number(2 * audio.count, 4)
    try self.keep(job, Data(header) + audio)
    let worker = try self.worker(RecognizerPool(engine: RunEngine(), size: 1))
    let ended = try await self.run(worker, until: job.id)
    #expect(ended.status == .done)
    #expect(ended.words.map(\.text) == ["w5"])
    #expect(ended.error.hasPrefix("“call-7” "), "\(ended.error)")
    #expect(ended.error.hasSuffix("[audio.file.truncated]"), "\(ended.error)")
    #expect(!ended.error.contains(self.folder.path))
    #expect(self.log.text.contains("audio.file.truncated"))
  }

  @Test func errorsNameTheOperationAndNotTheServersPath() async throws {
    let job = Self.job { $0.format = nil }
    try self.keep(job, Data("RIFF\u{10}\0\0\0WAVEdata\u{8}\0\0\0aaaaaaaa".utf8))
    let worker = try self.worker(RecognizerPool(engine: RunEngine(), size: 1))
    let ended = try await self.run(worker, until: job.id)
    #expect(ended.status == .failed)
    #expect(ended.error.contains(job.id.uuidString.lowercased()))
    #expect(!ended.error.contains(self.folder.path), "\(ended.error)")
    #expect(!ended.error.contains(".audio"), "\(ended.error)")
  }

  @Test func whatIsBeingTakenInSurvivesAnotherLookAtTheFolder() async throws {
    let store = BatchStore(dataFolder: self.folder.path)
    let id = UUID()
    let spool = try store.makeSpool(for: id)
    try spool.append(Self.bytes([1, 2, 3]))
    let pool = RecognizerPool(engine: RunEngine(), size: 1)
    let worker = try self.worker(pool)
    #expect(self.hasAudio(id))
    // Only a server that has the folder to itself tidies up, and it leaves alone what came since it started.
    let newID = UUID()
    let newSpool = try store.makeSpool(for: newID)
    let task = Task { try await worker.run() }
    task.cancel()
    _ = await task.result
    #expect(!self.hasAudio(id))
    #expect(self.hasAudio(newID))
    withExtendedLifetime((spool, newSpool)) {}
  }

  @Test func aJobThatIsGivenUpAtTheStartKeepsItsAudio() async throws {
    let job = Self.job {
      $0.status = .processing
      $0.attempts = BatchJobs.attemptLimit
    }
    try self.keep(job, Self.bytes([1]))
    for _ in 0..<2 {
      let worker = try self.worker(RecognizerPool(engine: RunEngine(), size: 1))
      #expect(try await self.run(worker, until: job.id).status == .failed)
      #expect(self.hasAudio(job.id))
    }
    #expect(try self.kept(job.id)?.status == .failed)
  }
}
