import Foundation
import Testing
import VoiceCore

@testable import VoiceServer

@Suite struct ServerConfigurationTests {
  static func read(_ text: String) throws(VoiceFailure) -> ServerConfiguration {
    try ServerConfiguration(text: text, file: "/etc/voice/server.yaml", environment: ["HOME": "/home/x"])
  }

  /// What a wrong file is told: the line, the key path, and what is expected.
  @Test(arguments: [
    (
      "limits: {decoders: many}", "line 1", "limits.decoders", "a whole number from 1 to 1024, found \"many\""
    ),
    ("limits:\n  decoders: 0", "line 2", "limits.decoders", "from 1 to 1024"),
    ("limits:\n  decoders: 2.5", "line 2", "limits.decoders", "a whole number"),
    ("limits:\n  decoders: \"2\"", "line 2", "limits.decoders", "a whole number"),
    ("limits: 5", "line 1", "limits", "a group of keys"),
    ("limits: {chunk_bytes: 1000001}", "line 1", "limits.chunk_bytes", "to 1000000"),
    ("limits: {context_seconds: .nan}", "line 1", "limits.context_seconds", "seconds"),
    ("limits: {context_seconds: -1}", "line 1", "limits.context_seconds", "1 to 3600 seconds"),
    ("limits: {idle_seconds: 1e99}", "line 1", "limits.idle_seconds", "seconds"),
    ("limits: {stream: 2}", "line 1", "limits.stream", "an unknown key"),
    ("# a comment\nprot: 1", "line 2", "prot", "an unknown key"),
    ("grpc_port: 65536", "line 1", "grpc_port", "0 to 65535"),
    ("grpc_port: -1", "line 1", "grpc_port", "0 to 65535"),
    ("grpc_port: 99999999999999999999", "line 1", "grpc_port", "0 to 65535"),
    ("host:", "line 1", "host", "found nothing"),
    ("host: [a]", "line 1", "host", "a list"),
    ("apps: x", "line 1", "apps", "a list"),
    ("apps: []", "", "apps", "at least one app"),
    ("apps:\n- name: a", "line 2", "apps[0]", "an id (a UUID), found none"),
    ("apps:\n- id: 17\n  project: 1", "line 2", "apps[0].id", "a UUID"),
    ("apps:\n- id: 00000000-0000-4000-8000-000000000001", "line 2", "apps[0]", "a project"),
    (
      """
      apps:
      - {id: 00000000-0000-4000-8000-000000000001, project: 00000000-0000-4000-8000-000000000002}
      - {id: 00000000-0000-4000-8000-000000000001, project: 00000000-0000-4000-8000-000000000002}
      """, "line 3", "apps[1]", "a second time"
    ),
    (
      "apps:\n- {id: 00000000-0000-4000-8000-000000000001, project: 00000000-0000-4000-8000-000000000002, language: e}",
      "line 2", "apps[0].language", "a language tag"
    ),
    ("tls: {certificate: a.pem}", "line 1", "tls", "both certificate and key"),
    ("projects:\n- api_keys: [x]", "line 2", "projects[0]", "an id"),
    ("host: a\nhost: b", "line", "host", "a second time"),
    ("host: 'a", "line", "", "YAML"),
    ("- 1", "line 1", "", "a group of keys"),
    ("grpc_port: 1\nhttp_port: 1", "", "http_port", "not grpc_port"),
  ])
  func tellsWhatIsWrong(_ text: String, _ line: String, _ key: String, _ expected: String) {
    let failure = #expect(throws: VoiceFailure.self) { _ = try Self.read(text) }
    #expect(failure?.code == .configurationInvalid)
    let message = failure?.message ?? ""
    #expect(message.hasPrefix("/etc/voice/server.yaml"))
    for part in [line, key, expected] where !part.isEmpty { #expect(message.contains(part), "\(message)") }
  }

  @Test(arguments: ["short", "with a space in it", "wïth-an-accent-in-it"])
  func refusesAWeakKeyWithoutShowingIt(_ key: String) {
    let failure = #expect(throws: VoiceFailure.self) {
      _ = try Self.read("projects:\n- {id: 00000000-0000-4000-8000-000000000002, api_keys: [\(key)]}")
    }
    #expect(failure?.message.contains("api_keys[0]") == true)
    #expect(failure?.message.contains(key) == false)
  }

