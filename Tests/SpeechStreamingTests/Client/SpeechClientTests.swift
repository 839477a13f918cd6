import Foundation
import SpeechProtocol
import SwiftProtobuf
import Testing
import VoiceCore
import VoiceTesting

@testable import SpeechStreaming

/// The client with its driver, on a played microphone, server and clock.
@Suite struct SpeechClientTests {
  @Test func anUtteranceGoesThroughTheDelegateInOrder() async throws {
    try await ClientHarness().run { harness in
      let stream = try await harness.connect()
      harness.source.send(Array(repeating: 5, count: 1600))
      let audio = try await harness.expect("audio", of: stream)
      #expect(audio.audio.count == 3200)
      stream.send(.word("hello", 0))
      harness.client.stop()
      try await harness.expect("stop", of: stream)
      stream.send(.intent("greet"))
      stream.send(.segmentEnd())
      stream.send(.finished("ctx"))
      let calls = await harness.recorder.wait(for: "stopContext")
      #expect(
        calls == [
          "start", "startContext", "word hello", "segment 0 hello", "intent greet", "segment 0 hello",
          "segment 0 hello final", "finish hello", "stop", "stopContext",
        ])
      #expect(harness.logins.count == 1)
    }
  }

  @Test func whatIsSaidBeforeTheLoginIsSent() async throws {
    let (entered, enter) = AsyncStream<Void>.makeStream()
    let (released, release) = AsyncStream<Void>.makeStream()
    let harness = try ClientHarness(login: { _ throws(VoiceFailure) in
      enter.yield(())
      for await _ in released { break }
      return .forTests
    })
    try await harness.run { harness in
      harness.client.start()
      await harness.source.captureStarted()
      for await _ in entered { break }
      harness.source.send(Array(repeating: 9, count: 800))
      release.yield(())
      let stream = try #require(await harness.transport.nextStream())
      try await harness.expect("config", of: stream)
      let start = try await harness.expect("start", of: stream)
      #expect(start.start.appID == ApiAccessToken.forTests.appId.uuidString.lowercased())
      #expect(
        try await harness.expect("audio", of: stream).audio
          == Data((0..<800).flatMap { _ in [9, 0] as [UInt8] }))
    }
  }

  @Test func aBrokenStreamIsReplacedAfterTheWaitAndNothingIsSaidTwice() async throws {
    try await ClientHarness().run { harness in
      let events = harness.client.events
      let first = try await harness.connect("one")
      harness.source.send([1, 2, 3])
      try await harness.expect("audio", of: first)
      first.send(.word("turn", 0, "one"))
      first.end(SpeechStreamEnd(failure: VoiceFailure(.connectionLost)))
      await harness.recorder.wait(for: "failed network.connection.lost")
      for await event in events { if case .stateChanged(.reconnecting) = event { break } }
      #expect(harness.client.state.isReconnecting)
      harness.source.send([4, 5])
      harness.client.networkPathChanged()
      let second = try #require(await harness.transport.nextStream())
      try await harness.expect("config", of: second)
      try await harness.expect("start", of: second)
      var bytes = Data()
      while bytes.count < 10 { bytes += try await harness.expect("audio", of: second).audio }
      #expect(bytes == Data([1, 0, 2, 0, 3, 0, 4, 0, 5, 0]))
      second.send(.started("two"))
      second.send(.word("turn", 0, "two"))
      second.send(.word("on", 1, "two"))
      let calls = await harness.recorder.wait(for: "segment 0 turn on")
      #expect(calls.filter { $0 == "word turn" }.count == 1)
      #expect(calls.contains("recovered"))
      // What repairs itself is not an error of the documented delegate.
      #expect(!calls.contains { $0.hasPrefix("error") })
      #expect(harness.client.state == .started(contextId: "one"))
    }
  }

  @Test func aServerThatDoesNotReadHoldsNothingUpButItsOwnAudio() async throws {
    let harness = try ClientHarness { $0.window = .seconds(1) }
    try await harness.run { harness in
      let stream = try await harness.connect()
      stream.stopReading()
      for _ in 0..<40 { harness.source.send(Array(repeating: 1, count: 1600)) }
      let calls = await harness.recorder.wait(for: "error audioError")
      #expect(calls.contains("failed speech.stream.audio-dropped"))
    }
  }

  @Test func manyReadersSeeTheSameEvents() async throws {
    try await ClientHarness().run { harness in
      let first = harness.client.events
      let second = harness.client.events
      let stream = try await harness.connect("abc")
      _ = stream
      for events in [first, second] {
        var seen: [SpeechEvent] = []
        for await event in events {
          seen.append(event)
          if case .started = event { break }
        }
        #expect(seen.contains(.started(contextId: "abc")))
        #expect(seen.contains(.stateChanged(.starting)))
      }
    }
  }

  @Test func theDelegateMayBeSetInsideADelegateCall() async throws {
    final class Setter: SpeechClientDelegate {
      let next: DelegateRecorder
      init(_ next: DelegateRecorder) { self.next = next }
      func speechlyClientDidStart(_ client: any SpeechClientProtocol) { client.delegate = self.next }
    }
    try await ClientHarness().run { harness in
      let setter = Setter(harness.recorder)
      harness.client.delegate = setter
      let stream = try await harness.connect()
      stream.send(.word("hi", 0))
      let calls = await harness.recorder.wait(for: "word hi")
      #expect(calls.first == "startContext" || calls.first == "word hi")
      withExtendedLifetime(setter) {}
    }
  }

  @Test func releasingAClientStopsEverything() async throws {
    let source = ManualAudioSource()
    let transport = InMemorySpeechTransport()
    var client: SpeechClient? = try SpeechClient(
      configuration: {
        var configuration = SpeechClient.Configuration(app: .app(ApiAccessToken.forTests.appId))
        configuration.store = MemorySecureStoreForTests.make()
        configuration.paths = nil
        return configuration
      }(), source: source, transport: transport, login: { _ throws(VoiceFailure) in .forTests })
    client?.runInBackground()
    client?.start()
    await source.captureStarted()
    let stream = try #require(await transport.nextStream())
    client = nil
    await source.captureStopped()
    // The stream is abandoned: its requests end.
    while await stream.nextRequest() != nil {}
    #expect(!source.isCapturing)
  }

  @Test func cancellingTheTaskThatRunsTheClientEndsTheContextAndTheClient() async throws {
    let harness = try ClientHarness()
    let running = Task { await harness.client.run() }
    _ = try await harness.connect()
    await harness.recorder.wait(for: "startContext")
    running.cancel()
    await running.value
    let calls = await harness.recorder.wait(for: "stopContext")
    #expect(calls.suffix(3) == ["finish ", "stop", "stopContext"])
    #expect(harness.client.state == .stopped || harness.client.state == .suspended)
    harness.client.start()
    #expect(await harness.recorder.wait(for: "failed").contains("failed client.closed"))
  }

  @Test func prepareTellsWhatIsMissing() async throws {
    let harness = try ClientHarness(login: { _ throws(VoiceFailure) in throw VoiceFailure(.unknownApp) })
    await #expect(throws: VoiceFailure(.unknownApp)) { try await harness.client.prepare() }
    harness.source.failToOpen(VoiceFailure(.noInputDevice))
    await #expect(throws: VoiceFailure(.noInputDevice)) { try await harness.client.prepare() }
  }
}
