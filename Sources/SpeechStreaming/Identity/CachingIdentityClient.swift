public import Foundation
public import NIOCore
import Synchronization
import VoiceCore

/// Keeps the tokens of another identity client in memory and in a cache. (Source: protocol §1.7.)
///
/// The cache survives a restart: its keys are made of the identifiers themselves. However many ask at once, one login is made.
public final class CachingIdentityClient: IdentityClientProtocol, TokenKeepingIdentityClient, Promisable {
  /// What the other client must be able to do.
  public typealias PromisableClient = IdentityClientProtocol & Promisable

  private struct Key: Hashable {
    var appId: UUID
    var deviceId: UUID
  }

  private let baseClient: any PromisableClient
  private let cache: any CacheProtocol
  private let providers = Mutex<[Key: TokenProvider]>([:])

  /// Adds a cache to a client.
  public init(baseClient: any PromisableClient, cache: any CacheProtocol) {
    self.baseClient = baseClient
    self.cache = cache
  }

  public func authenticate(appId: UUID, deviceId: UUID) -> EventLoopFuture<ApiAccessToken> {
    self.authenticate(appId: appId, deviceId: deviceId, isRejected: false)
  }

  func authenticate(appId: UUID, deviceId: UUID, isRejected: Bool) -> EventLoopFuture<ApiAccessToken> {
    let provider = self.providers.withLock { providers in
      let key = Key(appId: appId, deviceId: deviceId)
      if let known = providers[key] { return known }
      let provider = TokenProvider(
        settings: TokenProvider.Settings(
          scope: .app(appId), deviceId: deviceId, server: "", store: CacheStore(cache: self.cache),
          report: { _ in }), keepingLogin: baseClient.login(appId: appId))
      providers[key] = provider
      return provider
    }
    let start: EventLoopFuture<Void> = self.baseClient.makeSucceededFuture(())
    return start.eventLoop.makeFutureWithTask { try await provider.token(refresh: isRejected) }
  }

  public func makeSucceededFuture<T: Sendable>(_ value: T) -> EventLoopFuture<T> {
    self.baseClient.makeSucceededFuture(value)
  }

  public func makeFailedFuture<T: Sendable>(_ error: any Error) -> EventLoopFuture<T> {
    self.baseClient.makeFailedFuture(error)
  }
}

/// An identity client that keeps tokens, and so must be told when the one that it gave was rejected.
protocol TokenKeepingIdentityClient: IdentityClientProtocol {
  func authenticate(appId: UUID, deviceId: UUID, isRejected: Bool) -> EventLoopFuture<ApiAccessToken>
}

extension IdentityClientProtocol {
  /// A login to an app for a ``TokenProvider``.
  func login(appId: UUID) -> TokenProvider.KeepingLogin {
    { deviceId, isRejected throws(VoiceFailure) in
      do {
        guard let keeping = self as? any TokenKeepingIdentityClient else {
          return try await self.authenticate(appId: appId, deviceId: deviceId).get()
        }
        return try await keeping.authenticate(appId: appId, deviceId: deviceId, isRejected: isRejected).get()
      } catch {
        throw GRPCFailures.end(error, address: nil).failure ?? VoiceFailure(.unexpected, cause: error)
      }
    }
  }
}
