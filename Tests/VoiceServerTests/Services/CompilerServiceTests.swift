import Foundation
import GRPCCore
import SpeechProtocol
import SpeechUnderstanding
import SwiftProtobuf
import Testing
import VoiceCore

@testable import VoiceServer

@Suite struct CompilerServiceTests {
  private func withClient<Result: Sendable>(
    _ body: @escaping @Sendable (TestClient) async throws -> Result
  ) async throws -> Result {
    try await withServer { server in try await server.withClient { try await body($0) } }
  }

  private func compile(
    _ client: TestClient, _ yaml: String, count: Int32 = 5, seed: Int32 = 7, piece: Int = 10
  ) async throws -> Speechly_Sal_V1_CompileResult {
    try await client.compiler.compile(metadata: TestClient.metadata(Fixture.apiKey)) { writer in
      for start in stride(from: 0, to: yaml.utf8.count, by: piece) {
        try await writer.write(
          .with {
            $0.appSource.appID = Fixture.appID
            $0.appSource.dataChunk = Data(yaml.utf8.dropFirst(start).prefix(piece))
            $0.batchSize = count
            $0.randomSeed = seed
          })
      }
    }
  }

  // MARK: Bad input

  @Test func refusesEverythingWithoutTheKeyOfAProject() async throws {
    try await self.withClient { client in
      let token = try await client.logIn(project: Fixture.projectID)
      for (key, status) in [
        (nil, RPCError.Code.unauthenticated), (token, .permissionDenied), ("x", .permissionDenied),
      ] {
        let error = await #expect(throws: RPCError.self) {
          _ = try await client.validate(Array("templates: \"*a b\"".utf8), key: key)
        }
        #expect(error?.code == status)
        #expect(error?.failureCode == "speech.identity.credentials-rejected")
      }
    }
  }

  @Test func saysWhereEachProblemIs() async throws {
    try await self.withClient { client in
      let messages = try await client.validate(
        Array(TestClient.yaml("*turn_on turn on $rom\n*turn_off [light").utf8))
      let errors = messages.filter { $0.level == .error }
      #expect(errors.map(\.line) == [2, 3])
      #expect(errors.first?.column == 20)
      #expect(errors.allSatisfy { $0.file == "app.yaml" && $0.message.contains("[sal.") })
    }
  }

  @Test func refusesAnArchiveThatCannotBeRead() async throws {
    try await self.withClient { client in
      let messages = try await client.validate([UInt8](repeating: 65, count: 2000), type: .tar)
      #expect(messages.map(\.level) == [.error])
      #expect(messages.first?.message.contains("[server.interface.archive-invalid]") == true)
    }
  }

  @Test func refusesARequestWithoutAConfiguration() async throws {
    try await self.withClient { client in
      let error = await #expect(throws: RPCError.self) { _ = try await client.validate([]) }
      #expect(error?.code == .invalidArgument)
      #expect(error?.failureCode == "server.interface.archive-invalid")
    }
  }

  @Test(arguments: [-1, Int32(CompilerService.batchLimit) + 1, .max, .min])
  func refusesBatchesThatAreTooLarge(count: Int32) async throws {
    try await self.withClient { client in
      let error = await #expect(throws: RPCError.self) {
        _ = try await self.compile(client, TestClient.yaml("*a b"), count: count)
      }
      #expect(error?.code == .invalidArgument)
      #expect(error?.failureCode == "speech.stream.request-invalid")
    }
  }

  @Test func saysThatACompilationFailed() async throws {
    try await self.withClient { client in
      let result = try await self.compile(client, TestClient.yaml("*greet $missing"))
      #expect(result.result == .compileFailure)
      #expect(result.templates.isEmpty)
      #expect(result.messages.contains { $0.level == .error && $0.line == 2 })
    }
  }

  @Test func saysThatTheUtterancesAreTooLong() async throws {
    // Each variable stands for ten of the one before: the utterance would have 10^12 words.
    var lines = (1..<12).map { index in
      "v\(index) = " + [String](repeating: "$v\(index - 1)", count: 10).joined(separator: " ")
    }
    lines = ["v0 = " + [String](repeating: "a", count: 10).joined(separator: " ")] + lines + ["*go $v11"]
    let yaml = TestClient.yaml(lines.joined(separator: "\n"))
    try await self.withClient { client in
      let result = try await self.compile(client, yaml, count: 1, piece: 1000)
      #expect(result.result == .compileFailure)
      #expect(result.templates.isEmpty)
      #expect(result.messages.last?.level == .error)
      #expect(result.messages.last?.message.hasSuffix("[server.interface.too-large]") == true)
    }
  }

  @Test func doesNotConvert() async throws {
    try await self.withClient { client in
      let error = await #expect(throws: RPCError.self) {
        _ = try await client.compiler.convert(metadata: TestClient.metadata(Fixture.apiKey)) { writer in
          try await writer.write(.init())
        }
      }
      #expect(error?.code == .unimplemented)
      #expect(error?.failureCode == "server.method.not-offered")
      #expect(error?.message.contains("SAL") == true)
    }
  }

  // MARK: Results

  @Test func givesUtterancesThatDependOnTheSeedAlone() async throws {
    try await self.withClient { client in
      let yaml = TestClient.yaml(
        "*turn_on turn on the [light | radio | fan](device) in the [kitchen | hall](room)")
      let first = try await self.compile(client, yaml, piece: 7)
      let second = try await self.compile(client, yaml, piece: 1000)
      let other = try await self.compile(client, yaml, seed: 8)
      #expect(first.result == .compileSuccess)
      #expect(first.templates.count == 5)
      #expect(first.templates == second.templates)
      #expect(first.templates != other.templates)
      for template in first.templates {
        #expect(AnnotatedUtterance.parse(template).utterance?.segments.first?.intent == "turn_on")
      }
    }
  }

  @Test func saysWhatCannotBeRecognised() async throws {
    let problem = VoiceFailure(.wordUnpronounceable, message: "Nobody knows how “x” sounds.")
    try await withServer(engine: RunEngine(problems: [problem])) { server in
      try await server.withClient { client in
        let messages = try await client.validate(Array(TestClient.yaml("*greet hello").utf8))
        #expect(messages.map(\.level) == [.warning])
        #expect(messages.first?.line == 0)
        #expect(messages.first?.message == "\(problem.message) [speech.understanding.word-unpronounceable]")
        let result = try await self.compile(client, TestClient.yaml("*greet hello"))
        #expect(result.result == .compileWarning)
      }
    }
  }

  @Test func acceptsWhatIsRight() async throws {
    try await self.withClient { client in
      let messages = try await client.validate(Array(DemoInterface.text.utf8))
      #expect(messages.isEmpty)
    }
  }

  @Test func givesTheTemplatesOfAConfiguration() async throws {
    try await self.withClient { client in
      let text = Shared("")
      try await client.compiler.extractSALSources(metadata: TestClient.metadata(Fixture.apiKey)) { writer in
        try await writer.write(
          .with { $0.dataChunk = Data(TestClient.yaml("room = [a | b]\n*go to $room(room)").utf8) })
      } onResponse: { response in
        for try await message in response.messages {
          text.value += String(decoding: message.dataChunk, as: UTF8.self)
        }
      }
      #expect(text.value == "room = [a | b]\n*go to $room(room)\n")
    }
  }
}
