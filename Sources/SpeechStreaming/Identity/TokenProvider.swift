import Foundation
import VoiceCore
import VoicePlatform

/// Keeps one valid token: in memory, in a store that survives a restart, and from a login when neither has one.
///
/// However many ask at once, one login is made. A token is used while more than its refresh margin remains, so that it never
/// ends during an utterance. A store that fails costs a login, never the utterance: it is reported and worked around.
actor TokenProvider {
  typealias Login = @Sendable (_ deviceId: UUID) async throws(VoiceFailure) -> ApiAccessToken
  /// A login that may keep tokens itself, so that it must know when the one in use was rejected.
  typealias KeepingLogin =
    @Sendable (_ deviceId: UUID, _ isRejected: Bool) async throws(VoiceFailure) -> ApiAccessToken

  /// What the provider needs to know.
  struct Settings: Sendable {
    var scope: LoginScope
    /// The identity of the device; `nil` for one that is made once and kept.
    var deviceId: UUID?
    /// The identity server's address: tokens of one server are of no use at another.
    var server: String
    var store: any SecureStore
    /// Is told of a store that cannot be used; called on any task.
    var report: @Sendable (VoiceFailure) -> Void
    /// The wall clock, on which the lifetime of tokens is measured.
    var now: @Sendable () -> Date = { Date() }
  }

  static let deviceKey = "deviceId"

  private let settings: Settings
  private let login: KeepingLogin
  private var deviceId: UUID?
  private var token: ApiAccessToken?
  private var obtainedAt: Date?
  private var isStoreRead = false
  /// Whether the token that was last used was rejected, and no login has succeeded since.
  private var isRejected = false
  private var pending: (id: Int, task: Task<Result<ApiAccessToken, VoiceFailure>, Never>)?
  private var lastID = 0

  init(settings: Settings, login: @escaping Login) {
    self.init(settings: settings) { deviceId, _ throws(VoiceFailure) in try await login(deviceId) }
  }

  init(settings: Settings, keepingLogin login: @escaping KeepingLogin) {
    self.settings = settings
    self.login = login
    self.deviceId = settings.deviceId
  }

  /// A token that can be used now.
  ///
  /// - Parameter refresh: Whether the token in use was rejected: it is dropped and a new one is fetched.
  func token(refresh: Bool) async throws(VoiceFailure) -> ApiAccessToken {
    if refresh {
      self.token = nil
      self.isStoreRead = true
      self.isRejected = true
    } else if let token = self.token, self.isUsable(token) {
      return token
    }
    let pending: (id: Int, task: Task<Result<ApiAccessToken, VoiceFailure>, Never>)
    if let running = self.pending {
      pending = running
    } else {
      self.lastID += 1
      // Not a child task: it serves everybody who waits, also when the first of them is cancelled.
      pending = (self.lastID, Task(executorPreference: LoginExecutor.shared) { await self.obtain() })
      self.pending = pending
    }
    let result = await pending.task.value
    if self.pending?.id == pending.id { self.pending = nil }
    return try result.get()
  }

  private func obtain() async -> Result<ApiAccessToken, VoiceFailure> {
    let deviceId = await self.resolveDeviceId()
    let key = self.tokenKey(deviceId)
    if !self.isStoreRead {
      self.isStoreRead = true
      if let text = await self.stored(key), let token = ApiAccessToken(tokenString: text),
        token.key() == self.settings.scope.key, token.deviceId == deviceId, self.isUsable(token)
      {
        self.token = token
        return .success(token)
      }
    }
    do throws(VoiceFailure) {
      let token = try await self.login(deviceId, self.isRejected)
      self.isRejected = false
      self.token = token
      self.obtainedAt = self.settings.now()
      await self.keep(token.tokenString, key)
      return .success(token)
    } catch {
      return .failure(error)
    }
  }

  private func resolveDeviceId() async -> UUID {
    if let known = self.deviceId { return known }
    if let text = await self.stored(Self.deviceKey), let known = UUID(uuidString: text) {
      self.deviceId = known
      return known
    }
    let fresh = UUID()
    self.deviceId = fresh
    await self.keep(fresh.uuidString.lowercased(), Self.deviceKey)
    return fresh
  }

  private func tokenKey(_ deviceId: UUID) -> String {
    "token \(self.settings.server) \(self.settings.scope.key.uuidString.lowercased()) \(deviceId.uuidString.lowercased())"
  }

  private func stored(_ key: String) async -> String? {
    do throws(VoiceFailure) {
      return try await self.settings.store.string(forKey: key)
    } catch {
      self.settings.report(
        VoiceFailure(.tokenNotStored, message: "The stored access token cannot be read.", cause: error))
      return nil
    }
  }

  private func keep(_ value: String, _ key: String) async {
    do throws(VoiceFailure) {
      try await self.settings.store.set(value, forKey: key)
    } catch {
      self.settings.report(VoiceFailure(.tokenNotStored, cause: error))
    }
  }

  /// Tokens live about a day and are refreshed in their last hour (protocol §2.3); short-lived ones in their last quarter.
  private func isUsable(_ token: ApiAccessToken) -> Bool {
    let remaining = token.expiresAt.timeIntervalSince(self.settings.now())
    let issued = token.issuedAt ?? self.obtainedAt
    let lifetime = issued.map { token.expiresAt.timeIntervalSince($0) }
    let margin = min(3600, lifetime.map { max(0, $0 / 4) } ?? 3600)
    return remaining > margin
  }
}

/// A cache of the documented interface, used as a store.
struct CacheStore: SecureStore {
  var cache: any CacheProtocol

  func string(forKey key: String) async throws(VoiceFailure) -> String? {
    self.cache.getValue(forKey: key)
  }

  func set(_ value: String, forKey key: String) async throws(VoiceFailure) {
    self.cache.setValue(value, forKey: key)
  }

  func removeValue(forKey key: String) async throws(VoiceFailure) {
    self.cache.setValue("", forKey: key)
  }
}
