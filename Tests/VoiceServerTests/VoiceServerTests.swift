import Foundation
import GRPCCore
import GRPCNIOTransportHTTP2
import Logging
import NIOCore
import ServiceLifecycle
import SpeechPipeline
import SpeechProtocol
import SwiftProtobuf
import Testing
import VoiceCore

@testable import VoiceServer

/// How a server starts, and what it says if it cannot.
@Suite struct VoiceServerTests {
  /// The failure of a server that cannot start.
  static func failure(
    engine: any RecognitionEngine = RunEngine(),
    _ change: (inout ServerConfiguration, Fixture.Folder) throws -> Void
  ) async throws -> VoiceFailure? {
    let folder = try Fixture.Folder()
    var configuration = Fixture.configuration(dataFolder: folder.path)
    try change(&configuration, folder)
    let server = VoiceServer(
      configuration: configuration, engine: engine,
      logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
    do {
      try await server.run()
      return nil
    } catch {
      // Whoever waits for the server hears the same.
      do {
        _ = try await server.addresses
        Issue.record("a server that cannot start has addresses")
      } catch let waited {
        #expect((waited as? VoiceFailure)?.code == (error as? VoiceFailure)?.code)
      }
      return error as? VoiceFailure
    }
  }

  @Test func aTakenPortIsReported() async throws {
    try await withServer { running in
      for port in [\ServerConfiguration.grpcPort, \ServerConfiguration.httpPort] {
        let failure = try await Self.failure { configuration, _ in
          configuration[keyPath: port] = running.addresses.grpc.port
        }
        #expect(failure?.code == .portInUse)
        #expect(failure?.message.contains("127.0.0.1:\(running.addresses.grpc.port)") == true)
      }
    }
  }

  @Test(arguments: ["203.0.113.1", "no-such-host.invalid", "not an address", "999.1.1.1"])
  func anAddressOfAnotherMachineIsReported(_ host: String) async throws {
    let failure = try await Self.failure { configuration, _ in configuration.host = host }
    #expect(failure?.code == .listenAddressInvalid)
    #expect(failure?.message.contains(host) == true)
  }

  @Test(arguments: [
    (EADDRINUSE, VoiceFailure.Code.portInUse), (EACCES, .portNotPermitted), (EPERM, .portNotPermitted),
    (EADDRNOTAVAIL, .listenAddressInvalid),
  ])
  func errorsOfTheSystemHaveNames(_ number: Int32, _ code: VoiceFailure.Code) {
    let address = ListenAddress(host: "::1", port: 80)
    let error = IOError(errnoCode: number, reason: "bind")
    for error in [error, RuntimeError(code: .transportError, message: "x", cause: error)] as [any Error] {
      let failure = ListenFailure.failure(from: error, at: address, usesTLS: false)
      #expect(failure.code == code)
    }
    #expect("\(address)" == "[::1]:80")
  }

  @Test func aMissingModelIsReported() async throws {
    let failure = try await Self.failure(engine: RunEngine(loadFailure: VoiceFailure(.modelMissing))) {
      _, _ in
    }
    #expect(failure?.code == .modelMissing)
  }

  @Test func anAppInALanguageWithoutARecogniserIsReported() async throws {
    let failure = try await Self.failure { configuration, _ in configuration.apps[0].language = "fi-FI" }
    #expect(failure?.code == .engineLanguageMissing)
    #expect(failure?.message.contains("fi-FI") == true)
  }

  @Test func aWrongConfigurationIsReported() async throws {
    let failure = try await Self.failure { configuration, _ in configuration.limits.streams = 0 }
    #expect(failure?.code == .configurationInvalid)
  }

  @Test func aDamagedKeyIsReported() async throws {
    let failure = try await Self.failure { _, folder in
      try Data().write(to: URL(fileURLWithPath: folder.path + "/signing-key"))
    }
    #expect(failure?.code == .signingKeyInvalid)
  }

  @Test func aDataFolderThatCannotBeMadeIsReported() async throws {
    let failure = try await Self.failure { configuration, _ in configuration.dataFolder = "/proc/voice" }
    #expect(failure?.code == .dataFolderNotWritable)
  }

  @Test(
    arguments: [
      (TestCertificate.certificate, nil), (nil, TestCertificate.key), ("garbage", TestCertificate.key),
      (TestCertificate.certificate, "garbage"), (TestCertificate.certificate, TestCertificate.otherKey),
    ] as [(String?, String?)])
  func aCertificateThatCannotBeUsedIsReported(_ certificate: String?, _ key: String?) async throws {
    let failure = try await Self.failure { configuration, folder in
      let tls = ServerConfiguration.TLS(certificate: folder.path + "/c.pem", key: folder.path + "/k.pem")
      try certificate?.write(toFile: tls.certificate, atomically: true, encoding: .utf8)
      try key?.write(toFile: tls.key, atomically: true, encoding: .utf8)
      configuration.tls = tls
    }
    #expect(failure?.code == .certificateInvalid)
  }

  @Test func servesWithTLS() async throws {
    let files = try Fixture.Folder()
    let tls = ServerConfiguration.TLS(certificate: files.path + "/c.pem", key: files.path + "/k.pem")
    try TestCertificate.certificate.write(toFile: tls.certificate, atomically: true, encoding: .utf8)
    try TestCertificate.key.write(toFile: tls.key, atomically: true, encoding: .utf8)
    var configuration = Fixture.configuration()
    configuration.tls = tls
    try await withServer(configuration) { running in
      try await withGRPCClient(
        transport: .http2NIOPosix(
          target: .ipv4(address: "127.0.0.1", port: running.addresses.grpc.port),
          transportSecurity: .tls {
            $0.trustRoots = .certificates([.bytes(Array(TestCertificate.certificate.utf8), format: .pem)])
          })
      ) { client in
        let client = TestClient(client: client)
        let token = try await client.logIn()
        let (responses, error) = try await client.stream(token: token) { stream in
          try await stream.send(Request.config(), Request.start())
          try await stream.send(audio: RunEngine.audio([4]))
        }
        #expect(error == nil)
        #expect(responses.words == ["w4"])
      }
    }
  }

  @Test func twoServersWithOneDataFolderAcceptEachOthersTokens() async throws {
    let folder = try Fixture.Folder()
    var generator = SystemRandomNumberGenerator()
    let key = try SigningKey.load(folder: folder.path, using: &generator).key
    #expect(try SigningKey.load(folder: folder.path, using: &generator).key == key)
  }

  @Test func aDataFolderThatAnotherServerUsesIsReportedAndLeftAlone() async throws {
    let folder = try Fixture.Folder()
    try await withServer(dataFolder: folder.path) { running in
      // A recording that is just coming in.
      let spool = try BatchStore(dataFolder: folder.path).makeSpool(for: UUID())
      let before = try FileManager.default.subpathsOfDirectory(atPath: folder.path).sorted()
      let failure = try await Self.failure { configuration, _ in configuration.dataFolder = folder.path }
      #expect(failure?.code == .dataFolderInUse)
      #expect(failure?.message.contains(folder.path) == true)
      #expect(try FileManager.default.subpathsOfDirectory(atPath: folder.path).sorted() == before)
      withExtendedLifetime(spool) {}
    }
    // The next one may have it.
    try await withServer(dataFolder: folder.path) { _ in }
  }

  @Test func isReadyOnceTheModelsAreLoaded() async throws {
    let folder = try Fixture.Folder()
    let engine = GatedEngine()
    let server = VoiceServer(
      configuration: Fixture.configuration(dataFolder: folder.path), engine: engine,
      logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
    let parts = try await ServerParts(server)
    try await withThrowingTaskGroup(of: Void.self) { group in
      let services = ServiceGroup(
        configuration: .init(
          services: [parts.web, parts.speech], logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        ))
      group.addTask { try await services.run() }
      let addresses = ListenAddresses(
        grpc: try await parts.web.addresses.grpc.value(), http: try await parts.web.addresses.http.value())
      let running = RunningServer(server: server, addresses: addresses)
      #expect(try await running.get("/readyz").status == 503)
      #expect(try await running.get("/healthz").status == 200)
      try await running.withClient { client in
        let token = try await client.logIn()
        let (_, error) = try await client.stream(token: token) { try await $0.send(Request.config()) }
        #expect(error?.code == .unavailable)
        #expect(error?.failureCode == "speech.stream.server-overloaded")
        engine.open()
        #expect(try await server.addresses == addresses)
        #expect(try await running.get("/readyz").status == 200)
        let (_, none) = try await client.stream(token: token) { try await $0.send(Request.config()) }
        #expect(none == nil)
      }
      await services.triggerGracefulShutdown()
      try await group.waitForAll()
    }
  }

  @Test func isPartOfAServiceGroup() async throws {
    let folder = try Fixture.Folder()
    let silent = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
    let server = VoiceServer(
      configuration: Fixture.configuration(dataFolder: folder.path), engine: RunEngine(), logger: silent)
    let group = ServiceGroup(configuration: .init(services: [server], logger: silent))
    try await withThrowingTaskGroup(of: Void.self) { tasks in
      tasks.addTask { try await group.run() }
      _ = try await server.addresses
      await group.triggerGracefulShutdown()
      try await tasks.waitForAll()
    }
  }

  @Test func cancellingTheTaskStopsTheServer() async throws {
    let folder = try Fixture.Folder()
    let server = VoiceServer(
      configuration: Fixture.configuration(dataFolder: folder.path), engine: RunEngine(),
      logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
    let task = Task { try await server.run() }
    _ = try await server.addresses
    task.cancel()
    _ = await task.result
    await #expect(throws: (any Error).self) {
      // The announcement was made; but nobody listens any more.
      _ = try await RunningServer(server: server, addresses: try await server.addresses).get("/healthz")
    }
  }
}
