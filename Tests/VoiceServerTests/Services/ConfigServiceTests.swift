import Foundation
import GRPCCore
import SpeechProtocol
import SpeechUnderstanding
import SwiftProtobuf
import Testing
import VoiceCore

@testable import VoiceServer

@Suite struct ConfigServiceTests {
  private func withClient<Result: Sendable>(
    _ body: @escaping @Sendable (TestClient) async throws -> Result
  ) async throws -> Result {
    try await withServer { server in try await server.withClient { try await body($0) } }
  }

  private func expectRefusal(
    _ status: RPCError.Code, _ code: String, _ work: @escaping @Sendable () async throws -> Void
  ) async {
    let error = await #expect(throws: RPCError.self) { try await work() }
    #expect(error?.code == status)
    #expect(error?.failureCode == code)
  }

  private static var key: Metadata { TestClient.metadata(Fixture.apiKey) }

  // MARK: Bad input

  @Test func refusesEverythingWithoutTheKeyOfAProject() async throws {
    try await self.withClient { client in
      let token = try await client.logIn()
      await self.expectRefusal(.unauthenticated, "speech.identity.credentials-rejected") {
        _ = try await client.config.listApps(.init())
      }
      await self.expectRefusal(.permissionDenied, "speech.identity.credentials-rejected") {
        _ = try await client.config.listApps(.init(), metadata: TestClient.metadata(token))
      }
      await self.expectRefusal(.permissionDenied, "speech.identity.credentials-rejected") {
        try await client.deploy([65], key: "a-key-of-nobody-here")
      }
    }
  }

  @Test func doesNotWriteKeysToTheLog() async throws {
    let log = CapturingLog()
    try await withServer(logger: log.logger) { server in
      try await server.withClient { client in
        try await client.deploy(sal: "*greet hello")
        try? await client.deploy([65], key: "a-wrong-key-that-nobody-may-see")
      }
    }
    #expect(log.text.contains("configuration deployed"))
    #expect(log.text.contains("speech.identity.credentials-rejected"))
    #expect(!log.text.contains(Fixture.apiKey))
    #expect(!log.text.contains("a-wrong-key-that-nobody-may-see"))
  }

  @Test func refusesTheAppsOfOtherProjects() async throws {
    try await self.withClient { client in
      for app in [Fixture.foreignID] {
        await self.expectRefusal(.permissionDenied, "speech.identity.unknown-app") {
          try await client.deploy([65], to: app)
        }
        await self.expectRefusal(.permissionDenied, "speech.identity.unknown-app") {
          _ = try await client.app(app)
        }
        await self.expectRefusal(.permissionDenied, "speech.identity.unknown-app") {
          _ = try await client.config.deleteApp(.with { $0.appID = app }, metadata: Self.key)
        }
      }
      await self.expectRefusal(.permissionDenied, "speech.identity.unknown-app") {
        _ = try await client.config.listApps(
          .with { $0.project = Fixture.foreignID }, metadata: Self.key)
      }
    }
  }

  @Test func theStateOfAnAppSaysWhatCannotBeRecognised() async throws {
    let problem = VoiceFailure(.wordUnpronounceable, message: "Nobody knows how “x” sounds.")
    try await withServer(engine: RunEngine(problems: [problem])) { server in
      try await server.withClient { client in
        try await client.deploy(sal: "*greet hello")
        let app = try await client.app()
        #expect(app.status == .trained)
        #expect(app.errorMsg == "\(problem.message) [speech.understanding.word-unpronounceable]")
      }
    }
  }

  @Test func refusesAConfigurationWithErrorsAndLeavesTheOldOne() async throws {
    try await self.withClient { client in
      try await client.deploy(sal: "*greet hello")
      await self.expectRefusal(.invalidArgument, "server.interface.invalid") {
        try await client.deploy(sal: "*greet $missing")
      }
      let app = try await client.app()
      #expect(app.status == .failed)
      #expect(app.errorMsg.contains("app.yaml:2:10: "), "\(app.errorMsg)")
      #expect(app.errorMsg.contains("[server.interface.invalid]"))
      let token = try await client.logIn()
      #expect(try await client.understand("hello", token: token).map(\.intent.intent) == ["greet"])
    }
  }

  @Test func refusesAnArchiveThatWasCutOff() async throws {
    try await self.withClient { client in
      let bytes = try TarArchive.archive(of: DemoInterface.files)
      await self.expectRefusal(.invalidArgument, "server.interface.archive-invalid") {
        try await client.deploy(Array(bytes.prefix(bytes.count / 2)))
      }
      await self.expectRefusal(.invalidArgument, "server.interface.archive-invalid") {
        try await client.deploy([])
      }
    }
  }

