import Foundation
import VoiceCore

/// The apps of a server at one moment, by id.
struct AppDirectory: Sendable {
  private(set) var apps: [UUID: ServerConfiguration.App]
  private let configured: Set<UUID>
  private let projects: Set<UUID>

  init(_ configuration: ServerConfiguration) {
    self.apps = Dictionary(
      configuration.apps.map { ($0.id, $0) }, uniquingKeysWith: { first, _ in first })
    self.configured = Set(configuration.apps.map(\.id))
    self.projects = Set(configuration.apps.map(\.project) + configuration.projects.map(\.id))
  }

  /// The app with an id as a client writes it.
  ///
  /// - Throws: ``VoiceFailure`` with `speech.identity.login-invalid` or `speech.identity.unknown-app`.
  func app(_ text: String) throws(VoiceFailure) -> ServerConfiguration.App {
    let id = try Self.identifier(text, of: "app id")
    guard let app = self.apps[id] else {
      throw VoiceFailure(
        .unknownApp,
        message: "This server has no app \(id.uuidString.lowercased()). Use an id from its configuration.")
    }
    return app
  }

  /// The id of a project as a client writes it.
  ///
  /// - Throws: ``VoiceFailure`` with `speech.identity.login-invalid` or `speech.identity.unknown-app`.
  func project(_ text: String) throws(VoiceFailure) -> UUID {
    let id = try Self.identifier(text, of: "project id")
    guard self.projects.contains(id) else {
      throw VoiceFailure(
        .unknownApp,
        message: "This server has no project \(id.uuidString.lowercased()). Use an id from its configuration."
      )
    }
    return id
  }

  /// The apps of a project, by name.
  func apps(of project: UUID) -> [ServerConfiguration.App] {
    self.apps.values.filter { $0.project == project }
      .sorted { ($0.name, $0.id.uuidString) < ($1.name, $1.id.uuidString) }
  }

  /// Whether the app stands in the server's configuration, where alone it can be changed.
  func isConfigured(_ app: UUID) -> Bool { self.configured.contains(app) }

  /// Adds an app that was made through the API, or replaces it; what is configured stays as it is.
  mutating func put(_ app: ServerConfiguration.App) {
    guard !self.isConfigured(app.id) else { return }
    self.apps[app.id] = app
  }

  /// Removes an app that was made through the API.
  mutating func remove(_ app: UUID) {
    guard !self.isConfigured(app) else { return }
    self.apps[app] = nil
  }

  static func identifier(_ text: String, of what: String) throws(VoiceFailure) -> UUID {
    guard let id = UUID(uuidString: text) else {
      throw VoiceFailure(
        .loginInvalid,
        message: text.isEmpty
          ? "The \(what) is missing. Send it as a UUID." : "The \(what) is not a UUID. Send it as a UUID.",
        recovery: .changeConfiguration("the \(what)"))
    }
    return id
  }
}

/// Whom a stream belongs to.
enum Principal: Hashable, Sendable {
  case application(ServerConfiguration.App)
  case project(UUID)
}
