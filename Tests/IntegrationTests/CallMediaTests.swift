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

  @Test func echoSendsBackWhatItHears() async throws {
    let isHeard = try await Self.withGateway { port in
      let alice = try await Self.client("alice", at: port)
      let call = try await alice.call("echo")
      let tone = Self.send(700, to: call.audio)
      defer { tone.cancel() }
      try await call.answered()
      let isHeard = await call.audio.hears(700)
      call.hangup()
      await alice.disconnected()
      return isHeard
    }
    #expect(isHeard)
  }

  /// A call between two clients that is established.
  static func withTwoClients<R: Sendable>(
    _ body: @Sendable @escaping (Call, Call) async throws -> R
  ) async throws -> R {
    try await Self.withGateway { port in
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
      let result = try await body(call, taken)
      call.hangup()
      _ = try await taken.ended()
      await alice.disconnected()
      await bob.disconnected()
      return result
    }
  }

  @Test func twoClientsHearEachOther() async throws {
    let heard = try await Self.withTwoClients { call, taken in
      let tones = [Self.send(440, to: call.audio), Self.send(1000, to: taken.audio)]
      defer { for tone in tones { tone.cancel() } }
      async let first = call.audio.hears(1000)
      async let second = taken.audio.hears(440)
      return await [first, second]
    }
    #expect(heard == [true, true])
  }

  @Test(arguments: [true, false]) func audioGoesOnThroughANewTransport(_ byTheCaller: Bool) async throws {
    let outcome = try await Self.withTwoClients { call, taken in
      let tones = [Self.send(440, to: call.audio), Self.send(1000, to: taken.audio)]
      defer { for tone in tones { tone.cancel() } }
      let isHeardBefore = await call.audio.hears(1000)
      let isRestarted = await withCheckedContinuation { continuation in
        (byTheCaller ? call : taken).iceRestart { isRestarted, _ in
          continuation.resume(returning: isRestarted)
        }
      }
      async let first = call.audio.hears(1000)
      async let second = taken.audio.hears(440)
      return await [isHeardBefore, isRestarted, first, second]
    }
    #expect(outcome == [true, true, true, true])
  }

  @Test func nobodyIsHeardWhileTheCallIsHeld() async throws {
    let heard = try await Self.withTwoClients { call, taken in
      let tone = Self.send(440, to: call.audio)
      defer { tone.cancel() }
      let before = await taken.audio.hears(440)
      try await call.setHeld(true)
      let held = await taken.audio.isSilent()
      try await call.setHeld(false)
      let after = await taken.audio.hears(440)
      return [before, held, after]
    }
    #expect(heard == [true, true, true])
  }

  @Test func aMutedSideIsNotHeard() async throws {
    let heard = try await Self.withTwoClients { call, taken in
      let tone = Self.send(440, to: call.audio)
      defer { tone.cancel() }
      let before = await taken.audio.hears(440)
      call.muteAudio()
      let muted = await taken.audio.isSilent()
      call.unmuteAudio()
      let after = await taken.audio.hears(440)
      return [before, muted, after]
    }
    #expect(heard == [true, true, true])
  }
}
