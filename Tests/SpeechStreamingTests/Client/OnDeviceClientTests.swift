import Foundation
import SpeechPipeline
import SpeechUnderstanding
import Testing
import VoiceAudio
import VoiceCore
import VoicePlatform
import VoiceTesting

@testable import SpeechStreaming

/// A client that recognises in its own process: alone, or when its server is lost.
@Suite struct OnDeviceClientTests {
  /// What a client tells from its start until the context is finished.
  static func events(of client: SpeechClient) async throws -> [SpeechEvent] {
    let events = client.events
    return try await client.whileRunning {
      client.start()
      return await self.untilFinished(events)
    }
  }

  static func untilFinished(_ events: EventBroadcaster<SpeechEvent>.Subscription) async -> [SpeechEvent] {
    var all: [SpeechEvent] = []
    for await event in events {
      all.append(event)
      if case .finished = event { break }
    }
    return all
  }

  static func codes(_ events: [SpeechEvent]) -> [VoiceFailure.Code] {
    events.compactMap { if case .failed(let failure) = $0 { failure.code } else { nil } }
  }

  static func finals(_ events: [SpeechEvent]) -> [String] {
    events.compactMap {
      if case .transcript(_, _, let word) = $0, word.isFinal { word.value } else { nil }
    }
  }

  @Test func aClientWithoutAServerTellsTheSameSegments() async throws {
    let engine = ScriptedEngine(
      words: ScriptedEngine.Word.sentence("turn on the lights", at: .milliseconds(100)))
    let understanding = try Understanding(templates: "*turn_on turn on the [lights](device)")
    var configuration = SpeechClient.Configuration(
      onDevice: OnDeviceRecognition(engine: engine, understanding: understanding))
    configuration.paths = nil
    configuration.store = MemorySecureStore()
    let source = SilenceSource(duration: .seconds(2))
    let client = try SpeechClient(configuration: configuration, source: source)
    try await client.prepare()
    let events = try await Self.events(of: client)
    guard case .finished(let context?)? = events.last else {
      Issue.record("the context was not finished: \(events)")
      return
    }
    #expect(context.segments.map(\.text) == ["turn on the lights"])
    #expect(context.segments.map(\.intent.value) == ["turn_on"])
    #expect(context.segments.first?.entities.map(\.type) == ["device"])
    #expect(events.contains { if case .degraded = $0 { true } else { false } } == false)
  }

  @Test func theEngineHearsEverySampleOfAnUtteranceThatLostItsServer() async throws {
    let audio = MarkerAudio(sentences: 3)
    let harness = try ClientHarness { $0.onDevice = OnDeviceRecognition(engine: MarkerEngine()) }
    let events = try await harness.run { harness in
      let events = harness.client.events
      let stream = try await harness.connect()
      let half = audio.samples.count / 2
      harness.source.send(Array(audio.samples[..<half]))
      stream.end(SpeechStreamEnd(failure: VoiceFailure(.connectionLost)))
      harness.source.send(Array(audio.samples[half...]))
      harness.source.end()
      return await Self.untilFinished(events)
    }
    #expect(Self.finals(events) == audio.words.map(\.text))
    #expect(events.count { if case .degraded = $0 { true } else { false } } == 1)
    #expect(!events.contains { if case .failed = $0 { true } else { false } })
    #expect(await harness.recorder.wait(for: "degraded").contains("degraded network.connection.lost"))
  }

  @Test func aServerThatCannotBeReachedIsNotWaitedFor() async throws {
    let audio = MarkerAudio(sentences: 1)
    let harness = try ClientHarness(
      configure: { $0.onDevice = OnDeviceRecognition(engine: MarkerEngine()) },
      login: { _ throws(VoiceFailure) in throw VoiceFailure(.serverUnreachable) })
    let events = try await harness.run { harness in
      try await harness.client.prepare()
      let events = harness.client.events
      harness.client.start()
      await harness.source.captureStarted()
      harness.source.send(audio.samples)
      harness.source.end()
      return await Self.untilFinished(events)
    }
    #expect(Self.finals(events) == audio.words.map(\.text))
  }

  @Test func anEngineThatCannotBeLoadedIsToldBeforeAnythingIsSaid() async throws {
    let engine = ScriptedEngine(
      words: [], faults: [ScriptedEngine.Fault(.load, times: 9, code: .modelMissing)])
    var configuration = SpeechClient.Configuration(onDevice: OnDeviceRecognition(engine: engine))
    configuration.paths = nil
    configuration.store = MemorySecureStore()
    let client = try SpeechClient(
      configuration: configuration, source: SilenceSource(duration: .milliseconds(100)))
    let thrown = await #expect(throws: VoiceFailure.self) { try await client.prepare() }
    #expect(thrown?.code == .modelMissing)
    let events = try await Self.events(of: client)
    #expect(Self.codes(events) == [.modelMissing])
    #expect(events.last == .finished(nil))
  }

  @Test func aWrongOptionIsRefusedByTheEngineToo() async throws {
    var configuration = SpeechClient.Configuration(onDevice: OnDeviceRecognition(engine: MarkerEngine()))
    configuration.paths = nil
    configuration.store = MemorySecureStore()
    configuration.options = ["silence_triggered_segmentation": ["soon"]]
    let client = try SpeechClient(
      configuration: configuration, source: SilenceSource(duration: .milliseconds(100)))
    let events = try await Self.events(of: client)
    #expect(Self.codes(events) == [.requestInvalid])
  }
}
