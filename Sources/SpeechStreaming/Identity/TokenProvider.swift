import Foundation
import VoiceCore

/// Keeps one valid token: in memory, in a cache that survives a restart, and from a login when neither has one.
///
/// However many ask at once, one login is made. A token is used while more than its refresh margin remains, so that it never
/// ends during an utterance.
actor TokenProvider {
  typealias Login = @Sendable () async throws(VoiceFailure) -> ApiAccessToken

  private let scope: LoginScope
  private let deviceId: UUID
  private let cacheKey: String
  private let cache: any CacheProtocol
  private let login: Login
  private let now: @Sendable () -> Date
  private var token: ApiAccessToken?
  private var obtainedAt: Date?
  private var isCacheRead = false
  private var pending: (id: Int, task: Task<Result<ApiAccessToken, VoiceFailure>, Never>)?
  private var lastID = 0

  /// - Parameters:
  ///   - server: The identity server's address: tokens of one server are of no use at another.
  ///   - now: The wall clock, which token lifetimes are measured on.
  init(
    scope: LoginScope, deviceId: UUID, server: String, cache: any CacheProtocol,
    now: @escaping @Sendable () -> Date = { Date() }, login: @escaping Login
  ) {
    self.scope = scope
    self.deviceId = deviceId
    self.cacheKey = "token.\(server).\(scope.key.uuidString.lowercased()).\(deviceId.uuidString.lowercased())"
    self.cache = cache
    self.now = now
    self.login = login
  }

  /// A token that can be used now.
  ///
  /// - Parameter refresh: Whether the token in use was rejected: it is dropped and a new one is fetched.
  func token(refresh: Bool) async throws(VoiceFailure) -> ApiAccessToken {
    if refresh {
      self.token = nil
      self.isCacheRead = true
    } else if let token = self.usableToken() {
      return token
    }
    let pending: (id: Int, task: Task<Result<ApiAccessToken, VoiceFailure>, Never>)
    if let running = self.pending {
      pending = running
    } else {
      self.lastID += 1
      // Not a child task: it serves everybody who waits, also when the first of them is cancelled.
      let task = Task { [login] () -> Result<ApiAccessToken, VoiceFailure> in
        do throws(VoiceFailure) { return .success(try await login()) } catch { return .failure(error) }
      }
      pending = (self.lastID, task)
      self.pending = pending
    }
    let result = await pending.task.value
    if self.pending?.id == pending.id {
      self.pending = nil
      if case .success(let token) = result { self.keep(token) }
    }
    return try result.get()
  }

  private func keep(_ token: ApiAccessToken) {
    self.token = token
    self.obtainedAt = self.now()
    self.cache.setValue(token.tokenString, forKey: self.cacheKey)
  }

  private func usableToken() -> ApiAccessToken? {
    if let token = self.token, self.isUsable(token) { return token }
    guard !self.isCacheRead else { return nil }
    self.isCacheRead = true
    guard let text = self.cache.getValue(forKey: self.cacheKey), let token = ApiAccessToken(tokenString: text),
      token.key() == self.scope.key, token.deviceId == self.deviceId, self.isUsable(token)
    else { return nil }
    self.token = token
    return token
  }

  /// Tokens live about a day and are refreshed in their last hour (protocol §2.3); short-lived ones in their last quarter.
  private func isUsable(_ token: ApiAccessToken) -> Bool {
    let remaining = token.expiresAt.timeIntervalSince(self.now())
    let issued = token.issuedAt ?? self.obtainedAt
    let lifetime = issued.map { token.expiresAt.timeIntervalSince($0) }
    let margin = min(3600, lifetime.map { max(0, $0 / 4) } ?? 3600)
    return remaining > margin
  }
}
