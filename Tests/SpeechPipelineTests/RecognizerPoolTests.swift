import Synchronization
import Testing
import VoiceCore
import VoiceTesting

@testable import SpeechPipeline

/// A clock on which every wait is over at once.
private struct ImpatientClock: VoiceClock {
  var now: VoiceInstant { VoiceInstant() }
  var minimumResolution: Duration { .nanoseconds(1) }
  func sleep(until deadline: VoiceInstant, tolerance: Duration?) async throws {}
}

/// Numbers noted by concurrent tasks, in order.
private final class Notes: Sendable {
  private let notes = Mutex<[Int]>([])

  var all: [Int] { self.notes.withLock { $0 } }

  func add(_ note: Int) {
    self.notes.withLock { $0.append(note) }
  }
}

struct RecognizerPoolTests {
  private let second = [Int16](repeating: 0, count: 16_000)
  private let hello: [ScriptedEngine.Word] = [.init("hello", at: .milliseconds(100))]

  private func texts(_ events: [RecognitionEvent]) -> [String] {
    events.compactMap { if case .word(_, _, let word) = $0 { word.text } else { nil } }
  }

  /// The final words of a context that hears the samples and ends.
  private func heard(_ samples: [Int16], in context: RecognitionContext) async throws -> [String] {
    var events = try await context.append(samples)
    events += try await context.finish()
    return self.texts(events)
  }

  private func failure(_ body: () async throws(VoiceFailure) -> Void) async -> VoiceFailure? {
    do throws(VoiceFailure) {
      try await body()
      return nil
    } catch {
      return error
    }
  }

  @Test func tellsTheFailureOfLoading() async {
    let engine = ScriptedEngine(words: [], faults: [.init(.load, code: .modelMissing)])
    let pool = RecognizerPool(engine: engine, size: 2)
    let failure = await failure { () async throws(VoiceFailure) in try await pool.load() }
    #expect(failure?.code == .modelMissing)
    #expect(pool.status == .init(total: 2, loaded: 1, busy: 0, waiting: 0))
  }

  @Test func reportsTheProgressOfLoading() async throws {
    let pool = RecognizerPool(engine: ScriptedEngine(words: []), size: 3)
    let seen = Notes()
    try await pool.load { loaded, total in
      #expect(total == 3)
      seen.add(loaded)
    }
    let counts = seen.all
    #expect(counts.first == 0)
    #expect(counts.last == 3)
    #expect(counts == counts.sorted())
  }

  @Test func loadsWhenTheFirstContextNeedsIt() async throws {
    let pool = RecognizerPool(engine: ScriptedEngine(words: self.hello), size: 2)
    let context = try await pool.beginContext(ContextOptions(), patience: .seconds(600))
    var events = try await context.append(self.second)
    events += try await context.finish()
    #expect(texts(events) == ["hello"])
    #expect(pool.status == .init(total: 2, loaded: 1, busy: 0, waiting: 0))
  }

  @Test func isOverloadedWhenNoRecogniserIsFreeInTime() async throws {
    let pool = RecognizerPool(engine: ScriptedEngine(words: []), size: 1, clock: ImpatientClock())
    try await pool.load()
    let first = try await pool.beginContext(ContextOptions(), patience: .seconds(1))
    let failure = await failure { () async throws(VoiceFailure) in
      _ = try await pool.beginContext(ContextOptions(), patience: .seconds(1))
    }
    #expect(failure?.code == .serverOverloaded)
    #expect(failure?.recovery == .retry)
    #expect(pool.status == .init(total: 1, loaded: 1, busy: 1, waiting: 0))
    first.cancel()
  }

  /// The patience may be over before the request is in the queue.
  @Test func patienceThatIsOverAtOnceEndsEveryRequest() async throws {
    let pool = RecognizerPool(engine: ScriptedEngine(words: []), size: 1, clock: ImpatientClock())
    try await pool.load()
    let first = try await pool.beginContext(ContextOptions(), patience: .seconds(1))
    let codes = await withTaskGroup(of: VoiceFailure.Code?.self) { group in
      for _ in 0..<1000 {
        group.addTask {
          await self.failure { () async throws(VoiceFailure) in
            _ = try await pool.beginContext(ContextOptions(), patience: .zero)
          }?.code
        }
      }
      return await group.reduce(into: [VoiceFailure.Code: Int]()) { counts, code in
        if let code { counts[code, default: 0] += 1 }
      }
    }
    #expect(codes == [.serverOverloaded: 1000])
    #expect(pool.status.waiting == 0)
    first.cancel()
  }

