import CallMedia
import CallSignaling
import Foundation
import Testing
import VoiceCore

@testable import VoiceServer

@Suite struct CallsConfigurationTests {
  @Test func readsUsersDialPlanAndLimits() throws {
    let calls = try ServerConfigurationTests.read(
      """
      calls:
        node: fra1
        guests: true
        users:
          - {name: alice, password: correct horse, tokens: [a-token-of-sixteen-and-more]}
          - {name: bob, password_hash: "$scrypt$ln=14,r=8,p=5$c2FsdHNhbHRzYWx0$aGFzaGhhc2hoYXNoaGFzaGhhc2hoYXNoaGFzaGhhc2g"}
        dial_plan:
          - {number: "+4930123", to: alice}
        limits: {calls_per_user: 2, ring_seconds: 30, detach_seconds: 60, frame_bytes: 65536}
      """
    ).calls
    #expect(calls.node == "fra1" && calls.allowsGuests == true)
    #expect(calls.users.map(\.name) == ["alice", "bob"])
    #expect(calls.users[0].password == "correct horse" && calls.users[1].password == nil)
    #expect(calls.dialPlan == [.init(number: "+4930123", destination: "alice")])
    #expect(calls.limits.callsPerUser == 2 && calls.limits.ringTime == .seconds(30))
    #expect(calls.limits.detachTime == .seconds(60) && calls.limits.frameBytes == 65_536)
    #expect(!"\(calls)".contains("horse") && !"\(calls)".contains("a-token"))
  }

  @Test func readsIceServersAndNeverPrintsTheirPasswords() throws {
    let calls = try ServerConfigurationTests.read(
      """
      calls:
        ice_servers:
          - {url: "stun:stun.example.org"}
          - {url: "turns:turn.example.org?transport=tcp", username: voice, password: correct horse}
      """
    ).calls
    #expect(
      calls.iceServers == [
        .init(url: "stun:stun.example.org"),
        .init(url: "turns:turn.example.org?transport=tcp", username: "voice", password: "correct horse"),
      ])
    #expect(!"\(calls)".contains("horse"))
    #expect(!String(reflecting: calls).contains("horse"))
    let server = try MediaSession.Configuration.IceServer(calls.iceServers[1])
    #expect(server.address.isRelay && server.address.port == 5349)
    #expect(server.username == "voice")
  }

  @Test func theAssistantUnderstandsTheDemoAppUnlessAnotherIsNamed() throws {
    #expect(ServerConfiguration().assistantApp?.id == ServerConfiguration.App.demo.id)
    var configuration = ServerConfiguration()
    let kitchen = ServerConfiguration.App(id: UUID(), name: "kitchen", project: UUID())
    configuration.apps.append(kitchen)
    #expect(configuration.assistantApp?.name == "demo")
    configuration.calls.assistant = "kitchen"
    #expect(configuration.assistantApp == kitchen)
    configuration.calls.assistant = kitchen.id.uuidString.lowercased()
    #expect(configuration.assistantApp == kitchen)
    configuration.apps.removeFirst()
    configuration.calls.assistant = nil
    #expect(configuration.assistantApp == kitchen)
  }

  @Test(arguments: [
    ("calls: 5", "calls", "a group of keys"),
    ("calls: {user: []}", "calls.user", "an unknown key"),
    ("calls: {users: [{password: 12345678}]}", "calls.users[0]", "a name"),
    ("calls: {users: [{name: alice}]}", "calls.users[0]", "a password"),
    ("calls: {users: [{name: alice, password: short}]}", "calls.users[0].password", "at least 8"),
    ("calls: {users: [{name: echo, password: 12345678}]}", "calls.users[0].name", "no name of a service"),
    ("calls: {users: [{name: fail-486, password: 12345678}]}", "calls.users[0].name", "no name of a service"),
    ("calls: {users: [{name: a b, password: 12345678}]}", "calls.users[0].name", "letters"),
    (
      "calls: {users: [{name: a, password: 12345678}, {name: a, password: 12345678}]}", "calls.users[1].name",
      "twice"
    ),
    ("calls: {users: [{name: a, password_hash: x}]}", "calls.users[0].password_hash", "voice users hash"),
    (
      "calls: {users: [{name: a, password: 12345678, password_hash: x}]}", "calls.users[0]", "found both"
    ),
    ("calls: {users: [{name: a, tokens: [short]}]}", "calls.users[0].tokens[0]", "at least 16"),
    ("calls: {assistant: [demo]}", "calls.assistant", "the name of an app"),
    ("calls: {assistant: nobody}", "calls.assistant", "demo"),
    ("calls: {assistant: \"\"}", "calls.assistant", "an app"),
    ("calls: {limits: {assistant_seconds: 5}}", "calls.limits.assistant_seconds", "10"),
    ("calls: {limits: {assistant_silence_seconds: 0}}", "calls.limits.assistant_silence_seconds", "2"),
    ("calls: {dial_plan: [{number: 1}]}", "calls.dial_plan[0]", "both number and to"),
    ("calls: {dial_plan: [{number: echo, to: a}]}", "calls.dial_plan[0].number", "no name of a service"),
    ("calls: {guests: maybe}", "calls.guests", "true or false"),
    ("calls: {node: a-b}", "calls.node", "letters and digits"),
    ("calls: {limits: {calls: 0}}", "calls.limits.calls", "from 1 to"),
    ("calls: {limits: {frame_bytes: 10}}", "calls.limits.frame_bytes", "from 16384"),
    ("calls: {limits: {ring_seconds: 0}}", "calls.limits.ring_seconds", "1 to 600 seconds"),
    ("calls: {ice_servers: stun}", "calls.ice_servers", "a list"),
    ("calls: {ice_servers: [{username: a}]}", "calls.ice_servers[0]", "a url"),
    (
      "calls: {ice_servers: [{url: \"turn:a:short@b\"}]}", "calls.ice_servers[0].url", "stun:stun.example.org"
    ),
    ("calls: {ice_servers: [{url: \"turn:b\"}]}", "calls.ice_servers[0]", "username and password"),
    (
      "calls: {ice_servers: [{url: \"turn:b\", password: short}]}", "calls.ice_servers[0]",
      "username and password"
    ),
    (
      "calls: {ice_servers: [{url: \"stun:b\", passwd: short}]}", "calls.ice_servers[0].passwd",
      "an unknown key"
    ),
    ("calls: {limits: {bytes: 1}}", "calls.limits.bytes", "an unknown key"),
  ])
  func tellsWhatIsWrong(_ text: String, _ key: String, _ expected: String) {
    let failure = #expect(throws: VoiceFailure.self) { _ = try ServerConfigurationTests.read(text) }
    #expect(failure?.code == .configurationInvalid)
    let message = failure?.message ?? ""
    for part in ["/etc/voice/server.yaml", "\(key): expected", expected] {
      #expect(message.contains(part), "\(message)")
    }
    #expect(!message.contains("short"))
  }

  @Test func logsNeitherPasswordsNorTokensNorDescriptions() async throws {
    let log = CapturingLog()
    try await withServer(CallPeer.configuration(), logger: log.logger) { server in
      try await CallPeer.play(["two_clients", "wrong_logins_end", "early_media"], against: server)
    }
    #expect(log.text.contains("call ended") && log.text.contains("call login refused"))
    for secret in ["alice-password", "an-opaque-token", "m=audio", "scrypt", "5#"] {
      #expect(!log.text.contains(secret), "\(secret) is in the log")
    }
  }
}
