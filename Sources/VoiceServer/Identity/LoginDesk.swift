import Foundation
import GRPCCore
import Logging
import Synchronization
import VoiceCore

/// Checks logins and issues tokens; the same for all forms of login (`speechly.identity` v1, v2 and JSON).
final class LoginDesk: Sendable {
  private let apps: AppRegistry
  private let tokens: TokenAuthority
  private let limiter: Mutex<LoginLimiter>
  private let clock: any VoiceClock
  private let metrics: ServerMetrics
  private let logger: Logger

  init(
    configuration: ServerConfiguration, apps: AppRegistry, tokens: TokenAuthority, clock: any VoiceClock,
    metrics: ServerMetrics, logger: Logger
  ) {
    self.apps = apps
    self.tokens = tokens
    self.limiter = Mutex(LoginLimiter(perSecond: configuration.limits.loginsPerSecond))
    self.clock = clock
    self.metrics = metrics
    self.logger = logger
  }

  /// What somebody wants to log in to; the identifiers are as the client wrote them.
  enum Target: Sendable {
    case application(String, language: String, configID: String)
    case project(String)
    case nothing
  }

  /// The longest config id, in bytes: it is part of the token, which the client sends with every call.
  static let configIDLimit = 128

  /// Logs a device in.
  ///
  /// - Parameters:
  ///   - target: The app or project.
  ///   - deviceID: The device.
  ///   - address: Where the request came from, for the limit.
  func login(
    _ target: Target, deviceID: String, from address: String
  ) async throws(Refusal) -> TokenAuthority.Issued {
    do throws(Refusal) {
      let issued = try await self.issue(target, deviceID: deviceID, from: address)
      self.metrics.loginSucceeded()
      return issued
    } catch {
      self.metrics.failed(error.failure.code)
      self.metrics.loginRefused()
      error.log("login refused", to: self.logger, ["peer": "\(address)"])
      throw error
    }
  }

  private func issue(
    _ target: Target, deviceID: String, from address: String
  ) async throws(Refusal) -> TokenAuthority.Issued {
    let now = self.clock.now
    if let wait = self.limiter.withLock({ $0.login(from: address, at: now) }) {
      throw Refusal(
        .serverOverloaded, "There were too many logins from this address. Try again later.",
        status: .resourceExhausted, retryAfter: wait)
    }
    do throws(VoiceFailure) {
      _ = try AppDirectory.identifier(deviceID, of: "device id")
      switch target {
      case .application(let id, let language, let configID):
        let app = try self.apps.directory.app(id)
        guard configID.utf8.count <= Self.configIDLimit else {
          throw VoiceFailure(
            .loginInvalid,
            message:
              "The config id has \(configID.utf8.count) bytes. Send at most \(Self.configIDLimit), or none.",
            recovery: .changeConfiguration("the config id"))
        }
        guard language.isEmpty || Language.same(language, app.language) else {
          throw Self.wrongLanguage(of: app)
        }
        return try await self.tokens.issue(
          .application(id), deviceID: deviceID, configID: configID.isEmpty ? nil : configID)
      case .project(let id):
        _ = try self.apps.directory.project(id)
        return try await self.tokens.issue(.project(id), deviceID: deviceID)
      case .nothing:
        throw VoiceFailure(
          .loginInvalid,
          message: "The login names neither an app nor a project. Send the id of one of them.")
      }
    } catch {
      throw Refusal(error)
    }
  }

  static func wrongLanguage(of app: ServerConfiguration.App) -> VoiceFailure {
    VoiceFailure(
      .languageNotOffered,
      message:
        "The app id and language combination is invalid. Use \(app.language), or leave the language empty.")
  }
}
