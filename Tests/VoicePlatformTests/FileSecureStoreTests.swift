import Foundation
import Synchronization
import Testing
import VoiceCore

@testable import VoicePlatform

struct FileSecureStoreTests {
  private let folder: TemporaryFolder
  private let reports = Reports()

  init() throws {
    self.folder = try TemporaryFolder()
  }

  private var store: FileSecureStore {
    let reports = self.reports
    return FileSecureStore(
      directory: StateDirectory(path: self.folder.path + "/state", codes: .client),
      report: { reports.add($0) })
  }

  @Test func treatsDamagedValuesAsMissingAndReportsThem() async throws {
    try await self.store.set("a secret", forKey: "token")
    let path = self.folder.path + "/state/store-token"
    let whole = try Data(contentsOf: URL(fileURLWithPath: path))
    var damaged = (0..<whole.count).map { whole.prefix($0) }
    for index in whole.indices {
      var copy = whole
      copy[index] ^= 0x81
      damaged.append(copy)
    }
    damaged.append(whole + [0])
    for content in damaged {
      try content.write(to: URL(fileURLWithPath: path))
      #expect(try await self.store.string(forKey: "token") == nil, "\(Array(content))")
    }
    #expect(self.reports.codes == [VoiceFailure.Code](repeating: .tokenNotStored, count: damaged.count))
    #expect(!self.reports.texts.contains { $0.contains("secret") })

    try await self.store.set("another", forKey: "token")
    #expect(try await self.store.string(forKey: "token") == "another")
  }

  @Test func saysWhenItCannotStore() async throws {
    let store = FileSecureStore(directory: StateDirectory(path: "/proc/voice", codes: .client))
    await #expect(throws: VoiceFailure.self) { try await store.set("x", forKey: "token") }
    #expect(try await store.string(forKey: "token") == nil)
  }

  @Test(arguments: ["", String(repeating: "k", count: 300)])
  func refusesKeysThatMakeNoFileName(key: String) async {
    await #expect(throws: VoiceFailure.self) { try await self.store.set("x", forKey: key) }
    await #expect(throws: VoiceFailure.self) { _ = try await self.store.string(forKey: key) }
  }

  @Test func keepsKeysApart() async throws {
    let keys = ["a", "A", "a/b", "../a", "a%2fb", "ä", " ", "\0", "a.b"]
    for key in keys { try await self.store.set("value of \(key)", forKey: key) }
    for key in keys { #expect(try await self.store.string(forKey: key) == "value of \(key)") }
    #expect(self.folder.names(in: "state").count == keys.count)
    #expect(self.folder.names(in: ".") == ["state"])
  }

  @Test(arguments: ["", "x", "two\nlines\r\n", "🎙️ ünïcode", String(repeating: "t", count: 100_000)])
  func givesBackWhatWasStored(value: String) async throws {
    try await self.store.set("something before", forKey: "key")
    try await self.store.set(value, forKey: "key")
    #expect(try await self.store.string(forKey: "key") == value)
    try await self.store.removeValue(forKey: "key")
    #expect(try await self.store.string(forKey: "key") == nil)
    #expect(self.reports.codes.isEmpty)
  }

  @Test func isForItsUserAlone() async throws {
    try await self.store.set("x", forKey: "key")
    var status = stat()
    #expect(stat(self.folder.path + "/state/store-key", &status) == 0)
    #expect(status.st_mode & 0o777 == 0o600)
    #expect(stat(self.folder.path + "/state", &status) == 0)
    #expect(status.st_mode & 0o777 == 0o700)
  }

  @Test func writersAtTheSameTimeLeaveOneWholeValue() async throws {
    let values = (0..<20).map { String(repeating: "\($0) ", count: 5_000) }
    try await withThrowingTaskGroup(of: Void.self) { group in
      for value in values {
        let store = self.store
        group.addTask { try await store.set(value, forKey: "key") }
      }
      try await group.waitForAll()
    }
    let stored = try await self.store.string(forKey: "key") ?? ""
    #expect(values.contains(stored))
    #expect(self.folder.names(in: "state") == ["store-key"])
  }

  private final class Reports: Sendable {
    private let failures = Mutex<[VoiceFailure]>([])

    var codes: [VoiceFailure.Code] { self.failures.withLock { $0.map(\.code) } }
    var texts: [String] { self.failures.withLock { $0.map { String(reflecting: $0) } } }

    func add(_ failure: VoiceFailure) {
      self.failures.withLock { $0.append(failure) }
    }
  }
}
