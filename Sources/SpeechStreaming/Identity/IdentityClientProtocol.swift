public import Foundation
public import NIOCore

/// Gets access tokens. (Source: protocol §1.7.)
public protocol IdentityClientProtocol: Sendable {
  /// Exchanges an app and a device for a token.
  func authenticate(appId: UUID, deviceId: UUID) -> EventLoopFuture<ApiAccessToken>
}

/// Makes futures that are complete already. (Source: protocol §1.7.)
public protocol Promisable: Sendable {
  /// A future that has succeeded.
  func makeSucceededFuture<T: Sendable>(_ value: T) -> EventLoopFuture<T>

  /// A future that has failed.
  func makeFailedFuture<T: Sendable>(_ error: any Error) -> EventLoopFuture<T>
}
