import ArgumentParser
import Logging
import PocketSphinxRecognition
import SpeechPipeline
import VoiceCore
import VoiceServer

/// `voice serve`: a speech server until it is told to stop.
struct ServeCommand: ContextCommand {
  static let configuration = CommandConfiguration(
    commandName: "serve",
    abstract: "Runs a speech server; without options for a demo app, on this machine only.",
    usage: "voice serve [options]",
    discussion: """
      It speaks the Speechly protocol over gRPC, takes calls (Telnyx and Verto) over WebSocket on the HTTP port, and offers \
      /healthz, /readyz, /metrics and /login there. SIGTERM and Ctrl-C stop it: it accepts nothing new, lets running \
      utterances finish and ends calls with a cause.

      With --json standard output has one object for each step (loading, ready, stopping, stopped, failure) and the \
      log on standard error is JSON too.
      """)

  @Option(help: ArgumentHelp("A YAML file with apps, users, limits, TLS.", valueName: "file"))
  var config: String?

  @Option(help: ArgumentHelp("The address to listen at (default: 127.0.0.1).", valueName: "addr"))
  var host: String?

  @Option(help: ArgumentHelp("The port for gRPC; 0 takes a free one (default: 50051).", valueName: "n"))
  var port: Int?

  @Option(help: ArgumentHelp("The port for HTTP; 0 takes a free one (default: 8080).", valueName: "n"))
  var httpPort: Int?

  @Option(
    help: ArgumentHelp(
      "The folder for what must survive a restart (default: ~/.local/state/swift-voice/server, or in XDG_STATE_HOME).",
      valueName: "dir"))
  var data: String?

  @Option(help: ArgumentHelp("How many utterances are recognised at once (default: 2).", valueName: "n"))
  var decoders: Int?

  @Option(
    help: ArgumentHelp("trace, debug, info, notice, warning or error (default: notice).", valueName: "level"),
    transform: Self.level)
  var logLevel: Logger.Level?

  @OptionGroup var common: CommonOptions

  private static func level(named name: String) throws -> Logger.Level {
    guard let level = Logger.Level(rawValue: name.lowercased()) else {
      throw ValidationError("there is no log level of this name")
    }
    return level
  }

  func validate() throws {
    for (name, port) in [("--port", self.port), ("--http-port", self.httpPort)] {
      if let port, !(0...65_535).contains(port) {
        throw ValidationError("\(name) is a number from 0 to 65535.")
      }
    }
    if let port, port != 0, port == self.httpPort {
      throw ValidationError("--port and --http-port must differ: gRPC and HTTP have a port each.")
    }
    if let decoders, !(1...1024).contains(decoders) {
      throw ValidationError("--decoders is a number from 1 to 1024.")
    }
  }

  func run(in context: CommandContext) async -> CommandStatus {
    do throws(VoiceFailure) {
      let configuration = try self.serverConfiguration(in: context)
      let engine = try PocketSphinxEngine(language: configuration.apps.first?.language)
      return await self.serve(configuration, engine: engine, in: context)
    } catch {
      return context.fail(error, json: self.common.json)
    }
  }

  func serverConfiguration(in context: CommandContext) throws(VoiceFailure) -> ServerConfiguration {
    var configuration =
      if let config {
        try ServerConfiguration(contentsOfFile: config, environment: context.environment)
      } else {
        ServerConfiguration(
          dataFolder: ServerConfiguration.defaultDataFolder(environment: context.environment))
      }
    if let host { configuration.host = host }
    if let port { configuration.grpcPort = port }
    if let httpPort { configuration.httpPort = httpPort }
    if let data { configuration.dataFolder = Paths.absolute(data) }
    if let decoders { configuration.limits.decoders = decoders }
    try configuration.validate()
    return configuration
  }

  private func serve(
    _ configuration: ServerConfiguration, engine: any RecognitionEngine, in context: CommandContext
  ) async -> CommandStatus {
    let json = self.common.json
    let output = ServerOutput(
      configuration: configuration, engineName: engine.name, console: context.console,
      programName: context.programName, json: json)
    let level = self.logLevel ?? .notice
    let server = VoiceServer(
      configuration: configuration, engine: engine, clock: context.clock,
      logger: Logger(label: "voice.server") { [stream = context.console.error] label in
        ConsoleLogHandler(label: label, stream: stream, format: json ? .json : .text, level: level)
      },
      observer: VoiceServer.Observer(
        loaded: { output.loaded($0, of: $1) }, tookDemoUsers: { output.took($0) },
        becameReady: { output.ready($0) }))
    return await ServeRun(server: server, output: output, context: context, json: json).run()
  }
}

/// Runs a server until it ends by itself or by a request to stop.
private struct ServeRun {
  enum Event: Sendable {
    case ended(VoiceFailure?)
    case signal
  }

  let server: VoiceServer
  let output: ServerOutput
  let context: CommandContext
  let json: Bool

  func run() async -> CommandStatus {
    let (events, continuation) = AsyncStream.makeStream(of: Event.self)
    return await withTaskGroup(of: Void.self) { group in
      group.addTask { [stopSignals = context.stopSignals] in
        for await _ in stopSignals() { continuation.yield(.signal) }
      }
      group.addTask { [server] in
        do {
          try await server.run()
          continuation.yield(.ended(nil))
        } catch is CancellationError {
          continuation.yield(.ended(nil))
        } catch {
          continuation.yield(.ended(error as? VoiceFailure ?? VoiceFailure(.unexpected, cause: error)))
        }
      }
      defer { group.cancelAll() }
      var stop = StopMachine()
      for await event in events {
        switch event {
        case .signal:
          switch stop.signalArrived() {
          case .stopGracefully:
            self.output.stopping()
            self.server.beginGracefulShutdown()
          case .abort:
            return .interrupted
          case .ignore:
            break
          }
        case .ended(let failure?):
          self.output.clear()
          return self.context.fail(failure, json: self.json)
        case .ended(nil):
          stop.workEnded()
          self.output.stopped()
          return .done
        }
      }
      return .done
    }
  }
}
