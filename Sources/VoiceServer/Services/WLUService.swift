import Foundation
import GRPCCore
import SpeechProtocol
import SpeechUnderstanding
import SwiftProtobuf
import VoiceCore

/// `speechly.slu.v1.WLU`: understanding of written text.
struct WLUService: Speechly_Slu_V1_WLU.ServiceProtocol {
  /// The longest text, in bytes of UTF-8.
  static let textLimit = 4096
  /// The most words of a text: what fits no grammar takes the longest to match, and nobody says so much at once.
  static let wordLimit = 200
  /// The most texts of one request.
  static let requestLimit = 1000

  let gate: ServiceGate
  let interfaces: AppInterfaces

  func text(
    request: ServerRequest<Speechly_Slu_V1_WLURequest>, context: ServerContext
  ) async throws -> ServerResponse<Speechly_Slu_V1_WLUResponse> {
    try await self.gate.answer(context) { () async throws(Refusal) in
      let app = try await self.app("", request.metadata)
      return ServerResponse(message: try self.response(to: request.message, try self.interface(of: app), app))
    }
  }

  func texts(
    request: ServerRequest<Speechly_Slu_V1_TextsRequest>, context: ServerContext
  ) async throws -> ServerResponse<Speechly_Slu_V1_TextsResponse> {
    try await self.gate.answer(context) { () async throws(Refusal) in
      let app = try await self.app(request.message.appID, request.metadata)
      guard request.message.requests.count <= Self.requestLimit else {
        throw Refusal(
          .requestInvalid,
          "There are \(request.message.requests.count) texts. Send at most \(Self.requestLimit) in one request."
        )
      }
      // One configuration for all, whatever is deployed meanwhile.
      let interface = try self.interface(of: app)
      var response = Speechly_Slu_V1_TextsResponse()
      for text in request.message.requests {
        // Others want to be answered meanwhile.
        await Task.yield()
        guard !self.gate.isAbandoned(context) else {
          throw Refusal(.connectionLost, "The client has ended the call.", status: .cancelled)
        }
        response.responses.append(try self.response(to: text, interface, app))
      }
      return ServerResponse(message: response)
    }
  }

  /// The app of the access token, or the one that is named.
  private func app(_ id: String, _ metadata: Metadata) async throws(Refusal) -> ServerConfiguration.App {
    switch try await self.gate.authenticator.principal(of: metadata, for: .text) {
    case .application(let app):
      guard id.isEmpty || UUID(uuidString: id) == app.id else {
        throw Refusal(
          .unknownApp, "The login was for another app. Log in for the app, or leave its id empty.",
          status: .permissionDenied)
      }
      return app
    case .project(let project):
      guard !id.isEmpty else {
        throw Refusal(
          .requestInvalid,
          "The app id is missing. With the key or the login of a project use Texts, which names the app.")
      }
      return try self.gate.app(id, of: project)
    }
  }

  private func interface(of app: ServerConfiguration.App) throws(Refusal) -> DeployedInterface {
    guard let interface = self.interfaces.current(of: app.id) else {
      throw Refusal(
        .interfaceMissing, "The app \(app.name) has no configuration yet. Deploy one first.",
        status: .failedPrecondition)
    }
    return interface
  }

  private func response(
    to request: Speechly_Slu_V1_WLURequest, _ interface: DeployedInterface, _ app: ServerConfiguration.App
  ) throws(Refusal) -> Speechly_Slu_V1_WLUResponse {
    guard request.languageCode.isEmpty || Language.same(request.languageCode, app.language) else {
      throw Refusal(LoginDesk.wrongLanguage(of: app))
    }
    guard request.text.utf8.count <= Self.textLimit else {
      throw Refusal(
        .requestInvalid,
        "The text has \(request.text.utf8.count) bytes. Send at most \(Self.textLimit), best one sentence.")
    }
    let words = request.text.split(whereSeparator: \.isWhitespace).count
    guard words <= Self.wordLimit else {
      throw Refusal(
        .requestInvalid,
        "The text has \(words) words. Send at most \(Self.wordLimit), best one sentence.")
    }
    let values = try Self.values(request)
    let annotated =
      interface.understanding.understand(request.text, in: values)?.annotated
      ?? AnnotatedUtterance(notUnderstood: request.text)
    return .with { $0.segments = annotated.segments.map(Speechly_Slu_V1_WLUSegment.init) }
  }

  /// What "tomorrow" is relative to: a given time counts in UTC, else it is the time of this machine.
  private static func values(_ request: Speechly_Slu_V1_WLURequest) throws(Refusal) -> ValueContext {
    guard request.hasReferenceTime else { return .current }
    let time = request.referenceTime
    // The range of the type, from the year 1 to 9999 (google/protobuf/timestamp.proto).
    guard (-62_135_596_800...253_402_300_799).contains(time.seconds), (0..<1_000_000_000).contains(time.nanos)
    else {
      throw Refusal(
        .requestInvalid, "The reference time is not one of the years 1 to 9999. Leave it empty for now.")
    }
    return ValueContext(now: Date(timeIntervalSince1970: TimeInterval(time.seconds)), timeZone: .gmt)
  }
}

extension AnnotatedUtterance {
  /// A text that nothing understands: one segment without an intent, none for no words.
  fileprivate init(notUnderstood text: String) {
    let words = text.split(whereSeparator: \.isWhitespace).map(String.init)
    self.init(words.isEmpty ? [] : [Segment(intent: "", words: words)])
  }
}

extension Speechly_Slu_V1_WLUSegment {
  init(_ segment: AnnotatedUtterance.Segment) {
    self.init()
    self.text = segment.words.joined(separator: " ")
    self.tokens = segment.words.enumerated().map { index, word in
      .with {
        $0.word = word
        $0.index = Int32(clamping: index)
      }
    }
    self.entities = segment.entities.map { entity in
      .with {
        $0.entity = entity.name
        $0.value = entity.normalizedValue ?? entity.value
        $0.startPosition = Int32(clamping: entity.words.lowerBound)
        $0.endPosition = Int32(clamping: entity.words.upperBound)
      }
    }
    self.intent.intent = segment.intent
    // Without an intent only the words remain.
    self.annotatedText = segment.intent.isEmpty ? String(segment.text.dropFirst(2)) : segment.text
  }
}
