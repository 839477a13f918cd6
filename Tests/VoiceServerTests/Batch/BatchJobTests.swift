import Foundation
import Testing
import VoiceCore

@testable import VoiceServer

@Suite struct BatchJobTests {
  private static let project = UUID()

  private static func job(_ reference: String = "", at time: Int64 = 0) -> BatchJob {
    BatchJob(
      id: UUID(), reference: reference, project: self.project, app: UUID(), deviceID: "", language: "en-US",
      createdAt: time)
  }

  @Test func refusesMoreThanMayWait() throws {
    var jobs = BatchJobs()
    for _ in 0..<BatchJobs.waitingLimit { try jobs.came(Self.job()) }
    let refusal = #expect(throws: Refusal.self) { try jobs.came(Self.job()) }
    #expect(refusal?.failure.code == .serverOverloaded)
    #expect(jobs.waitingCount == BatchJobs.waitingLimit)
  }

  @Test func givesUpAJobWhoseRecognitionNeverEnds() {
    var job = Self.job()
    job.status = .processing
    job.attempts = BatchJobs.attemptLimit
    var jobs = BatchJobs()
    let changed = jobs.restored([job])
    #expect(changed.map(\.status) == [.failed])
    #expect(changed.first?.error.contains("[speech.engine.failed]") == true)
    #expect(jobs.began() == nil)
  }

  @Test func keepsTheAudioOfAJobThatIsGivenUp() {
    var job = Self.job()
    job.status = .processing
    job.attempts = BatchJobs.attemptLimit
    var jobs = BatchJobs()
    #expect(jobs.restored([job]).map(\.needsAudio) == [true])
    #expect(jobs.expired(at: BatchJobs.lifetime + 1) == [job.id])
  }

  @Test func aTryThatTheServerInterruptsDoesNotCount() throws {
    let job = Self.job()
    let next = Self.job()
    var jobs = BatchJobs()
    for job in [job, next] { try jobs.came(job) }
    for _ in 0..<10 {
      #expect(jobs.began()?.id == job.id)
      #expect(jobs.recognitionBegan(job.id)?.attempts == 1)
      #expect(jobs.interrupted(job.id) == job)
    }
    // Before it has a recogniser there is nothing to give back.
    _ = jobs.began()
    #expect(jobs.interrupted(job.id) == job)
  }

  @Test func aFailureThatMayPassIsTriedAgainAFewTimes() throws {
    let job = Self.job()
    var jobs = BatchJobs()
    try jobs.came(job)
    for attempt in 1...BatchJobs.attemptLimit {
      #expect(jobs.began()?.id == job.id)
      // Some fail before they have a recogniser.
      if attempt != 2 { _ = jobs.recognitionBegan(job.id) }
      let failed = jobs.failed(job.id, VoiceFailure(.engineFailed))
      #expect(failed?.attempts == attempt)
      #expect(failed?.status == (attempt == BatchJobs.attemptLimit ? .failed : .queued))
      #expect(failed?.needsAudio == true)
    }
    #expect(jobs.began() == nil)
  }

  @Test func aFailureThatStaysIsNotTriedAgain() throws {
    let job = Self.job()
    var jobs = BatchJobs()
    try jobs.came(job)
    _ = jobs.began()
    _ = jobs.recognitionBegan(job.id)
    let failed = jobs.failed(job.id, VoiceFailure(.fileNotAudio))
    #expect(failed?.status == .failed)
    #expect(failed?.needsAudio == false)
    #expect(jobs.began() == nil)
  }

  @Test func keepsTheWordsOfTheBestTry() throws {
    let word = BatchJob.Word(text: "w", start: 0, end: 1)
    let job = Self.job()
    var jobs = BatchJobs()
    try jobs.came(job)
    for count in [1, 3, 2] {
      _ = jobs.began()
      _ = jobs.recognitionBegan(job.id)
      let heard = BatchJob.Heard(
        words: [BatchJob.Word](repeating: word, count: count), samples: 16 * Int64(count))
      _ = jobs.failed(job.id, VoiceFailure(.engineFailed), heard)
    }
    let ended = jobs.job(job.id, of: Self.project)
    #expect(ended?.status == .failed)
    #expect(ended?.words.count == 3)
    #expect(ended?.milliseconds == 3)
  }

  @Test func keepsJobsFromOtherProjects() throws {
    var jobs = BatchJobs()
    let job = Self.job("call")
    try jobs.came(job)
    #expect(jobs.job(job.id, of: UUID()) == nil)
    #expect(jobs.job(reference: "call", of: UUID()) == nil)
    #expect(jobs.job(job.id, of: Self.project) == job)
  }

  @Test func beginsJobsInTheOrderInWhichTheyCame() throws {
    var jobs = BatchJobs()
    let list = [Self.job(), Self.job(), Self.job()]
    for job in list { try jobs.came(job) }
    jobs.dropped(list[1].id)
    #expect([jobs.began()?.id, jobs.began()?.id, jobs.began()?.id] == [list[0].id, list[2].id, nil])
  }

  @Test func runsWhatWasUnderWayAgainOldestFirst() {
    var processing = Self.job(at: 1)
    processing.status = .processing
    processing.attempts = 1
    let queued = Self.job(at: 2)
    var done = Self.job(at: 0)
    done.status = .done
    var jobs = BatchJobs()
    #expect(jobs.restored([queued, done, processing]).isEmpty)
    #expect(jobs.began()?.id == processing.id)
    let second = jobs.began()
    #expect(second?.id == queued.id)
    #expect(second?.attempts == 0)
    #expect(jobs.began() == nil)
  }

  @Test func findsTheLatestJobWithAReference() throws {
    var jobs = BatchJobs()
    let old = Self.job("call", at: 1)
    let new = Self.job("call", at: 2)
    try jobs.came(new)
    try jobs.came(old)
    #expect(jobs.job(reference: "call", of: Self.project)?.id == new.id)
  }

  @Test func forgetsWhatEndedAWeekAgo() throws {
    var jobs = BatchJobs()
    let ended = Self.job(at: 0)
    let waiting = Self.job(at: 0)
    try jobs.came(ended)
    _ = jobs.began()
    _ = jobs.succeeded(ended.id, BatchJob.Heard())
    try jobs.came(waiting)
    #expect(jobs.expired(at: BatchJobs.lifetime).isEmpty)
    #expect(jobs.expired(at: BatchJobs.lifetime + 1) == [ended.id])
    #expect(jobs.job(ended.id, of: Self.project) == nil)
    #expect(jobs.job(waiting.id, of: Self.project) != nil)
  }
}
