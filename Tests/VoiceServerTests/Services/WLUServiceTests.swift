import Foundation
import GRPCCore
import Logging
import SpeechProtocol
import SwiftProtobuf
import Testing

@testable import VoiceServer

@Suite struct WLUServiceTests {
  /// 2026-04-01, a Wednesday, at 09:00 UTC.
  private static let reference: Int64 = 1_775_034_000

  private static let templates = """
    entities:
      - {name: day, type: date}
      - {name: guests, type: number}
    templates: |
      guests = [1..20]
      *book book a table for $guests(guests) {[$SPEECHLY.DATE | tomorrow](day)}
      *cancel cancel it
      *book book a table for $guests(guests) *cancel and cancel it
    """

  private static let textsBegan = "call began [\"method\": speechly.slu.v1.WLU/Texts]"

  private func withBooking<Result: Sendable>(
    logger: Logger? = nil, _ body: @escaping @Sendable (TestClient, String) async throws -> Result
  ) async throws -> Result {
    try await withServer(logger: logger) { server in
      try await server.withClient { client in
        try await client.deploy(Array(Self.templates.utf8), type: .yaml)
        return try await body(client, try await client.logIn())
      }
    }
  }

  private func expectRefusal(
    _ status: RPCError.Code, _ code: String, _ work: @escaping @Sendable () async throws -> Void
  ) async {
    let error = await #expect(throws: RPCError.self) { try await work() }
    #expect(error?.code == status)
    #expect(error?.failureCode == code)
  }

  // MARK: Bad input

  @Test func refusesACallWithoutAToken() async throws {
    try await withServer { server in
      try await server.withClient { client in
        await self.expectRefusal(.unauthenticated, "speech.identity.credentials-rejected") {
          _ = try await client.written.text(.with { $0.text = "hello" })
        }
        await self.expectRefusal(.permissionDenied, "speech.identity.credentials-rejected") {
          _ = try await client.understand("hello", token: "nonsense")
        }
      }
    }
  }

  @Test func refusesAnAppWithoutAConfiguration() async throws {
    try await withServer { server in
      try await server.withClient { client in
        let token = try await client.logIn(app: Fixture.siblingID)
        await self.expectRefusal(.failedPrecondition, "server.interface.missing") {
          _ = try await client.understand("hello", token: token)
        }
      }
    }
  }

  @Test func refusesAnotherLanguageThanThatOfTheApp() async throws {
    try await self.withBooking { client, token in
      await self.expectRefusal(.invalidArgument, "speech.identity.language-not-offered") {
        _ = try await client.understand("cancel it", token: token, language: "fi-FI")
      }
    }
  }

  /// Too many bytes, and too many words.
  @Test(arguments: [String(repeating: "cancellations ", count: 300), String(repeating: "x ", count: 201)])
  func refusesTextsThatAreTooLong(_ text: String) async throws {
    try await self.withBooking { client, token in
      await self.expectRefusal(.invalidArgument, "speech.stream.request-invalid") {
        _ = try await client.understand(text, token: token)
      }
    }
  }

  /// Enough to keep a server busy that does not see that it may stop.
  private static func texts(_ count: Int) -> Speechly_Slu_V1_TextsRequest {
    let text = Speechly_Slu_V1_WLURequest.with { $0.text = String(repeating: "a ", count: 100) }
    return .with { $0.requests = Array(repeating: text, count: count) }
  }

  @Test(.timeLimit(.minutes(4))) func stopsWhenTheClientIsGone() async throws {
    let log = CapturingLog()
    try await self.withBooking(logger: log.logger) { client, token in
      let call = Task {
        try await client.written.texts(Self.texts(1000), metadata: TestClient.metadata(token))
      }
      try await log.waitForLine(with: Self.textsBegan)
      call.cancel()
      try await log.waitForLine(with: "the client has ended the call")
      _ = await call.result
    }
  }

  @Test(.timeLimit(.minutes(4))) func anOrderlyStopLetsTextsFinish() async throws {
    let log = CapturingLog()
    try await withServer(ShutdownTests.configuration(drain: .seconds(600)), logger: log.logger) { server in
      try await server.withClient { client in
        try await client.deploy(Array(Self.templates.utf8), type: .yaml)
        let token = try await client.logIn()
        let call = Task {
          try await client.written.texts(Self.texts(24), metadata: TestClient.metadata(token))
        }
        try await log.waitForLine(with: Self.textsBegan)
        server.server.beginGracefulShutdown()
        #expect(try await call.value.responses.count == 24)
      }
    }
  }

