import CallSignaling
import Foundation
import Synchronization
import Testing
import VoiceCore
import VoiceTesting

@testable import VoiceServer

@Suite struct CallRecordTests {
  static func record(_ id: Int) -> CallRecord {
    let began = VoiceInstant(offset: .seconds(100))
    return CallRecord(
      id: "call-\(id)", caller: "alice", callerNumber: "1001", destination: "bob", callee: "bob",
      began: began,
      rang: began, answered: began.advanced(by: .seconds(2)), ended: began.advanced(by: .seconds(12)),
      reason: CallTerminationReason(.normalClearing, origin: .remote), endedBy: .caller, reattachments: 0)
  }

  static func stored(_ id: Int) -> StoredCall {
    StoredCall(
      self.record(id), node: "n1", now: VoiceInstant(offset: .seconds(112)), wallTime: 1_000_000 + Int64(id))
  }

  /// A letter with any number of marks is one character, so characters were no limit.
  @Test func keepsNoMoreOfATextThanItsPlace() {
    var record = Self.record(1)
    record.destination = "a" + String(repeating: "\u{301}", count: 100_000)
    record.callerNumber = record.destination
    let stored = StoredCall(record, node: "n1", now: VoiceInstant(offset: .seconds(112)), wallTime: 0)
    #expect(stored.destination.utf8.count <= 4 * 128)
    #expect(stored.callerNumber?.utf8.count ?? 0 <= 4 * 128)
  }

  /// Holds what it is given until it is let go.
  final class SlowStore: CallRecordStore {
    let gate = Announcement<Void>()
    let began = Announcement<Void>()
    let calls = Mutex<[StoredCall]>([])

    func append(_ calls: [StoredCall]) async throws(VoiceFailure) {
      self.began.announce(())
      try? await self.gate.value()
      self.calls.withLock { $0 += calls }
    }
  }

  @Test func turnsInstantsIntoTimes() {
    let call = Self.stored(0)
    #expect(call.id == "n1-call-0")
    #expect((call.began, call.answered, call.ended) == (988_000, 990_000, 1_000_000))
    #expect(call.causeCode == 16 && call.endedBy == "caller")
  }

  @Test func keepsCallsOverARestart() async throws {
    let folder = try Fixture.Folder()
    do {
      let store = try CallStore(dataFolder: folder.path)
      try await store.append((0..<5).map { Self.stored($0) })
      // A record that comes twice is kept once.
      try await store.append([Self.stored(4)])
    }
    let calls = try CallStore(dataFolder: folder.path).calls(limit: 3)
    #expect(calls.map(\.id) == ["n1-call-4", "n1-call-3", "n1-call-2"])
    #expect(calls.first == Self.stored(4))
    let mode = try FileManager.default.attributesOfItem(atPath: folder.path + "/calls.sqlite")[
      .posixPermissions]
    #expect(mode as? Int == 0o600)
    withExtendedLifetime(folder) {}
  }

  @Test func complainsAboutAFileThatIsNoDatabase() throws {
    let folder = try Fixture.Folder()
    try Data(repeating: 65, count: 5000).write(to: URL(filePath: folder.path + "/calls.sqlite"))
    let error = #expect(throws: VoiceFailure.self) { try CallStore(dataFolder: folder.path) }
    #expect(error?.code == .keptStateInvalid)
    withExtendedLifetime(folder) {}
  }

  @Test func neverWaitsForTheDiskAndCountsWhatDoesNotFit() async throws {
    let registry = PrometheusRegistry()
    let store = SlowStore()
    let writer = CallRecordWriter(
      store: store, capacity: 3, metrics: CallMetrics(factory: registry), logger: CapturingLog().logger)
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { try await writer.run() }
      writer.write(Self.stored(0))
      try await store.began.value()
      // The first is being written; three wait, the rest is lost.
      for id in 1...7 { writer.write(Self.stored(id)) }
      #expect(registry.text().contains("voice_call_records_dropped_total 4"))
      writer.finish()
      store.gate.announce(())
      try await group.waitForAll()
    }
    #expect(store.calls.withLock { $0.map(\.id) } == (0...3).map { "n1-call-\($0)" })
  }
}
