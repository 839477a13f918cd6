import Logging
import Synchronization

/// Keeps everything that is logged, at every level.
final class CapturingLog: Sendable {
  private let lines = Mutex<[String]>([])
  private let (news, signal) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))

  var text: String { self.lines.withLock { $0.joined(separator: "\n") } }

  /// Waits, one task at a time, until a line that contains the text is there.
  ///
  /// - Throws: `CancellationError` if the task is cancelled before.
  func waitForLine(with part: String) async throws {
    var news = self.news.makeAsyncIterator()
    while !self.lines.withLock({ $0.contains { $0.contains(part) } }) {
      try Task.checkCancellation()
      await news.next()
    }
  }

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
      self.log.signal.yield()
    }
  }
}