  @Test func aCancelledRequestLeavesTheQueue() async throws {
    let pool = RecognizerPool(engine: ScriptedEngine(words: self.hello), size: 1)
    try await pool.load()
    let first = try await pool.beginContext(ContextOptions(), patience: .seconds(600))
    let waiting = Task {
      await self.failure { () async throws(VoiceFailure) in
        _ = try await pool.beginContext(ContextOptions(), patience: .seconds(600))
      }
    }
    while pool.status.waiting == 0 { await Task.yield() }
    waiting.cancel()
    #expect(await waiting.value?.code == .serverOverloaded)
    #expect(pool.status.waiting == 0)
    _ = try await first.finish()
    let next = try await pool.beginContext(ContextOptions(), patience: .seconds(600))
    #expect(try await heard(self.second, in: next) == ["hello"])
  }

  @Test func servesWhoCameFirst() async throws {
    let pool = RecognizerPool(engine: ScriptedEngine(words: []), size: 1)
    try await pool.load()
    let first = try await pool.beginContext(ContextOptions(), patience: .seconds(600))
    let order = Notes()
    try await withThrowingTaskGroup(of: Void.self) { group in
      for index in 0..<5 {
        group.addTask {
          let context = try await pool.beginContext(ContextOptions(), patience: .seconds(600))
          order.add(index)
          _ = try await context.finish()
        }
        while pool.status.waiting <= index { await Task.yield() }
      }
      _ = try await first.finish()
      try await group.waitForAll()
    }
    #expect(order.all == [0, 1, 2, 3, 4])
  }

  @Test func aForgottenContextGivesItsRecogniserBack() async throws {
    let pool = RecognizerPool(engine: ScriptedEngine(words: self.hello), size: 1)
    try await pool.load()
    do {
      let forgotten = try await pool.beginContext(ContextOptions(), patience: .seconds(600))
      _ = try await forgotten.append(self.second)
    }
    let next = try await pool.beginContext(ContextOptions(), patience: .seconds(600))
    #expect(try await heard(self.second, in: next) == ["hello"])
  }

  @Test func aSlowContextHoldsUpNobodyElse() async throws {
    let gate = EngineGate()
    let slow = RecognizerPool(engine: ScriptedEngine(words: self.hello, gate: gate), size: 64)
    try await slow.load()
    // More blocked recognisers than the machine has cores: Swift's own threads must stay free.
    try await withThrowingTaskGroup(of: Void.self) { group in
      for _ in 0..<64 {
        let context = try await slow.beginContext(ContextOptions(), patience: .seconds(600))
        group.addTask {
          let texts = try await self.heard(self.second, in: context)
          #expect(texts == ["hello"])
        }
      }
      await gate.reached(64)
      let quick = RecognizerPool(engine: ScriptedEngine(words: self.hello), size: 1)
      let context = try await quick.beginContext(ContextOptions(), patience: .seconds(600))
      #expect(try await heard(self.second, in: context) == ["hello"])
      gate.open()
      try await group.waitForAll()
    }
  }

  @Test func replacesARecogniserThatFailed() async throws {
    let engine = ScriptedEngine(
      words: [.init("hello", at: .milliseconds(100)), .init("world", at: .milliseconds(1500))],
      faults: [.init(.process(at: .milliseconds(1200)))])
    let pool = RecognizerPool(engine: engine, size: 1)
    try await pool.load()
    let context = try await pool.beginContext(ContextOptions(), patience: .seconds(600))
    let events = try await context.append(self.second + self.second)
    #expect(texts(events) == ["hello"])
    guard case .segmentEnded(0, let summary)? = events.last else {
      Issue.record("the segment did not end")
      return
    }
    #expect(summary.resumePoint.sample <= 19_200)
    #expect(context.failure?.code == .engineFailed)
    let later = await failure { () async throws(VoiceFailure) in _ = try await context.append(self.second) }
    #expect(later?.code == .engineFailed)
    let end = await failure { () async throws(VoiceFailure) in _ = try await context.finish() }
    #expect(end?.code == .engineFailed)

    let next = try await pool.beginContext(ContextOptions(), patience: .seconds(600))
    #expect(try await heard(self.second + self.second, in: next) == ["hello", "world"])
    #expect(engine.recognizersMade == 2)
  }

