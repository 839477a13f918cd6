import Foundation
import GRPCCore
import SpeechProtocol
import SwiftProtobuf
import VoiceCore

extension ConfigService {
  func uploadTrainingData(
    request: StreamingServerRequest<Speechly_Config_V1_UploadTrainingDataRequest>, context: ServerContext
  ) async throws -> ServerResponse<Speechly_Config_V1_UploadTrainingDataResponse> {
    try await self.gate.answer(context) { () async throws(Refusal) in
      let project = try self.gate.project(of: request.metadata)
      let target = Shared<ServerConfiguration.App?>(nil)
      let collector = SourceCollector()
      let source: InterfaceSource
      do throws(Refusal) {
        try await self.gate.read(request.messages) { message throws(Refusal) in
          if target.value == nil {
            let app = try self.gate.app(message.appID, of: project)
            do throws(VoiceFailure) { try self.interfaces.begin(app.id) } catch { throw Refusal(error) }
            target.value = app
          }
          try collector.append(message.dataChunk, form: InterfaceSource.Form(message.contentType))
        }
        source = try collector.source()
      } catch {
        if let app = target.value { self.interfaces.abandon(app.id) }
        throw error
      }
      if let app = target.value { try await self.deploy(source, to: app) }
      return ServerResponse(message: .init())
    }
  }

  private func deploy(
    _ source: InterfaceSource, to app: ServerConfiguration.App
  ) async throws(Refusal) {
    do throws(InterfaceProblem) {
      _ = try await self.interfaces.deploy(source, to: app)
    } catch {
      throw Refusal(error.failure)
    }
  }

  func downloadCurrentTrainingData(
    request: ServerRequest<Speechly_Config_V1_DownloadCurrentTrainingDataRequest>, context: ServerContext
  ) async throws -> StreamingServerResponse<Speechly_Config_V1_DownloadCurrentTrainingDataResponse> {
    try await self.gate.answer(context) { () async throws(Refusal) in
      let app = try self.app(request.message.appID, request.metadata)
      let source: InterfaceSource
      do throws(VoiceFailure) {
        let text = request.message.configID
        let id = text.isEmpty ? nil : try AppDirectory.identifier(text, of: "configuration id")
        source = try await self.interfaces.source(of: app, configID: id)
      } catch {
        throw Refusal(error)
      }
      return StreamingServerResponse { writer in
        for piece in Data(source.bytes).pieces {
          try await writer.write(
            .with {
              $0.dataChunk = piece
              $0.contentType = source.form == .tar ? .tar : .yaml
            })
        }
        return [:]
      }
    }
  }
}

extension InterfaceSource.Form {
  fileprivate init?(_ type: Speechly_Config_V1_UploadTrainingDataRequest.ContentType) {
    switch type {
    case .yaml: self = .yaml
    case .tar: self = .tar
    case .unspecified, .UNRECOGNIZED: return nil
    }
  }
}

// Projects and their members stand in the server's configuration.
extension ConfigService {
  func createProject(
    request: ServerRequest<Speechly_Config_V1_CreateProjectRequest>, context: ServerContext
  ) async throws -> ServerResponse<Speechly_Config_V1_CreateProjectResponse> {
    try await self.refuse("CreateProject", request.metadata, context)
  }

  func updateProject(
    request: ServerRequest<Speechly_Config_V1_UpdateProjectRequest>, context: ServerContext
  ) async throws -> ServerResponse<Speechly_Config_V1_UpdateProjectResponse> {
    try await self.refuse("UpdateProject", request.metadata, context)
  }

  func getProjectParticipants(
    request: ServerRequest<Speechly_Config_V1_GetProjectParticipantsRequest>, context: ServerContext
  ) async throws -> ServerResponse<Speechly_Config_V1_GetProjectParticipantsResponse> {
    try await self.refuse("GetProjectParticipants", request.metadata, context)
  }

  func invite(
    request: ServerRequest<Speechly_Config_V1_InviteRequest>, context: ServerContext
  ) async throws -> ServerResponse<Speechly_Config_V1_InviteResponse> {
    try await self.refuse("Invite", request.metadata, context)
  }

  func joinProject(
    request: ServerRequest<Speechly_Config_V1_JoinProjectRequest>, context: ServerContext
  ) async throws -> ServerResponse<Speechly_Config_V1_JoinProjectResponse> {
    try await self.refuse("JoinProject", request.metadata, context)
  }

  private func refuse<Response: Sendable>(
    _ method: String, _ metadata: Metadata, _ context: ServerContext
  ) async throws(RPCError) -> ServerResponse<Response> {
    try await self.gate.answer(context) { () async throws(Refusal) in
      _ = try self.gate.project(of: metadata)
      throw ServiceGate.offersNot(method, "Name projects and their keys in the server's configuration file.")
    }
  }
}

/// `speechly.config.v1.ModelAPI`, as far as it says which languages there are.
struct ModelService: Speechly_Config_V1_ModelAPI.ServiceProtocol {
  let gate: ServiceGate
  /// The languages that the engine recognises.
  let languages: [String]

  func listLanguages(
    request: ServerRequest<Speechly_Config_V1_ListLanguagesRequest>, context: ServerContext
  ) async throws -> ServerResponse<Speechly_Config_V1_ListLanguagesResponse> {
    try await self.gate.answer(context) { () async throws(Refusal) in
      _ = try self.gate.project(of: request.metadata)
      let locale = Locale(identifier: "en_US")
      return ServerResponse(
        message: .with {
          $0.languages = self.languages.map { code in
            .with {
              $0.code = code
              $0.name = locale.localizedString(forIdentifier: code) ?? code
            }
          }
        })
    }
  }
}