  @Test func refusesAConfigurationThatIsTooLarge() async throws {
    try await self.withClient { client in
      let bytes = [UInt8](repeating: 35, count: SourceCollector.sizeLimit + 1)
      await self.expectRefusal(.resourceExhausted, "server.interface.too-large") {
        try await client.deploy(bytes, type: .yaml)
      }
      // What was not deployed leaves the app as it was.
      let status = try await client.app().status
      #expect(status == .trained)
    }
  }

  @Test func refusesASecondDeploymentWhileOneIsUnderWay() async throws {
    try await withServer { server in
      try await server.withClient { client in
        let (begun, continuation) = AsyncStream<Void>.makeStream()
        let (done, finish) = AsyncStream<Void>.makeStream()
        async let first: Void = {
          _ = try await client.config.uploadTrainingData(metadata: Self.key) { writer in
            let yaml = TestClient.yaml("*first hello")
            for (index, piece) in [yaml.prefix(5), yaml.dropFirst(5)].enumerated() {
              try await writer.write(
                .with {
                  $0.appID = Fixture.appID
                  $0.dataChunk = Data(piece.utf8)
                  $0.contentType = .yaml
                })
              guard index == 0 else { continue }
              while try await client.app().status != .training {}
              continuation.yield()
              for await _ in done { break }
            }
          }
        }()
        for await _ in begun { break }
        await self.expectRefusal(.aborted, "server.interface.busy") {
          try await client.deploy(sal: "*second hello")
        }
        finish.yield()
        try await first
        let token = try await client.logIn()
        #expect(try await client.understand("hello", token: token).map(\.intent.intent) == ["first"])
      }
    }
  }

  @Test func forgetsAnUploadWhoseClientWentAway() async throws {
    try await self.withClient { client in
      let upload = Task {
        _ = try await client.config.uploadTrainingData(metadata: Self.key) { writer in
          try await writer.write(.with { $0.appID = Fixture.siblingID })
          for await _ in AsyncStream<Void>.makeStream().stream {}
        }
      }
      while try await client.app(Fixture.siblingID).status != .training {}
      upload.cancel()
      while try await client.app(Fixture.siblingID).status == .training {}
      #expect(try await client.app(Fixture.siblingID).status == .new)
    }
  }

  @Test func refusesUploadsThatStop() async throws {
    var configuration = Fixture.configuration()
    configuration.limits.idleTime = .seconds(1)
    try await withServer(configuration) { server in
      try await server.withClient { client in
        await self.expectRefusal(.deadlineExceeded, "speech.stream.idle") {
          _ = try await client.config.uploadTrainingData(metadata: Self.key) { writer in
            try await writer.write(.with { $0.appID = Fixture.appID })
            for await _ in AsyncStream<Void>.makeStream().stream {}
          }
        }
        let status = try await client.app().status
        #expect(status == .trained)
      }
    }
  }

  @Test func refusesToChangeAppsOfTheServersConfiguration() async throws {
    try await self.withClient { client in
      await self.expectRefusal(.failedPrecondition, "server.app.read-only") {
        _ = try await client.config.deleteApp(.with { $0.appID = Fixture.appID }, metadata: Self.key)
      }
      await self.expectRefusal(.failedPrecondition, "server.app.read-only") {
        _ = try await client.config.updateApp(
          .with {
            $0.app.id = Fixture.appID
            $0.app.name = "other"
          }, metadata: Self.key)
      }
    }
  }

  @Test(
    arguments: [
      ("fi-FI", "x", [], "speech.identity.language-not-offered"),
      ("", "x", [], "speech.identity.language-not-offered"),
      ("en-US", String(repeating: "x", count: 101), [], "speech.stream.request-invalid"),
      ("en-US", "a\nb", [], "speech.stream.request-invalid"),
      ("en-US", "x", ["UPPER"], "speech.stream.request-invalid"),
      ("en-US", "x", ["a", "b", "c", "d", "e", "f"], "speech.stream.request-invalid"),
    ] as [(String, String, [String], String)])
  func refusesAppsThatCannotBe(language: String, name: String, tags: [String], code: String) async throws {
    try await self.withClient { client in
      await self.expectRefusal(.invalidArgument, code) {
        _ = try await client.config.createApp(
          .with {
            $0.app.language = language
            $0.app.name = name
            $0.app.tags = tags
          }, metadata: Self.key)
      }
    }
  }

  @Test func hasNothingToDownloadOfAnAppWithoutConfiguration() async throws {
    try await self.withClient { client in
      await self.expectRefusal(.notFound, "server.interface.missing") {
        _ = try await self.download(client, Fixture.siblingID)
      }
      await self.expectRefusal(.notFound, "server.interface.missing") {
        _ = try await self.download(client, Fixture.appID, config: UUID().uuidString)
      }
    }
  }

