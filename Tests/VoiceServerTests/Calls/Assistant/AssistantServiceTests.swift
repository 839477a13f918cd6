import CallSignaling
import Foundation
import Logging
import SpeechPipeline
import SpeechUnderstanding
import Synchronization
import Testing
import VoiceCore
import VoiceTesting

@testable import CallMedia
@testable import VoiceServer

/// The assistant with a scripted engine and a scripted voice: only the call's audio is real.
@Suite(.timeLimit(.minutes(4))) struct AssistantServiceTests {
  /// Speaks samples of one value, and says what was to be said.
  final class ScriptedVoice: AssistantVoice {
    let texts: AsyncStream<String>
    private let said: AsyncStream<String>.Continuation
    private let count = Mutex(0)
    private let length: Int
    private let failure: VoiceFailure?

    init(length: Int = 1600, failure: VoiceFailure? = nil) {
      self.length = length
      self.failure = failure
      (self.texts, self.said) = AsyncStream.makeStream()
    }

    /// The value of the samples of a sentence, counted from 1.
    static func value(of sentence: Int) -> Int16 { Int16(min(4, sentence) * 4000 - 3000) }

    func speech(_ text: String) async throws(VoiceFailure) -> Speech {
      let number = self.count.withLock { count in
        count += 1
        return count
      }
      self.said.yield(text)
      if let failure = self.failure { throw failure }
      return Speech(samples: Array(repeating: Self.value(of: number), count: self.length), sampleRate: 16_000)
    }
  }

  /// A call with the assistant, from the caller's end.
  final class World: Sendable {
    let audio = CallAudio()
    let voice: ScriptedVoice
    let clock = TestClock()
    let pool: RecognizerPool
    let engine: ScriptedEngine
    let service: AssistantService

    init(
      _ words: [ScriptedEngine.Word] = [], faults: [ScriptedEngine.Fault] = [],
      voice: ScriptedVoice = ScriptedVoice()
    ) async throws {
      self.voice = voice
      self.engine = ScriptedEngine(
        words: words, faults: faults,
        capabilities: RecognitionCapabilities(
          languages: ["en-US"], revisesAtEnd: true, reportsConfidence: true, maximumAlternatives: 5,
          detectsVoiceActivity: true, followsGrammars: true))
      self.pool = RecognizerPool(engine: self.engine, size: 1, clock: self.clock)
      let deployed = DeployedInterface(
        configID: UUID(), deployedAt: 0, compileTime: .zero,
        understanding: try Understanding(templates: "*turn_on turn on the [lights | radio](device)"))
      self.service = AssistantService(
        .init(
          pool: self.pool,
          interface: AssistantInterface(current: { deployed }, values: { .current }), voice: voice,
          clock: self.clock, patience: .zero, pause: .milliseconds(500),
          logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }))
      // Calls here have no patience to wait for a recogniser that is being loaded.
      try await self.pool.load()
    }

    /// What the caller's microphone hears, in frames of 20 ms.
    func deliver(_ duration: Duration, isConcealed: Bool = false) {
      for _ in 0..<Int(duration / .milliseconds(20)) {
        self.audio.deliver([Int16](repeating: 0, count: 960), concealed: isConcealed ? 960 : 0)
      }
    }

    /// The other end of the line: takes what is sent until it is cancelled.
    func drain() -> Task<Void, Never> {
      Task { [audio] in
        var frame: [Int16] = []
        while !Task.isCancelled {
          _ = audio.takeFrame(into: &frame, isHeard: true)
          await Task.yield()
        }
      }
    }
  }

  @Test func aCallWithoutARecogniserIsToldSoAndEndsWithItsCause() async throws {
    let world = try await World()
    let other = try await world.pool.beginContext(ContextOptions(), patience: .zero)
    let line = world.drain()
    defer { line.cancel() }
    async let cause = world.service.run(world.audio)
    var texts = world.voice.texts.makeAsyncIterator()
    #expect(await texts.next() == AssistantPhrases.busy)
    #expect(await cause == .switchCongestion)
    other.cancel()
  }

  @Test func aVoiceThatFailsDoesNotHoldTheCall() async throws {
    let world = try await World(
      ScriptedEngine.Word.sentence("goodbye", at: .milliseconds(200)),
      voice: ScriptedVoice(failure: VoiceFailure(.audioEmpty)))
    async let cause = world.service.run(world.audio)
    var texts = world.voice.texts.makeAsyncIterator()
    #expect(await texts.next() == AssistantPhrases.greeting)
    world.deliver(.seconds(2))
    #expect(await texts.next() == "Goodbye.")
    #expect(await cause == .normalClearing)
  }

  @Test func anEngineThatFailsIsToldAndEndsTheCall() async throws {
    let world = try await World(faults: [.init(.process(at: .milliseconds(500)))])
    let line = world.drain()
    defer { line.cancel() }
    async let cause = world.service.run(world.audio)
    var texts = world.voice.texts.makeAsyncIterator()
    #expect(await texts.next() == AssistantPhrases.greeting)
    world.deliver(.seconds(2))
    #expect(await texts.next() == AssistantPhrases.deaf)
    #expect(await cause == .normalTemporaryFailure)
  }

  @Test func aCallThatEndsGivesTheRecogniserBack() async throws {
    let world = try await World()
    let call = Task { await world.service.run(world.audio) }
    var texts = world.voice.texts.makeAsyncIterator()
    #expect(await texts.next() == AssistantPhrases.greeting)
    #expect(world.pool.status.busy == 1)
    world.audio.end()
    #expect(await call.value == .normalClearing)
    // Giving back goes over the recogniser's own queue: somebody who waits gets it.
    let next = try await world.pool.beginContext(ContextOptions(), patience: .seconds(10))
    next.cancel()
  }

  @Test func understandsRepliesAndEndsOnGoodbyeThoughTheAppDoesNotKnowIt() async throws {
    let world = try await World(
      ScriptedEngine.Word.sentence("turn on the lights", at: .milliseconds(200))
        + ScriptedEngine.Word.sentence("make me a sandwich", at: .seconds(3))
        + ScriptedEngine.Word.sentence("goodbye", at: .seconds(6)))
    let line = world.drain()
    defer { line.cancel() }
    async let cause = world.service.run(world.audio)
    var texts = world.voice.texts.makeAsyncIterator()
    #expect(await texts.next() == AssistantPhrases.greeting)
    world.deliver(.milliseconds(2500))
    #expect(await texts.next() == "turn on, device lights.")
    world.deliver(.seconds(3))
    #expect(await texts.next() == AssistantPhrases.notUnderstood)
    world.deliver(.seconds(3))
    #expect(await texts.next() == "Goodbye.")
    #expect(await cause == .normalClearing)
  }

  @Test func missingAudioCountsAsTimeSoThatPausesAreHeard() async throws {
    let world = try await World(ScriptedEngine.Word.sentence("turn on the radio", at: .milliseconds(2600)))
    let line = world.drain()
    defer { line.cancel() }
    let call = Task { await world.service.run(world.audio) }
    var texts = world.voice.texts.makeAsyncIterator()
    #expect(await texts.next() == AssistantPhrases.greeting)
    // 0.5 s, 2 s that did not arrive, 2.5 s: without the gap the words would never come.
    world.deliver(.milliseconds(500))
    world.deliver(.seconds(2), isConcealed: true)
    world.deliver(.milliseconds(2500))
    #expect(await texts.next() == "turn on, device radio.")
    call.cancel()
    _ = await call.value
  }

  @Test func whatItSaysStopsWhenTheCallerBeginsToSpeak() async throws {
    let world = try await World(
      ScriptedEngine.Word.sentence("turn on the lights", at: .milliseconds(200)),
      voice: ScriptedVoice(length: 160_000))
    let call = Task { await world.service.run(world.audio) }
    var texts = world.voice.texts.makeAsyncIterator()
    #expect(await texts.next() == AssistantPhrases.greeting)
    while world.audio.queued == .zero, !Task.isCancelled { await Task.yield() }
    world.deliver(.seconds(2))
    #expect(await texts.next() == "turn on, device lights.")
    var frame: [Int16] = []
    var heard: [Int16] = []
    while heard.last ?? 0 < ScriptedVoice.value(of: 2) - 100, !Task.isCancelled {
      if world.audio.takeFrame(into: &frame, isHeard: true) { heard += frame } else { await Task.yield() }
    }
    // Of ten seconds of greeting nothing is left but what the edge of the resampler passes through.
    let greeting = heard.count { abs(Int($0) - Int(ScriptedVoice.value(of: 1))) < 50 }
    #expect(greeting <= 960)
    call.cancel()
    _ = await call.value
  }

  @Test func silenceIsAskedAboutAndEndsTheCall() async throws {
    let world = try await World()
    let line = world.drain()
    defer { line.cancel() }
    async let cause = world.service.run(world.audio)
    var texts = world.voice.texts.makeAsyncIterator()
    #expect(await texts.next() == AssistantPhrases.greeting)
    await world.clock.waitForTimer(at: VoiceInstant(offset: .seconds(15)))
    world.clock.advance(to: VoiceInstant(offset: .seconds(15)))
    #expect(await texts.next() == AssistantPhrases.question)
    await world.clock.waitForTimer(at: VoiceInstant(offset: .seconds(30)))
    world.clock.advance(to: VoiceInstant(offset: .seconds(30)))
    #expect(await texts.next() == AssistantPhrases.nobodyThere)
    #expect(await cause == .normalClearing)
  }

  @Test func flitesVoiceSpeaksAndSaysTheSameTwice() async throws {
    let voice = FliteVoice()
    let first = try await voice.speech("Goodbye.")
    let power = first.samples.reduce(0.0) { $0 + Double($1) * Double($1) } / Double(first.samples.count)
    #expect(first.sampleRate >= 8000)
    #expect(first.samples.count > first.sampleRate / 4)
    #expect(power > 10_000)
    #expect(try await voice.speech("Goodbye.") == first)
  }
}
