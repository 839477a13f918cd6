import Synchronization
import Testing
import VoiceCore

@testable import VoicePlatform

struct SystemNetworkPathMonitorTests {
  private let offline = NetworkPath(interfaces: [])
  private let wired = NetworkPath(interfaces: [.init(name: "eth0", addresses: ["10.0.0.2"])])

  @Test func watchesOnlyWhileSomebodyReads() async {
    let system = FakeSystem()
    let monitor = SystemNetworkPathMonitor(clock: LeapingClock(), configuration: .init(), watch: system.watch)
    #expect(system.watcherCount == 0)
    do {
      let first = monitor.changes()
      let second = monitor.changes()
      #expect(system.watcherCount == 1)
      _ = (first, second)
    }
    #expect(system.watcherCount == 0)
    let third = monitor.changes()
    #expect(system.watcherCount == 1)
    _ = third
  }

  @Test func tellsAllReadersOfAChange() async {
    let system = FakeSystem()
    let monitor = SystemNetworkPathMonitor(clock: LeapingClock(), configuration: .init(), watch: system.watch)
    #expect(monitor.currentPath == nil)
    var first = monitor.changes().makeAsyncIterator()
    var second = monitor.changes().makeAsyncIterator()
    system.report(self.offline)
    #expect(monitor.currentPath == self.offline)
    system.report(self.wired)
    #expect(await first.next() == self.wired)
    #expect(await second.next() == self.wired)
    #expect(monitor.currentPath == self.wired)
  }

  @Test func aSystemThatCannotBeWatchedTellsNothing() async {
    let monitor = SystemNetworkPathMonitor(clock: LeapingClock(), configuration: .init(), watch: { _ in nil })
    let stream = monitor.changes()
    let reader = Task {
      for await _ in stream { return true }
      return false
    }
    reader.cancel()
    #expect(await reader.value == false)
  }

  @Test func aManualMonitorTellsAtOnce() async {
    let monitor = ManualNetworkPathMonitor()
    var changes = monitor.changes().makeAsyncIterator()
    monitor.change(to: self.offline)
    monitor.change(to: self.wired)
    // A reader that was late gets the newest path only.
    #expect(await changes.next() == self.wired)
    #expect(monitor.currentPath == self.wired)
  }

  /// Stands for the operating system.
  private final class FakeSystem: Sendable {
    private let handlers = Mutex<[Int: @Sendable (NetworkPath) -> Void]>([:])

    var watcherCount: Int { self.handlers.withLock { $0.count } }

    var watch: SystemNetworkPathMonitor.Watch {
      { onChange in
        let id = self.handlers.withLock { handlers in
          let id = handlers.count + 1
          handlers[id] = onChange
          return id
        }
        return Watcher { self.handlers.withLock { $0[id] = nil } }
      }
    }

    func report(_ path: NetworkPath) {
      for handler in self.handlers.withLock({ Array($0.values) }) { handler(path) }
    }

    private struct Watcher: PathWatcher {
      let onCancel: @Sendable () -> Void

      func cancel() { self.onCancel() }
    }
  }
}
