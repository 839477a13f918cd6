import Foundation
import Synchronization
import VoiceCore
import VoiceServer

/// What `voice serve` says of the server's life.
final class ServerOutput: Sendable {
  private let console: Console
  private let json: Bool
  private let programName: String
  private let configuration: ServerConfiguration
  private let engineName: String
  private let progress: Mutex<LiveBlock>
  private let demoUsers = Mutex<[DemoUser]>([])

  init(
    configuration: ServerConfiguration, engineName: String, console: Console, programName: String, json: Bool
  ) {
    self.console = console
    self.json = json
    self.programName = programName
    self.configuration = configuration
    self.engineName = engineName
    self.progress = Mutex(LiveBlock(showsColor: console.error.showsColor))
  }

  /// Shows how many recognisers are loaded; on a terminal only, where the line is replaced.
  func loaded(_ loaded: Int, of total: Int) {
    if self.json {
      self.write(["event": .string("loading"), "loaded": .integer(loaded), "total": .integer(total)])
    } else if self.console.error.movesCursor {
      let row = ProgressBar.row("Loading recognisers", loaded, of: total, symbols: self.console.symbols)
      self.progress.withLock { self.console.error.write($0.draw([row], on: self.console.error.size)) }
    }
  }

  /// Removes the progress.
  func clear() {
    self.progress.withLock { self.console.error.write($0.clear(on: self.console.error.size)) }
  }

  /// Remembers the users that a server without configured users has, to be shown when it is ready.
  func took(_ users: [DemoUser]) {
    self.demoUsers.withLock { $0 = users }
  }

  func ready(_ addresses: ListenAddresses) {
    self.clear()
    if self.json {
      self.write([
        "event": .string("ready"), "grpc": .string(addresses.grpc.description),
        "http": .string(addresses.http.description), "data": .string(self.configuration.dataFolder),
        "apps": .array(
          self.configuration.apps.map { app in
            .object([
              "id": .string(app.id.uuidString.lowercased()), "name": .string(app.name),
              "language": .string(app.language),
            ])
          }),
        "calls": .string("\(self.webSocketScheme)://\(addresses.http)/"),
        "users": .array(
          self.demoUsers.withLock { $0 }.map { user in
            .object(["name": .string(user.name), "password": .string(user.password)])
          }),
      ])
      return
    }
    let output = self.console.output
    output.line(
      StyledText("\(self.console.symbols.good) ", [.green, .bold]) + StyledText("The server is ready", .bold))
    output.line()
    for (label, value) in self.facts(addresses) {
      let padding = String(repeating: " ", count: max(1, 11 - label.count))
      output.line(StyledText("  \(label)\(padding)", .dim) + value, indent: 13)
    }
    output.line()
    output.line("  Try it in another terminal:")
    // Never broken by us: a command that is copied must stay one line.
    output.write(
      StyledText("    \(self.command(addresses))", .bold).rendered(withColor: output.showsColor) + "\n")
    output.line()
    output.line(StyledText("  Ctrl-C stops the server.", .dim))
  }

  func stopping() {
    if self.json { return self.write(["event": .string("stopping")]) }
    let time = Phrases.duration(self.configuration.drainTime)
    self.clear()
    let error = self.console.error
    // The terminal has written ^C where the line begins.
    if error.movesCursor { error.write("\r\u{1B}[K") }
    error.line(
      StyledText(
        "Stopping: running utterances get up to \(time) to finish; Ctrl-C again ends at once.", .yellow))
  }

  func stopped() {
    if self.json { return self.write(["event": .string("stopped")]) }
    self.console.error.line(StyledText("\(self.console.symbols.good) Stopped.", .green))
  }

  private var webSocketScheme: String { self.configuration.tls == nil ? "ws" : "wss" }

  private func facts(_ addresses: ListenAddresses) -> [(String, StyledText)] {
    let scheme = self.configuration.tls == nil ? "grpc" : "grpc+tls"
    var facts: [(String, StyledText)] = [
      ("gRPC", StyledText("\(scheme)://\(addresses.grpc)", .cyan)),
      (
        "HTTP",
        StyledText("\(self.configuration.tls == nil ? "http" : "https")://\(addresses.http)", .cyan)
          + StyledText("  /healthz  /readyz  /metrics  /login", .dim)
      ),
    ]
    for (index, app) in self.configuration.apps.enumerated() {
      facts.append(
        (
          index == 0 ? (self.configuration.apps.count == 1 ? "App" : "Apps") : "",
          StyledText("\(app.id.uuidString.lowercased())  \(app.name), \(app.language)")
        ))
    }
    facts.append(
      (
        "Calls",
        StyledText("\(self.webSocketScheme)://\(addresses.http)/", .cyan)
          + StyledText("  echo  silence  assistant  fail-486", .dim)
      ))
    for (index, user) in self.demoUsers.withLock({ $0 }).enumerated() {
      facts.append((index == 0 ? "Demo users" : "", StyledText("\(user.name)  \(user.password)")))
    }
    facts.append(("Data", StyledText(self.configuration.dataFolder)))
    facts.append(
      (
        "Engine",
        StyledText(
          "\(self.engineName), \(Phrases.count(self.configuration.limits.decoders, "utterance")) at a time")
      ))
    return facts
  }

  /// A command that works against this server, as it was started.
  private func command(_ addresses: ListenAddresses) -> String {
    var words = [self.programName, "recognize"]
    let everywhere = ["0.0.0.0", "::"].contains(addresses.grpc.host)
    let reachable = ListenAddress(
      host: everywhere ? "127.0.0.1" : addresses.grpc.host, port: addresses.grpc.port)
    if reachable != ListenAddress(host: "127.0.0.1", port: 50051) || self.configuration.tls != nil {
      words += ["--server", "\(self.configuration.tls == nil ? "grpc" : "grpc+tls")://\(reachable)"]
    }
    if let app = self.configuration.apps.first, app.id != ServerConfiguration.App.demo.id {
      words += ["--app", app.id.uuidString.lowercased()]
    }
    words += DemoRecording.command.isInstalled ? ["--raw", DemoRecording.command.path] : ["--mic"]
    return words.joined(separator: " ")
  }

  private func write(_ fields: KeyValuePairs<String, JSONValue>) {
    self.console.output.write(JSONValue.object(fields).text + "\n")
  }
}

/// A bar that fills.
enum ProgressBar {
  static func row(_ label: String, _ done: Int, of total: Int, symbols: Console.Symbols) -> StyledText {
    let cells = 24
    let full = total > 0 ? cells * min(max(0, done), total) / total : 0
    var row = StyledText("\(label)  ")
    row.append(String(repeating: symbols.full, count: full), .cyan)
    row.append(String(repeating: symbols.empty, count: cells - full), .dim)
    row.append("  \(done) of \(total)")
    return row
  }
}
