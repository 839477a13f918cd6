import Logging
import Synchronization

/// Keeps everything that is logged, at every level.
final class CapturingLog: Sendable {
  private let lines = Mutex<[String]>([])

  var text: String { self.lines.withLock { $0.joined(separator: "\n") } }

  var logger: Logger {
    var logger = Logger(label: "test") { _ in Handler(log: self) }
    logger.logLevel = .trace
    return logger
  }

  private struct Handler: LogHandler {
    let log: CapturingLog
    var metadata: Logger.Metadata = [:]
    var logLevel = Logger.Level.trace

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
      get { self.metadata[key] }
      set { self.metadata[key] = newValue }
    }

    func log(event: LogEvent) {
      let all = self.metadata.merging(event.metadata ?? [:]) { _, new in new }
      let error = event.error.map { "\($0)" } ?? ""
      self.log.lines.withLock { $0.append("\(event.level) \(event.message) \(all) \(error)") }
    }
  }
}