  @Test func takesALongText() async throws {
    try await self.withBooking { client, token in
      _ = try await client.understand(String(repeating: "x ", count: 200), token: token)
    }
  }

  @Test(arguments: [Int64.min, -62_135_596_801, 253_402_300_800, .max])
  func refusesReferenceTimesThatAreNone(seconds: Int64) async throws {
    try await self.withBooking { client, token in
      await self.expectRefusal(.invalidArgument, "speech.stream.request-invalid") {
        _ = try await client.understand("cancel it", token: token, reference: seconds)
      }
      // The ends of what the type allows are no reason to fail.
      for seconds: Int64 in [-62_135_596_800, 253_402_300_799] {
        _ = try await client.understand("book a table for two tomorrow", token: token, reference: seconds)
      }
    }
  }

  @Test func refusesAProjectKeyThatNamesNoApp() async throws {
    try await self.withBooking { client, _ in
      await self.expectRefusal(.invalidArgument, "speech.stream.request-invalid") {
        _ = try await client.understand("cancel it", token: Fixture.apiKey)
      }
    }
  }

  @Test(arguments: [
    (Fixture.foreignID, RPCError.Code.permissionDenied, "speech.identity.unknown-app"),
    ("00000000-0000-4000-8000-00000000dead", .notFound, "speech.identity.unknown-app"),
    ("not-a-uuid", .invalidArgument, "speech.identity.login-invalid"),
  ])
  func refusesTheAppsOfOthers(app: String, status: RPCError.Code, code: String) async throws {
    try await self.withBooking { client, _ in
      await self.expectRefusal(status, code) {
        _ = try await client.written.texts(
          .with { $0.appID = app }, metadata: TestClient.metadata(Fixture.apiKey))
      }
    }
  }

  @Test func refusesToNameAnotherAppThanThatOfTheLogin() async throws {
    try await self.withBooking { client, token in
      await self.expectRefusal(.permissionDenied, "speech.identity.unknown-app") {
        _ = try await client.written.texts(
          .with { $0.appID = Fixture.siblingID }, metadata: TestClient.metadata(token))
      }
    }
  }

  // MARK: Understanding

  @Test func understandsATextWithTheAppOfTheToken() async throws {
    try await self.withBooking { client, token in
      let segments = try await client.understand(
        "Book a table for two tomorrow", token: token, language: "en-US", reference: Self.reference)
      let segment = try #require(segments.first)
      #expect(segments.count == 1)
      #expect(segment.intent.intent == "book")
      #expect(segment.text == "book a table for two tomorrow")
      #expect(segment.tokens.map(\.word) == ["book", "a", "table", "for", "two", "tomorrow"])
      #expect(segment.tokens.map(\.index) == [0, 1, 2, 3, 4, 5])
      #expect(segment.entities.map(\.entity) == ["guests", "day"])
      #expect(segment.entities.map(\.value) == ["2", "2026-04-02"])
      #expect(segment.entities.map(\.startPosition) == [4, 5])
      #expect(segment.entities.map(\.endPosition) == [5, 6])
      #expect(segment.annotatedText == "*book book a table for [two|2](guests) [tomorrow|2026-04-02](day)")
    }
  }

  @Test func givesASegmentForEachIntent() async throws {
    try await self.withBooking { client, token in
      let segments = try await client.understand("book a table for two and cancel it", token: token)
      #expect(segments.map(\.intent.intent) == ["book", "cancel"])
      #expect(
        segments.map(\.annotatedText) == ["*book book a table for [two|2](guests)", "*cancel and cancel it"])
    }
  }

  @Test func givesTheWordsOfATextThatIsNotCovered() async throws {
    try await self.withBooking { client, token in
      let segments = try await client.understand("Sing me a song", token: token)
      #expect(segments.map(\.intent.intent) == [""])
      #expect(segments.map(\.annotatedText) == ["Sing me a song"])
      #expect(try await client.understand("  ", token: token).isEmpty)
    }
  }

  @Test func understandsSeveralTextsOfANamedAppWithTheKeyOfTheProject() async throws {
    try await self.withBooking { client, _ in
      let response = try await client.written.texts(
        .with {
          $0.appID = Fixture.appID
          $0.requests = ["cancel it", "book a table for three"].map { text in .with { $0.text = text } }
        }, metadata: TestClient.metadata(Fixture.apiKey))
      #expect(response.responses.map { $0.segments.map(\.intent.intent) } == [["cancel"], ["book"]])
    }
  }
}