  @Test func refusesAKeyOfAnotherTypeWithoutShowingIt() {
    let failure = #expect(throws: VoiceFailure.self) {
      _ = try Self.read(
        "projects:\n- {id: 00000000-0000-4000-8000-000000000002, api_keys: secret-secret-secret}")
    }
    #expect(failure?.message.contains("a list") == true)
  }

  @Test func aSyntaxErrorDoesNotShowTheFile() {
    let failure = #expect(throws: VoiceFailure.self) {
      _ = try Self.read("projects: [{api_keys: [a-very-secret-key]}\nhost: [")
    }
    #expect(failure?.message.contains("secret") == false)
    #expect(failure?.debugDescription.contains("secret") == false)
  }

  @Test(arguments: ["", "# only a comment\n", "---\n"])
  func anEmptyFileIsTheDefault(_ text: String) throws {
    let configuration = try Self.read(text)
    #expect(configuration == ServerConfiguration(dataFolder: "/home/x/.local/state/swift-voice/server"))
  }

  @Test func theDefaultIsADemoAppOnThisMachine() throws {
    let configuration = ServerConfiguration()
    #expect(configuration.host == "127.0.0.1")
    #expect(configuration.grpcPort == 50051)
    #expect(configuration.httpPort == 8080)
    #expect(configuration.tokenLifetime == .seconds(86_400))
    #expect(configuration.drainTime == .seconds(10))
    #expect(configuration.apps.map(\.id.uuidString) == [Fixture.appID])
    #expect(configuration.apps.map(\.project.uuidString) == [Fixture.projectID])
    #expect(configuration.apps.map(\.language) == ["en-US"])
    #expect(configuration.apps.map(\.segmentingSilence) == [nil])
    try configuration.validate()
  }

  @Test func readsEverything() throws {
    let configuration = try Self.read(
      """
      host: 0.0.0.0
      grpc_port: 0
      http_port: 9000
      data: state
      token_seconds: 7200
      drain_seconds: 2.5
      tls: {certificate: cert.pem, key: /keys/key.pem}
      apps:
      - id: 00000000-0000-4000-8000-0000000000AA
        name: kitchen
        project: 00000000-0000-4000-8000-0000000000bb
        language: fi-FI
        templates: kitchen/voice.yaml
        silence_triggered_segmentation: 360
      projects:
      - id: 00000000-0000-4000-8000-0000000000bb
        api_keys: [abcdefghijklmnop]
      limits:
        decoders: 7
        streams: 8
        chunk_bytes: 2048
        context_seconds: 60
        metadata_bytes: 2048
        idle_seconds: 9
        decoder_patience_seconds: 0.5
        logins_per_second: 3
      """)
    #expect(configuration.host == "0.0.0.0")
    #expect(configuration.grpcPort == 0)
    #expect(configuration.httpPort == 9000)
    #expect(configuration.dataFolder == "/etc/voice/state")
    #expect(configuration.tokenLifetime == .seconds(7200))
    #expect(configuration.drainTime == .milliseconds(2500))
    #expect(configuration.tls == .init(certificate: "/etc/voice/cert.pem", key: "/keys/key.pem"))
    let app = try #require(configuration.apps.first)
    #expect(app.id.uuidString == "00000000-0000-4000-8000-0000000000AA")
    #expect(app.project.uuidString == "00000000-0000-4000-8000-0000000000BB")
    #expect(app.name == "kitchen")
    #expect(app.language == "fi-FI")
    #expect(app.templates == "/etc/voice/kitchen/voice.yaml")
    #expect(app.segmentingSilence == .milliseconds(360))
    #expect(configuration.projects.map(\.apiKeys) == [["abcdefghijklmnop"]])
    var limits = ServerConfiguration.Limits()
    limits.decoders = 7
    limits.streams = 8
    limits.chunkBytes = 2048
    limits.contextDuration = .seconds(60)
    limits.metadataBytes = 2048
    limits.idleTime = .seconds(9)
    limits.decoderPatience = .milliseconds(500)
    limits.loginsPerSecond = 3
    #expect(configuration.limits == limits)
  }

  @Test func aZeroForSilenceIsNoSegmentation() throws {
    let configuration = try Self.read(
      """
      apps:
      - id: 00000000-0000-4000-8000-000000000001
        project: 00000000-0000-4000-8000-000000000002
        silence_triggered_segmentation: 0
      """)
    #expect(configuration.apps.map(\.segmentingSilence) == [nil])
  }

  @Test func aMissingFileIsNotFound() {
    let failure = #expect(throws: VoiceFailure.self) {
      _ = try ServerConfiguration(contentsOfFile: "/none-such/server.yaml")
    }
    #expect(failure?.code == .configurationNotFound)
    #expect(failure?.message.contains("/none-such/server.yaml") == true)
  }

  @Test func aFolderIsNoConfiguration() throws {
    let failure = #expect(throws: VoiceFailure.self) {
      _ = try ServerConfiguration(contentsOfFile: "/tmp")
    }
    #expect(failure?.code == .configurationInvalid)
  }

  @Test func bytesThatAreNotTextAreNoConfiguration() throws {
    let folder = try Fixture.Folder()
    let path = folder.path + "/server.yaml"
    try Data([0xff, 0xfe, 0x00, 0xd8]).write(to: URL(fileURLWithPath: path))
    let failure = #expect(throws: VoiceFailure.self) {
      _ = try ServerConfiguration(contentsOfFile: path)
    }
    #expect(failure?.code == .configurationInvalid)
  }

  @Test func readsAFile() throws {
    let folder = try Fixture.Folder()
    let path = folder.path + "/server.yaml"
    try Data("data: here\n".utf8).write(to: URL(fileURLWithPath: path))
    #expect(try ServerConfiguration(contentsOfFile: path).dataFolder == folder.path + "/here")
  }

  @Test(arguments: [
    (["XDG_STATE_HOME": "/state"], "/state/swift-voice/server"),
    (["XDG_STATE_HOME": "relative", "HOME": "/home/x"], "/home/x/.local/state/swift-voice/server"),
    (["HOME": "/home/x"], "/home/x/.local/state/swift-voice/server"),
  ])
  func theDataFolderFollowsTheEnvironment(_ environment: [String: String], _ folder: String) {
    #expect(ServerConfiguration.defaultDataFolder(environment: environment) == folder)
  }

  @Test func valuesSetInCodeAreCheckedToo() {
    var configuration = ServerConfiguration()
    configuration.limits.decoders = 0
    let failure = #expect(throws: VoiceFailure.self) { try configuration.validate() }
    #expect(failure?.message.contains("limits.decoders") == true)
    #expect(failure?.recovery == .changeConfiguration("limits.decoders"))
  }

  @Test func aConfigurationIsPrintedWithoutKeys() {
    let configuration = Fixture.configuration()
    #expect(!"\(configuration)".contains(Fixture.apiKey))
    #expect(!String(reflecting: configuration).contains(Fixture.apiKey))
  }

  @Test(arguments: [
    ("en-US", true), ("en", true), ("zh-Hant-TW", true), ("fil-PH", true), ("e", false), ("en_US", false),
    ("en-", false), ("", false), ("en-toolongpart", false), ("1n", false),
  ])
  func knowsALanguageTag(_ text: String, _ isTag: Bool) {
    #expect(Language.isTag(text) == isTag)
  }
}
