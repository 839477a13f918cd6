import Foundation
import GRPCCore
import GRPCNIOTransportHTTP2
import GRPCProtobuf
import SpeechProtocol
import SpeechUnderstanding
import SwiftProtobuf

@testable import VoiceServer

extension TestClient {
  typealias Config = Speechly_Config_V1_ConfigAPI
  typealias Compiler = Speechly_Sal_V1_Compiler

  static func metadata(_ token: String?) -> Metadata {
    token.map { ["authorization": .string("Bearer \($0)")] } ?? [:]
  }

  var config: Config.Client<HTTP2ClientTransport.Posix> { .init(wrapping: self.client) }
  var compiler: Compiler.Client<HTTP2ClientTransport.Posix> { .init(wrapping: self.client) }
  var written: Speechly_Slu_V1_WLU.Client<HTTP2ClientTransport.Posix> { .init(wrapping: self.client) }
  var batch: Speechly_Slu_V1_BatchAPI.Client<HTTP2ClientTransport.Posix> { .init(wrapping: self.client) }

  /// Deploys bytes in pieces.
  func deploy(
    _ bytes: [UInt8], to app: String = Fixture.appID, key: String? = Fixture.apiKey, piece: Int = 1_000_000,
    type: Speechly_Config_V1_UploadTrainingDataRequest.ContentType = .tar
  ) async throws {
    let pieces =
      bytes.isEmpty
      ? [[]]
      : stride(from: 0, to: bytes.count, by: piece).map {
        Array(bytes[$0..<min($0 + piece, bytes.count)])
      }
    _ = try await self.config.uploadTrainingData(metadata: Self.metadata(key)) { writer in
      for piece in pieces {
        try await writer.write(
          .with {
            $0.appID = app
            $0.dataChunk = Data(piece)
            $0.contentType = type
          })
      }
    }
  }

  /// Deploys templates.
  func deploy(sal: String, to app: String = Fixture.appID) async throws {
    try await self.deploy(
      TarArchive.archive(of: [ConfigurationFile(name: "app.yaml", text: Self.yaml(sal))]), to: app)
  }

  static func yaml(_ sal: String) -> String {
    "templates: |\n" + sal.split(separator: "\n").map { "  \($0)\n" }.joined()
  }

  func app(_ id: String = Fixture.appID) async throws -> Speechly_Config_V1_App {
    try await self.config.getApp(.with { $0.appID = id }, metadata: Self.metadata(Fixture.apiKey)).app
  }

  func understand(
    _ text: String, token: String, language: String = "", reference: Int64? = nil
  ) async throws -> [Speechly_Slu_V1_WLUSegment] {
    try await self.written.text(
      .with {
        $0.text = text
        $0.languageCode = language
        if let reference { $0.referenceTime = .init(seconds: reference) }
      }, metadata: Self.metadata(token)
    ).segments
  }

  func validate(
    _ bytes: [UInt8], type: Speechly_Sal_V1_AppSource.ContentType = .yaml, key: String? = Fixture.apiKey
  ) async throws -> [Speechly_Sal_V1_LineReference] {
    try await self.compiler.validate(metadata: Self.metadata(key)) { writer in
      try await writer.write(
        .with {
          $0.appID = Fixture.appID
          $0.dataChunk = Data(bytes)
          $0.contentType = type
        })
    }.messages
  }
}
