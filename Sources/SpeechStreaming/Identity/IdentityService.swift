import Foundation
import GRPCCore
import SpeechProtocol
import SwiftProtobuf
import VoiceCore

/// Whom a login is for.
enum LoginScope: Hashable, Sendable {
  case app(UUID)
  case project(UUID)

  var key: UUID {
    switch self {
    case .app(let id), .project(let id): id
    }
  }
}

/// Logs in over gRPC. Identifiers are sent in lower case, as the first clients did (protocol §1.7).
struct IdentityService: Sendable {
  var endpoint: GRPCEndpoint
  var language: String
  var timeout: Duration

  /// Gets a token.
  ///
  /// - Throws: ``VoiceFailure`` with a `network.*` or `speech.identity.*` code.
  func login(_ scope: LoginScope, deviceId: UUID) async throws(VoiceFailure) -> ApiAccessToken {
    let text: String
    do {
      text = try await withDeadline(self.timeout) {
        try await self.endpoint.withClient { client in
          var options = GRPCCore.CallOptions.defaults
          options.timeout = self.timeout
          switch scope {
          case .app(let id):
            let identity = Speechly_Identity_V1_Identity.Client(wrapping: client)
            return try await identity.login(
              .with {
                $0.appID = id.uuidString.lowercased()
                $0.deviceID = deviceId.uuidString.lowercased()
                $0.languageCode = self.language
              }, options: options
            ).token
          case .project(let id):
            let identity = Speechly_Identity_V2_IdentityAPI.Client(wrapping: client)
            return try await identity.login(
              .with {
                $0.project.projectID = id.uuidString.lowercased()
                $0.deviceID = deviceId.uuidString.lowercased()
              }, options: options
            ).token
          }
        }
      }
    } catch {
      throw GRPCFailures.end(error, address: self.endpoint.address).failure
        ?? VoiceFailure(.unexpected, cause: error)
    }
    guard let token = ApiAccessToken(tokenString: text), token.key() == scope.key, token.deviceId == deviceId
    else {
      throw VoiceFailure(.tokenUnreadable)
    }
    return token
  }
}

/// Runs an operation for at most a time; gRPC's own deadline does not cover a connection that hangs while it is made.
func withDeadline<Result: Sendable>(
  _ duration: Duration, clock: any VoiceClock = MonotonicClock(),
  _ operation: @Sendable @escaping () async throws -> Result
) async throws -> Result {
  try await withThrowingTaskGroup(of: Result.self) { group in
    group.addTask { try await operation() }
    group.addTask {
      try await clock.sleep(until: clock.now.advanced(by: duration), tolerance: nil)
      throw VoiceFailure(.serverTimedOut)
    }
    defer { group.cancelAll() }
    guard let first = try await group.next() else { throw VoiceFailure(.unexpected) }
    return first
  }
}
