public import Foundation
import GRPCCore
public import NIOCore
public import SpeechProtocol
import SwiftProtobuf
import VoiceCore

/// The identity service over gRPC, with the documented interface. (Source: protocol §1.7.)
public final class IdentityClient: IdentityClientProtocol, Promisable {
  /// The generated client.
  public typealias IdentityApiClient = Speechly_Identity_V1_Identity.ClientProtocol

  /// What can be wrong with an answer.
  public enum IdentityClientError: Error, Hashable, Sendable {
    /// The token cannot be read.
    case invalidTokenPayload
  }

  private let group: any EventLoopGroup
  private let login: @Sendable (UUID, UUID) async throws -> ApiAccessToken

  /// Connects to an address for each login.
  ///
  /// - Throws: ``GRPCAddress/ParseError``.
  public convenience init(addr: String, loopGroup: any EventLoopGroup) throws {
    let endpoint = GRPCEndpoint(address: try GRPCAddress(addr: addr), eventLoopGroup: loopGroup)
    let service = IdentityService(endpoint: endpoint, language: "", timeout: .seconds(8))
    self.init(group: loopGroup) { appId, deviceId in
      try await service.login(.app(appId), deviceId: deviceId)
    }
  }

  /// Uses a generated client.
  public convenience init(group: any EventLoopGroup, client: any IdentityApiClient) {
    self.init(group: group) { appId, deviceId in
      let response = try await client.login(
        .with {
          $0.appID = appId.uuidString.lowercased()
          $0.deviceID = deviceId.uuidString.lowercased()
        })
      guard let token = ApiAccessToken(tokenString: response.token) else {
        throw IdentityClientError.invalidTokenPayload
      }
      return token
    }
  }

  private init(
    group: any EventLoopGroup, login: @escaping @Sendable (UUID, UUID) async throws -> ApiAccessToken
  ) {
    self.group = group
    self.login = login
  }

  /// Exchanges an app and a device for a token; identifiers are sent in lower case.
  ///
  /// The future fails with a ``VoiceFailure`` (`network.*`, `speech.identity.*`), or with ``IdentityClientError`` for a generated
  /// client of the app's own.
  public func authenticate(appId: UUID, deviceId: UUID) -> EventLoopFuture<ApiAccessToken> {
    self.group.next().makeFutureWithTask { [login] in try await login(appId, deviceId) }
  }

  public func makeSucceededFuture<T: Sendable>(_ value: T) -> EventLoopFuture<T> {
    self.group.next().makeSucceededFuture(value)
  }

  public func makeFailedFuture<T: Sendable>(_ error: any Error) -> EventLoopFuture<T> {
    self.group.next().makeFailedFuture(error)
  }
}
