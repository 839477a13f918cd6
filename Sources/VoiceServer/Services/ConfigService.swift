import Foundation
import GRPCCore
import Logging
import SpeechProtocol
import SwiftProtobuf
import VoiceCore

/// `speechly.config.v1.ConfigAPI`: apps, and the deployment of their configurations.
struct ConfigService: Speechly_Config_V1_ConfigAPI.ServiceProtocol {
  typealias App = Speechly_Config_V1_App

  let gate: ServiceGate
  let interfaces: AppInterfaces
  /// The languages that the engine recognises.
  let languages: [String]

  // MARK: Projects

  func getProject(
    request: ServerRequest<Speechly_Config_V1_GetProjectRequest>, context: ServerContext
  ) async throws -> ServerResponse<Speechly_Config_V1_GetProjectResponse> {
    try await self.gate.answer(context) { () async throws(Refusal) in
      let project = try self.gate.project(of: request.metadata)
      return ServerResponse(
        message: .with {
          $0.project = [project.uuidString.lowercased()]
          $0.projectNames = [project.uuidString.lowercased()]
        })
    }
  }

  // MARK: Apps

  func listApps(
    request: ServerRequest<Speechly_Config_V1_ListAppsRequest>, context: ServerContext
  ) async throws -> ServerResponse<Speechly_Config_V1_ListAppsResponse> {
    try await self.gate.answer(context) { () async throws(Refusal) in
      let project = try self.project(request.message.project, request.metadata)
      let apps = self.gate.apps.directory.apps(of: project)
      return ServerResponse(message: .with { $0.apps = apps.map(self.message) })
    }
  }

  func getApp(
    request: ServerRequest<Speechly_Config_V1_GetAppRequest>, context: ServerContext
  ) async throws -> ServerResponse<Speechly_Config_V1_GetAppResponse> {
    try await self.gate.answer(context) { () async throws(Refusal) in
      let app = try self.app(request.message.appID, request.metadata)
      return ServerResponse(message: .with { $0.app = self.message(app) })
    }
  }

  func createApp(
    request: ServerRequest<Speechly_Config_V1_CreateAppRequest>, context: ServerContext
  ) async throws -> ServerResponse<Speechly_Config_V1_CreateAppResponse> {
    try await self.gate.answer(context) { () async throws(Refusal) in
      let project = try self.project(request.message.project, request.metadata)
      let record = try self.record(request.message.app, id: UUID(), project: project)
      try self.gate.apps.put(record)
      self.gate.logger.info("app made", metadata: ["app": "\(record.id.uuidString.lowercased())"])
      return ServerResponse(message: .with { $0.app = self.message(record.app) })
    }
  }

  func updateApp(
    request: ServerRequest<Speechly_Config_V1_UpdateAppRequest>, context: ServerContext
  ) async throws -> ServerResponse<Speechly_Config_V1_UpdateAppResponse> {
    try await self.gate.answer(context) { () async throws(Refusal) in
      let wanted = request.message.app
      let app = try self.app(wanted.id, request.metadata)
      guard wanted.language.isEmpty || Language.same(wanted.language, app.language) else {
        throw Refusal(
          .requestInvalid, "The language of an app cannot be changed. Make another app in \(wanted.language)."
        )
      }
      var changed = wanted
      changed.language = app.language
      try self.gate.apps.put(try self.record(changed, id: app.id, project: app.project))
      return ServerResponse(message: .init())
    }
  }

  func deleteApp(
    request: ServerRequest<Speechly_Config_V1_DeleteAppRequest>, context: ServerContext
  ) async throws -> ServerResponse<Speechly_Config_V1_DeleteAppResponse> {
    try await self.gate.answer(context) { () async throws(Refusal) in
      let app = try self.app(request.message.appID, request.metadata)
      try self.gate.apps.remove(app.id)
      await self.interfaces.remove(app.id)
      self.gate.logger.info("app deleted", metadata: ["app": "\(app.id.uuidString.lowercased())"])
      return ServerResponse(message: .init())
    }
  }

  /// What a client may say of an app, checked.
  private func record(_ app: App, id: UUID, project: UUID) throws(Refusal) -> AppRegistry.Record {
    let name = app.name.isEmpty ? id.uuidString.lowercased() : app.name
    guard name.count <= 100,
      !name.unicodeScalars.contains(where: { $0.properties.generalCategory == .control })
    else {
      throw Refusal(
        .requestInvalid, "The name of the app cannot be used. Send at most 100 characters on one line.")
    }
    guard let language = self.languages.first(where: { Language.same($0, app.language) }) else {
      throw Refusal(
        .languageNotOffered,
        "The server does not recognise “\(app.language.prefix(40))”. Use \(self.languages.joined(separator: ", "))."
      )
    }
    guard app.tags.count <= 5, app.tags.allSatisfy(Self.isTag) else {
      throw Refusal(
        .requestInvalid,
        "The tags cannot be used. Send at most 5, each of at most 24 of a-z, 0-9, _, - and :.")
    }
    return AppRegistry.Record(id: id, name: name, project: project, language: language, tags: app.tags)
  }

  private static func isTag(_ tag: String) -> Bool {
    (1...24).contains(tag.utf8.count)
      && tag.utf8.allSatisfy { (97...122).contains($0) || (48...57).contains($0) || "_-:".utf8.contains($0) }
  }

  func message(_ app: ServerConfiguration.App) -> App {
    .with {
      $0.id = app.id.uuidString.lowercased()
      $0.language = app.language
      $0.name = app.name
      $0.tags = self.gate.apps.tags(of: app.id)
      switch self.interfaces.status(of: app.id) {
      case .new: $0.status = .new
      case .deploying: $0.status = .training
      case .deployed:
        $0.status = .trained
        $0.errorMsg = DeploymentWarnings.text(of: self.interfaces.current(of: app.id)?.problems ?? [])
      case .refused(let failure):
        $0.status = .failed
        $0.errorMsg = "\(failure.message) [\(failure.code)]"
      }
      if let duration = self.interfaces.lastDuration(of: app.id) {
        // Clients show it as whole seconds.
        $0.trainingTimeSec = Int32(clamping: duration.components.seconds + 1)
      }
      if let current = self.interfaces.current(of: app.id) {
        $0.deployedAtTime = Google_Protobuf_Timestamp(seconds: current.deployedAt)
      }
    }
  }

  func app(_ id: String, _ metadata: Metadata) throws(Refusal) -> ServerConfiguration.App {
    try self.gate.app(id, of: try self.gate.project(of: metadata))
  }

  /// The project of the key, which may be named, too.
  private func project(_ id: String, _ metadata: Metadata) throws(Refusal) -> UUID {
    let project = try self.gate.project(of: metadata)
    guard id.isEmpty || UUID(uuidString: id) == project else {
      throw Refusal(
        .unknownApp,
        "The key belongs to another project. Use the id that GetProject gives, or leave it empty.",
        status: .permissionDenied)
    }
    return project
  }
}
