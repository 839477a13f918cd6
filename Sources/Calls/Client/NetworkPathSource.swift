import Foundation
import VoicePlatform

/// Whether there is a network, each time that it has changed.
protocol NetworkPathSource: Sendable {
  func changes() -> AsyncStream<Bool>
}

/// The paths of a monitor.
struct MonitoredPaths: NetworkPathSource {
  let monitor: any NetworkPathMonitor

  func changes() -> AsyncStream<Bool> {
    let changes = self.monitor.changes()
    return AsyncStream { continuation in
      let task = Task {
        for await path in changes { continuation.yield(path.isSatisfied) }
        continuation.finish()
      }
      continuation.onTermination = { _ in task.cancel() }
    }
  }
}

extension TxServerConfiguration {
  /// Whether the gateway is on this machine, which is reachable without any network.
  var isOnThisMachine: Bool {
    guard let host = self.signalingServer.host?.lowercased() else { return false }
    return host == "localhost" || host.hasPrefix("127.") || host == "::1" || host == "[::1]"
  }
}
