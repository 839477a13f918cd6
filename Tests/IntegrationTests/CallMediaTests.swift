import CallMedia
import Calls
import Foundation
import Testing
import VoiceAudio
import VoiceCore
import VoiceServer
import VoiceTesting

/// Calls with real audio: our clients, our gateway, real sockets.
@Suite(.timeLimit(.minutes(2)))
struct CallMediaTests {
  static func client(_ name: String, at port: Int) async throws -> TxClient {
    let client = TxClient()
    let url = try #require(URL(string: "ws://127.0.0.1:\(port)/calls"))
    try client.connect(
      txConfig: TxConfig(sipUser: name, password: "a long password"),
      serverConfiguration: TxServerConfiguration(signalingServer: url))
    try await client.ready()
    return client
  }

  static func withGateway<R: Sendable>(
    _ body: @Sendable @escaping (Int) async throws -> R
  ) async throws -> R {
    try await RunningServer.with(
      engine: MarkerEngine(),
      configure: {
        $0.calls.users = ["alice", "bob"].map {
          ServerConfiguration.Calls.User(name: $0, password: "a long password")
        }
      }
    ) { server in
      try await body(try await server.server.addresses.http.port)
    }
  }

  /// Sends a tone until the task is cancelled.
  static func send(_ frequency: Double, to audio: CallAudio) -> Task<Void, any Error> {
    Task {
      let tone = Tones.sine(frequency, samples: 48_000)
      while !Task.isCancelled { try await audio.send(tone) }
    }
  }

  /// Waits until half a second in a row is nearly nothing but a tone.
  static func hears(_ frequency: Double, in audio: CallAudio) async -> Bool {
    var window: [Int16] = []
    for await frame in audio.frames {
      window.append(contentsOf: frame.samples)
      guard window.count >= 9_600 else { continue }
      if Tones.power(of: window[...]) > 1e5, Tones.share(of: frequency, in: window[...]) > 0.95 {
        return true
      }
      window = []
    }
    return false
  }

  @Test func echoSendsBackWhatItHears() async throws {
    let isHeard = try await Self.withGateway { port in
      let alice = try await Self.client("alice", at: port)
      let call = try await alice.call("echo")
      let tone = Self.send(700, to: call.audio)
      defer { tone.cancel() }
      try await call.answered()
      let isHeard = await Self.hears(700, in: call.audio)
      call.hangup()
      await alice.disconnected()
      return isHeard
    }
    #expect(isHeard)
  }

  @Test func twoClientsHearEachOther() async throws {
    let heard = try await Self.withGateway { port in
      let alice = try await Self.client("alice", at: port)
      let bob = try await Self.client("bob", at: port)
      let events = bob.events
      let call = try await alice.call("bob")
      var other: Call?
      for await event in events {
        if case .incomingCall(let call) = event {
          other = call
          break
        }
      }
      let taken = try #require(other)
      taken.answer()
      try await call.answered()
      let tones = [Self.send(440, to: call.audio), Self.send(1000, to: taken.audio)]
      defer { for tone in tones { tone.cancel() } }
      async let first = Self.hears(1000, in: call.audio)
      async let second = Self.hears(440, in: taken.audio)
      let heard = await [first, second]
      call.hangup()
      await alice.disconnected()
      await bob.disconnected()
      return heard
    }
    #expect(heard == [true, true])
  }
}
