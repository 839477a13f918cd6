import CallSignaling
import Calls
import Foundation
import Synchronization
import Testing
import VoiceCore
import VoiceServer

@testable import VoiceTesting

/// Our client and our gateway over real sockets; independent peers prove the wire of each elsewhere.
@Suite(.timeLimit(.minutes(2)))
struct CallEndToEndTests {
  /// A client of a user, registered at the gateway.
  private static func client(
    _ name: String, at port: Int, media: ScriptedMedia = ScriptedMedia()
  ) async throws -> TxClient {
    let client = TxClient(media: media)
    let url = try #require(URL(string: "ws://127.0.0.1:\(port)/calls"))
    try client.connect(
      txConfig: TxConfig(sipUser: name, password: "a long password"),
      serverConfiguration: TxServerConfiguration(signalingServer: url))
    try await client.ready()
    return client
  }

  private static func withGateway<R: Sendable>(
    observer: VoiceServer.Observer = .init(),
    _ body: @Sendable @escaping (RunningServer, Int) async throws -> R
  ) async throws -> R {
    try await RunningServer.with(
      engine: MarkerEngine(),
      configure: {
        $0.calls.users = ["alice", "bob"].map {
          ServerConfiguration.Calls.User(name: $0, password: "a long password")
        }
      }, observer: observer
    ) { server in
      try await body(server, try await server.server.addresses.http.port)
    }
  }

  private static func incoming(_ events: EventBroadcaster<ClientEvent>.Subscription) async -> Call? {
    for await event in events { if case .incomingCall(let call) = event { return call } }
    return nil
  }

  @Test func aCallIsPlacedTakenHeldAndEnded() async throws {
    let reasons = try await Self.withGateway { _, port in
      let alice = try await Self.client("alice", at: port)
      let bob = try await Self.client("bob", at: port)
      let bobsEvents = bob.events
      async let rings = Self.incoming(bobsEvents)
      let call = try await alice.call("bob")
      let other = try #require(await rings)
      other.answer()
      try await call.answered()
      #expect(call.callState == .ACTIVE)
      try await call.setHeld(true)
      #expect(call.callState == .HELD)
      try await call.setHeld(false)
      other.hangup()
      let reason = try await call.ended()
      await alice.disconnected()
      await bob.disconnected()
      return reason
    }
    #expect(reasons.cause == "NORMAL_CLEARING")
    #expect(reasons.failure == nil)
  }

  @Test(arguments: [("fail-486", "USER_BUSY", 486), ("nobody", "UNALLOCATED_NUMBER", 404), ("bob", "", 480)])
  func aCallThatCannotBeEndsOnceWithItsCause(_ destination: String, _ cause: String, _ status: Int)
    async throws
  {
    let reason = try await Self.withGateway { _, port in
      let alice = try await Self.client("alice", at: port)
      let call = try await alice.call(destination)
      let reason = try await call.ended()
      await alice.disconnected()
      return reason
    }
    if !cause.isEmpty { #expect(reason.cause == cause) }
    #expect(reason.sipCode == status)
    #expect(reason.failure != nil)
  }

  /// The socket of one side is cut in the call: the same call goes on.
  @Test func aCallOutlivesItsSocket() async throws {
    let states = try await Self.withGateway { server, port in
      let bob = try await Self.client("bob", at: port)
      return try await withImpairedLink(to: "127.0.0.1", port: port, plan: LinkPlan()) { link in
        let alice = try await Self.client("alice", at: link.port)
        let bobsEvents = bob.events
        async let rings = Self.incoming(bobsEvents)
        let call = try await alice.call("bob")
        let other = try #require(await rings)
        other.answer()
        try await call.answered()
        let events = call.events
        await link.cutAll(.reset)
        var states: [String] = []
        for await event in events {
          guard case .stateUpdated(let state) = event else { continue }
          states.append(state.value)
          // The answer may be told only now.
          if state == .ACTIVE, states.count > 1 { break }
        }
        call.hangup()
        _ = try await other.ended()
        await alice.disconnected()
        await bob.disconnected()
        return states
      }
    }
    #expect(states.contains("RECONNECTING") || states.contains("DROPPED"))
    #expect(states.last == "ACTIVE")
  }

  /// An ICE restart goes to the other client and back, and nobody has to reattach.
  @Test func aRestartOfMediaIsAnsweredByTheOtherSide() async throws {
    let (states, steps) = try await Self.withGateway { _, port in
      let (near, far) = (ScriptedMedia(), ScriptedMedia())
      let alice = try await Self.client("alice", at: port, media: near)
      let bob = try await Self.client("bob", at: port, media: far)
      let bobsEvents = bob.events
      async let rings = Self.incoming(bobsEvents)
      let call = try await alice.call("bob")
      let other = try #require(await rings)
      other.answer()
      try await call.answered()
      // A restart has to begin with media that is connected.
      await near.peer(of: CallID(try #require(call.callInfo).callId.uuidString))?.hasBothDescriptions()
      let events = call.events
      let isBack: Bool = await withCheckedContinuation { continuation in
        call.iceRestart { isBack, _ in continuation.resume(returning: isBack) }
      }
      #expect(isBack)
      call.hangup()
      _ = try await other.ended()
      let peer = far.peer(of: CallID(try #require(other.callInfo).callId.uuidString))
      await alice.disconnected()
      await bob.disconnected()
      var states: [String] = []
      for await event in events { if case .stateUpdated(let state) = event { states.append(state.value) } }
      #expect(call.report?.outages == 0)
      return (states, peer?.steps ?? [])
    }
    #expect(states.suffix(3) == ["RECONNECTING", "ACTIVE", "DONE"])
    #expect(steps.filter { $0 == .madeAnswer(isReattach: false) }.count == 2)
  }

  /// Users are added by a command of another process, while the server runs.
  @Test func aUserThatIsAddedCanBeCalledBeforeTheFirstLogin() async throws {
    let (changes, told) = AsyncStream.makeStream(of: Set<String>.self)
    let observer = VoiceServer.Observer(callUsersChanged: { told.yield($0) })
    try await Self.withGateway(observer: observer) { server, port in
      let alice = try await Self.client("alice", at: port)
      func status() async throws -> Int? { try await alice.call("erin").ended().sipCode }
      #expect(try await status() == 404)
      let folder = server.server.configuration.dataFolder
      let voice = URL(filePath: CommandLine.arguments[0]).deletingLastPathComponent().appending(path: "voice")
      try await withProcess(voice, arguments: ["users", "add", "erin", "--data", folder]) { process in
        process.send("a long password")
        process.closeInput()
        await process.waitForExit()
        #expect(process.exitStatus == 0, "\(process.errorOutput)")
      }
      for await users in changes where users.contains("erin") { break }
      #expect(try await status() == 480)
      await alice.disconnected()
    }
  }
}
