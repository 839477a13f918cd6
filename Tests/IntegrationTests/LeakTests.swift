import SpeechPipeline
import SpeechStreaming
import Testing
import VoiceAudio
import VoiceCore
import VoiceServer
import VoiceTesting

/// Clients and servers that have ended leave nothing behind.
@Suite struct LeakTests {
  /// In a process of its own, because descriptors and threads belong to the process.
  @Test func sessionsWithReconnectsLeaveNoObjectsDescriptorsOrThreads() async {
    await #expect(processExitsWith: .success) {
      let leaks = LeakCheck()
      // The first session makes what all share and keep: event loops, libraries, files of the system.
      try await Self.session(leaks)
      #expect(await leaks.waitForRelease(within: .seconds(30)) == [])
      let before = ProcessResources.current()
      for _ in 0..<5 { try await Self.session(leaks) }
      #expect(await leaks.waitForRelease(within: .seconds(30)) == [])
      // An event loop closes a descriptor after it has told that it will.
      var after = ProcessResources.current()
      let deadline = ContinuousClock.now + .seconds(10)
      while !(after.descriptorsOpened(since: before).isEmpty && after.threadsStarted(since: before).isEmpty),
        ContinuousClock.now < deadline
      {
        await Task.yield()
        after = ProcessResources.current()
      }
      #expect(after.descriptorsOpened(since: before) == [:])
      #expect(after.threadsStarted(since: before) == [:])
    }
  }

  /// A server's whole life with a client's in it; the connection breaks up to three times.
  private static func session(_ leaks: LeakCheck) async throws {
    let audio = MarkerAudio(sentences: 3, wordsPerSentence: 4, seed: 7)
    try await RunningServer.with(engine: MarkerEngine()) { server in
      leaks.track(server.server, as: "server")
      var plan = LinkPlan(seed: 1)
      for connection in 1...3 {
        plan.connections[connection] = LinkPlan.Connection(
          cut: .init(.toTarget, afterBytes: 15_000, .reset))
      }
      try await withImpairedLink(to: "127.0.0.1", port: server.port, plan: plan) { link in
        var configuration = server.configuration(port: link.port)
        configuration.retry = RetryPolicy(
          base: .milliseconds(5), cap: .milliseconds(50), budget: .seconds(60))
        let source = Watched(source: SamplesSource(samples: audio.samples), token: leaks.token(for: "source"))
        try await withSpeechClient(configuration, source: source) { client in
          leaks.track(client, as: "client")
          let events = client.events
          client.start()
          for await event in events {
            guard case .finished(let context) = event else { continue }
            #expect(context?.segments.flatMap(\.transcripts).map(\.value) == audio.words.map(\.text))
            break
          }
        }
        // The login, a stream that broke, and one or more that took its place.
        #expect(link.connections.count > 2)
      }
    }
  }

  /// A source whose release, and so that of the task that reads it, is noticed.
  private struct Watched: AudioSource {
    var source: SamplesSource
    var token: LeakCheck.Token

    func capture() async throws(VoiceFailure) -> AudioCapture { try await self.source.capture() }
  }
}
