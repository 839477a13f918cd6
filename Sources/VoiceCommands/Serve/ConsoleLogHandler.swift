import Foundation
import Logging

/// Writes log entries to a stream: one line each, for people or as JSON.
struct ConsoleLogHandler: LogHandler {
  enum Format: Hashable, Sendable {
    case text
    case json
  }

  var metadata: Logger.Metadata = [:]
  var logLevel: Logger.Level
  private let stream: Console.Stream
  private let format: Format
  private let label: String
  private let now: @Sendable () -> Date

  init(
    label: String, stream: Console.Stream, format: Format, level: Logger.Level,
    now: @escaping @Sendable () -> Date = { Date() }
  ) {
    self.label = label
    self.stream = stream
    self.format = format
    self.logLevel = level
    self.now = now
  }

  subscript(metadataKey key: String) -> Logger.Metadata.Value? {
    get { self.metadata[key] }
    set { self.metadata[key] = newValue }
  }

  func log(event: LogEvent) {
    let metadata = self.metadata.merging(event.metadata ?? [:]) { _, new in new }
      .map { (key: $0.key, value: "\($0.value)") }
      .sorted { $0.key < $1.key }
    switch self.format {
    case .json:
      var fields: [JSONValue.Field] = [
        .init(
          name: "time",
          value: .string(self.now().formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true)))),
        .init(name: "level", value: .string(event.level.rawValue)),
        .init(name: "logger", value: .string(self.label)),
        .init(name: "message", value: .string("\(event.message)")),
      ]
      fields += metadata.map { JSONValue.Field(name: $0.key, value: .string($0.value)) }
      self.stream.write(JSONValue.object(fields).text + "\n")
    case .text:
      let parts = Calendar.current.dateComponents([.hour, .minute, .second], from: self.now())
      let time = String(format: "%02d:%02d:%02d", parts.hour ?? 0, parts.minute ?? 0, parts.second ?? 0)
      var line = StyledText("\(time) ", .dim)
      line.append(event.level.rawValue, Self.style(of: event.level))
      line.append(" \(event.message)")
      for (key, value) in metadata { line.append(" \(key)=\(value)", .dim) }
      self.stream.write(line.rendered(withColor: self.stream.showsColor) + "\n")
    }
  }

  private static func style(of level: Logger.Level) -> TextStyle {
    switch level {
    case .trace, .debug, .info: .dim
    case .notice: .cyan
    case .warning: .yellow
    case .error, .critical: [.red, .bold]
    }
  }
}