  @Test func tellsWhyARecogniserCannotBeReplacedAndTriesAgain() async throws {
    let engine = ScriptedEngine(
      words: self.hello, faults: [.init(.process(at: .zero)), .init(.reload, code: .modelMissing)])
    let (failures, continuation) = AsyncStream<VoiceFailure>.makeStream()
    let pool = RecognizerPool(engine: engine, size: 1) { failure in continuation.yield(failure) }
    let context = try await pool.beginContext(ContextOptions(), patience: .seconds(600))
    _ = await failure { () async throws(VoiceFailure) in _ = try await context.append(self.second) }
    var told = failures.makeAsyncIterator()
    #expect(await told.next()?.code == .modelMissing)
    #expect(pool.status.loaded == 0)
    let next = try await pool.beginContext(ContextOptions(), patience: .seconds(600))
    #expect(try await heard(self.second, in: next) == ["hello"])
  }

  @Test func throwsAtOnceWhenAFailureLeavesNothingToTell() async throws {
    let pool = RecognizerPool(
      engine: ScriptedEngine(words: self.hello, faults: [.init(.process(at: .zero))]), size: 1)
    let context = try await pool.beginContext(ContextOptions(), patience: .seconds(600))
    let failure = await failure { () async throws(VoiceFailure) in _ = try await context.append(self.second) }
    #expect(failure?.code == .engineFailed)
  }

  @Test func keepsTheWordsWhenTheEndFails() async throws {
    let pool = RecognizerPool(
      engine: ScriptedEngine(words: [.init("hello", at: .milliseconds(900))], faults: [.init(.finish)]),
      size: 1)
    let context = try await pool.beginContext(ContextOptions(), patience: .seconds(600))
    _ = try await context.append(self.second)
    let events = try await context.finish()
    #expect(texts(events) == ["hello"])
    #expect(context.failure?.code == .engineFailed)
  }

  @Test func anEndedContextRefusesMoreAudio() async throws {
    let pool = RecognizerPool(engine: ScriptedEngine(words: self.hello), size: 1)
    let context = try await pool.beginContext(ContextOptions(), patience: .seconds(600))
    _ = try await context.finish()
    context.cancel()
    let failure = await failure { () async throws(VoiceFailure) in _ = try await context.append(self.second) }
    #expect(failure?.code == .usage)
    #expect(pool.status.busy == 0)
  }

  @Test func aRejectedAdaptationCostsNoRecogniser() async throws {
    let engine = ScriptedEngine(words: [])
    let pool = RecognizerPool(engine: engine, size: 1)
    let garbage = RecognizerAdaptation(bytes: [1, 2, 3])
    let failure = await failure { () async throws(VoiceFailure) in
      _ = try await pool.beginContext(ContextOptions(adaptation: garbage), patience: .seconds(600))
    }
    #expect(failure?.code == .requestInvalid)
    #expect(pool.status == .init(total: 1, loaded: 1, busy: 0, waiting: 0))
    #expect(engine.recognizersMade == 1)
  }

  @Test func shutdownFailsWhoWaitsAndLetsRunningContextsEnd() async throws {
    let pool = RecognizerPool(engine: ScriptedEngine(words: self.hello), size: 1)
    let running = try await pool.beginContext(ContextOptions(), patience: .seconds(600))
    let waiting = Task {
      await self.failure { () async throws(VoiceFailure) in
        _ = try await pool.beginContext(ContextOptions(), patience: .seconds(600))
      }
    }
    while pool.status.waiting == 0 { await Task.yield() }
    await pool.shutdown()
    #expect(await waiting.value?.code == .serverStopping)
    #expect(try await heard(self.second, in: running) == ["hello"])
    let late = await failure { () async throws(VoiceFailure) in
      _ = try await pool.beginContext(ContextOptions(), patience: .seconds(1))
    }
    #expect(late?.code == .serverStopping)
  }
}
