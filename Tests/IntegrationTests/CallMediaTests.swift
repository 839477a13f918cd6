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
      async let first = Self.hears(1000, in: call.audio)
      async let second = Self.hears(440, in: taken.audio)
      return await [first, second]
    }
    #expect(heard == [true, true])
  }

  @Test(arguments: [true, false]) func audioGoesOnThroughANewTransport(_ byTheCaller: Bool) async throws {
    let outcome = try await Self.withTwoClients { call, taken in
      let tones = [Self.send(440, to: call.audio), Self.send(1000, to: taken.audio)]
      defer { for tone in tones { tone.cancel() } }
      let isHeardBefore = await Self.hears(1000, in: call.audio)
      let isRestarted = await withCheckedContinuation { continuation in
        (byTheCaller ? call : taken).iceRestart { isRestarted, _ in
          continuation.resume(returning: isRestarted)
        }
      }
      async let first = Self.hears(1000, in: call.audio)
      async let second = Self.hears(440, in: taken.audio)
      return await [isHeardBefore, isRestarted, first, second]
    }
    #expect(outcome == [true, true, true, true])
  }

  @Test func nobodyIsHeardWhileTheCallIsHeld() async throws {
    let heard = try await Self.withTwoClients { call, taken in
      let tone = Self.send(440, to: call.audio)
      defer { tone.cancel() }
      let before = await Self.hears(440, in: taken.audio)
      try await call.setHeld(true)
      let held = await Self.isSilent(taken.audio)
      try await call.setHeld(false)
      let after = await Self.hears(440, in: taken.audio)
      return [before, held, after]
    }
    #expect(heard == [true, true, true])
  }

  @Test func aMutedSideIsNotHeard() async throws {
    let heard = try await Self.withTwoClients { call, taken in
      let tone = Self.send(440, to: call.audio)
      defer { tone.cancel() }
      let before = await Self.hears(440, in: taken.audio)
      call.muteAudio()
      let muted = await Self.isSilent(taken.audio)
      call.unmuteAudio()
      let after = await Self.hears(440, in: taken.audio)
      return [before, muted, after]
    }
    #expect(heard == [true, true, true])
  }

  /// Waits for half a second of nearly nothing.
  static func isSilent(_ audio: CallAudio) async -> Bool {
    var quiet = 0
    for await frame in audio.frames {
      quiet = Tones.power(of: frame.samples[...]) < 1e4 ? quiet + frame.samples.count : 0
      if quiet >= 24_000 { return true }
    }
    return false
  }
}
