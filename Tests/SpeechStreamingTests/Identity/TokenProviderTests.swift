import Foundation
import Synchronization
import Testing
import VoiceCore
import VoicePlatform
import VoiceTesting

@testable import SpeechStreaming

@Suite struct TokenProviderTests {
  @Test func manyWhoAskAtOnceShareOneLogin() async throws {
    let logins = Atomic2()
    let provider = TokenProvider(settings: .forTests(store: MemorySecureStore())) {
      deviceId throws(VoiceFailure) in
      logins.increment()
      await Task.yield()
      return try TokenFixture.token(deviceId: deviceId, lifetime: 86_400)
    }
    let tokens = try await withThrowingTaskGroup(of: String.self) { group in
      for _ in 0..<50 { group.addTask { try await provider.token(refresh: false).tokenString } }
      return try await group.reduce(into: Set<String>()) { $0.insert($1) }
    }
    #expect(logins.count == 1)
    #expect(tokens.count == 1)
  }

  @Test(arguments: [(86_400.0, 82_000.0, 1), (86_400.0, 83_000.0, 2), (600.0, 400.0, 1), (600.0, 460.0, 2)])
  func aTokenIsReplacedBeforeItExpires(lifetime: Double, after: Double, expectedLogins: Int) async throws {
    let logins = Atomic2()
    let start = Date(timeIntervalSince1970: 2_000_000_000)
    let time = Mutex(start)
    let provider = TokenProvider(
      settings: .forTests(store: MemorySecureStore(), now: { time.withLock { $0 } })
    ) { deviceId throws(VoiceFailure) in
      logins.increment()
      return try TokenFixture.token(deviceId: deviceId, lifetime: lifetime, from: time.withLock { $0 })
    }
    _ = try await provider.token(refresh: false)
    time.withLock { $0 = start.addingTimeInterval(after) }
    _ = try await provider.token(refresh: false)
    #expect(logins.count == expectedLogins)
  }

  @Test func aRejectedTokenIsNotTakenFromTheStoreAgain() async throws {
    let store = MemorySecureStore()
    let logins = Atomic2()
    let login: TokenProvider.Login = { deviceId throws(VoiceFailure) in
      logins.increment()
      return try TokenFixture.token(deviceId: deviceId, lifetime: 86_400 + Double(logins.count))
    }
    let first = try await TokenProvider(settings: .forTests(store: store), login: login).token(refresh: false)
    let relaunched = TokenProvider(settings: .forTests(store: store), login: login)
    #expect(try await relaunched.token(refresh: false) == first)
    let second = try await relaunched.token(refresh: true)
    #expect(second != first)
    #expect(
      try await TokenProvider(settings: .forTests(store: store), login: login).token(refresh: false) == second
    )
  }

  @Test func tokensOfOneServerAreNotSentToAnother() async throws {
    let store = MemorySecureStore()
    let logins = Atomic2()
    for server in ["grpc://a", "grpc://b"] {
      let provider = TokenProvider(settings: .forTests(store: store, server: server)) {
        deviceId throws(VoiceFailure) in
        logins.increment()
        return try TokenFixture.token(deviceId: deviceId, lifetime: 86_400)
      }
      _ = try await provider.token(refresh: false)
    }
    #expect(logins.count == 2)
  }

  @Test func aStoreThatFailsIsReportedAndCostsOnlyALogin() async throws {
    struct BrokenStore: SecureStore {
      func string(forKey key: String) async throws(VoiceFailure) -> String? {
        throw VoiceFailure(.tokenNotStored)
      }
      func set(_ value: String, forKey key: String) async throws(VoiceFailure) {
        throw VoiceFailure(.tokenNotStored)
      }
      func removeValue(forKey key: String) async throws(VoiceFailure) {}
    }
    let reports = Mutex<[VoiceFailure.Code]>([])
    let provider = TokenProvider(
      settings: .forTests(
        store: BrokenStore(), report: { failure in reports.withLock { $0.append(failure.code) } })
    ) { deviceId throws(VoiceFailure) in try TokenFixture.token(deviceId: deviceId, lifetime: 86_400) }
    _ = try await provider.token(refresh: false)
    let codes = reports.withLock { Set($0) }
    #expect(codes == [.tokenNotStored])
  }

  @Test(arguments: [
    "", "garbage", "a.b.c", "h..s", "h.e30.s", "....", "h.\(String(repeating: "A", count: 4096)).s",
  ])
  func aGarbledStoredTokenIsReplaced(stored: String) async throws {
    let device = UUID()
    let key = "token s \(TokenFixture.appId.uuidString.lowercased()) \(device.uuidString.lowercased())"
    let store = MemorySecureStore(["deviceId": device.uuidString.lowercased(), key: stored])
    let logins = Atomic2()
    let provider = TokenProvider(settings: .forTests(store: store)) { deviceId throws(VoiceFailure) in
      logins.increment()
      return try TokenFixture.token(deviceId: deviceId, lifetime: 86_400)
    }
    #expect(try await provider.token(refresh: false).deviceId == device)
    #expect(logins.count == 1)
  }

  @Test func aTokenNeverShowsWhenItIsPrinted() throws {
    let token = try TokenFixture.token(deviceId: UUID(), lifetime: 100)
    var dumped = ""
    dump(token, to: &dumped)
    for text in ["\(token)", String(reflecting: token), dumped] {
      #expect(!text.contains(token.tokenString))
    }
  }
}