  @Test func refusesWhatItDoesNotOfferByName() async throws {
    try await self.withClient { client in
      await self.expectRefusal(.unimplemented, "server.method.not-offered") {
        _ = try await client.config.createProject(.init(), metadata: Self.key)
      }
      await self.expectRefusal(.unimplemented, "server.method.not-offered") {
        _ = try await client.config.invite(.init(), metadata: Self.key)
      }
    }
  }

  // MARK: Deployment

  private func download(_ client: TestClient, _ app: String, config: String = "") async throws -> [UInt8] {
    let bytes = Shared<[UInt8]>([])
    try await client.config.downloadCurrentTrainingData(
      .with {
        $0.appID = app
        $0.configID = config
      }, metadata: Self.key
    ) { response in
      for try await message in response.messages { bytes.value += message.dataChunk }
    }
    return bytes.value
  }

  @Test func givesBackWhatWasDeployedByteByByte() async throws {
    try await self.withClient { client in
      // Large, but with few values: what is not imported is not compiled.
      let remark = String(repeating: "x", count: 2000)
      let list = ConfigurationFile(
        name: "words.csv", text: (0..<1200).map { "word\($0),\(remark)" }.joined(separator: "\n"))
      let yaml = ConfigurationFile(
        name: "app.yaml",
        text: "imports:\n  - {name: word, source: words.csv, field: 1}\ntemplates: \"*say $word(word)\"\n")
      let bytes = try TarArchive.archive(of: [yaml, list])
      #expect(bytes.count > 2_000_000)
      try await client.deploy(bytes)
      #expect(try await self.download(client, Fixture.appID) == bytes)
      let app = try await client.app()
      #expect(app.status == .trained)
      #expect(app.deployedAtTime.seconds > 1_700_000_000)
      #expect(app.trainingTimeSec >= 1)
    }
  }

  @Test func makesChangesAndDeletesAppsThatClientsCanLogInToAtOnce() async throws {
    let folder = try Fixture.Folder()
    let id = try await self.withClient(in: folder) { client in
      let id = try await client.config.createApp(
        .with {
          $0.app.language = "en-us"
          $0.app.name = "new"
          $0.app.tags = ["team:a"]
        }, metadata: Self.key
      ).app.id
      #expect(try await client.app(id).status == .new)
      #expect(try await client.app(id).language == "en-US")
      try await client.deploy(sal: "*greet hello", to: id)
      let token = try await client.logIn(app: id)
      #expect(try await client.understand("hello", token: token).map(\.intent.intent) == ["greet"])
      _ = try await client.config.updateApp(
        .with {
          $0.app.id = id
          $0.app.name = "renamed"
        }, metadata: Self.key)
      return id
    }
    try await self.withClient(in: folder) { client in
      let apps = try await client.config.listApps(.init(), metadata: Self.key).apps
      #expect(apps.map(\.name) == ["demo", "renamed", "sibling"])
      #expect(try await client.app(id).status == .trained)
      let token = try await client.logIn(app: id)
      #expect(try await client.understand("hello", token: token).map(\.intent.intent) == ["greet"])
      _ = try await client.config.deleteApp(.with { $0.appID = id }, metadata: Self.key)
      await #expect(throws: RPCError.self) { _ = try await client.logIn(app: id) }
    }
    try await self.withClient(in: folder) { client in
      await #expect(throws: RPCError.self) { _ = try await client.logIn(app: id) }
    }
  }

  @discardableResult
  private func withClient<Result: Sendable>(
    in folder: Fixture.Folder, _ body: @escaping @Sendable (TestClient) async throws -> Result
  ) async throws -> Result {
    try await withServer(dataFolder: folder.path) { server in
      try await server.withClient { try await body($0) }
    }
  }

  @Test func saysWhichProjectAKeyBelongsTo() async throws {
    try await self.withClient { client in
      let response = try await client.config.getProject(.init(), metadata: Self.key)
      #expect(response.project == [Fixture.projectID])
    }
  }

  @Test func listsTheLanguagesOfTheEngine() async throws {
    try await self.withClient { client in
      let model = Speechly_Config_V1_ModelAPI.Client(wrapping: client.client)
      let response = try await model.listLanguages(.init(), metadata: Self.key)
      #expect(response.languages.map(\.code) == ["en-US"])
    }
  }

  /// A context that runs while a configuration is deployed goes on to its end.
  @Test func deploysWithoutCuttingARunningStream() async throws {
    try await self.withClient { client in
      let token = try await client.logIn()
      let (responses, error) = try await client.stream(token: token) { stream in
        try await stream.send(Request.config(), Request.start())
        await stream.waitForStarted()
        try await stream.send(audio: RunEngine.audio([1, 2]))
        try await client.deploy(sal: "*say w one")
        try await stream.send(audio: RunEngine.audio([3]))
        try await stream.send(Request.stop)
        await stream.waitForFinished()
      }
      #expect(error == nil)
      #expect(responses.words == ["w1", "w2", "w3"])
    }
  }
}
