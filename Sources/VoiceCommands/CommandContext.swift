import ArgumentParser
import Calls
import Foundation
public import VoiceCore
public import VoicePlatform

/// What a command has around it: the streams, the environment, the time, the signals. Injected, so that tests see every command whole.
public struct CommandContext: Sendable {
  /// Where the command writes.
  public var console: Console
  /// The environment variables.
  public var environment: [String: String]
  /// The time that live input and waits go by.
  public var clock: any VoiceClock
  /// Where the client keeps its token for the next time.
  public var store: any SecureStore
  /// How the program was called, for commands that people may copy.
  public var programName: String
  /// Whether standard input is a terminal, where no audio can come from.
  public var inputIsTerminal: Bool
  /// The requests to stop, from now on; one reader at a time.
  public var stopSignals: @Sendable () -> AsyncStream<StopSignal>
  /// The keys that a person types in a call, from now on; one reader at a time.
  public var keys: @Sendable () -> AsyncStream<Character>
  /// Makes the audio of calls; `nil` for real audio.
  var callMedia: (any MediaPeerFactory)?

  /// Creates a context.
  public init(
    console: Console, environment: [String: String] = [:], clock: any VoiceClock = MonotonicClock(),
    store: any SecureStore = MemorySecureStore(), programName: String = "voice",
    inputIsTerminal: Bool = false,
    stopSignals: @escaping @Sendable () -> AsyncStream<StopSignal> = { AsyncStream { _ in } },
    keys: @escaping @Sendable () -> AsyncStream<Character> = { AsyncStream { $0.finish() } }
  ) {
    self.console = console
    self.environment = environment
    self.clock = clock
    self.store = store
    self.programName = programName
    self.inputIsTerminal = inputIsTerminal
    self.stopSignals = stopSignals
    self.keys = keys
  }

  /// The context of this process.
  public static func system() -> CommandContext {
    let environment = ProcessInfo.processInfo.environment
    return CommandContext(
      console: .system(environment: environment), environment: environment,
      store: SystemSecureStore.standard(),
      programName: Self.programName(
        CommandLine.arguments.first ?? "voice", from: FileManager.default.currentDirectoryPath),
      inputIsTerminal: isatty(0) == 1,
      stopSignals: { StopSignal.ofThisProcess() }, keys: { TerminalKeys.ofThisProcess() })
  }

  /// The program as it can be typed here: a path below the current folder is shortened, and so is the build's own.
  static func programName(_ path: String, from folder: String) -> String {
    let here = folder + "/"
    guard path.hasPrefix(here), path.count > here.count else { return path }
    let parts = path.dropFirst(here.count).split(separator: "/")
    // `.build/release` leads to `.build/<platform>/release`.
    let isBuilt = parts.count == 4 && parts[0] == ".build"
    return (isBuilt ? [parts[0], parts[2], parts[3]] : parts).joined(separator: "/")
  }

  /// Reports a failure that ends the command, and says with which status.
  func fail(_ failure: VoiceFailure, json: Bool) -> CommandStatus {
    if json {
      self.console.output.write(EventObject.failure(failure).text + "\n")
    } else {
      FailurePresentation(failure, symbols: self.console.symbols).write(to: self.console.error)
    }
    return CommandStatus(failure.code)
  }

  /// Reports what works less well than it could.
  func warn(_ problem: VoiceFailure, json: Bool) {
    if json {
      self.console.output.write(EventObject.warning(problem).text + "\n")
    } else {
      self.console.error.line(StyledText("\(problem.message) [\(problem.code)]", .yellow))
    }
  }

  func applying(_ options: CommonOptions) -> CommandContext {
    guard options.noColor else { return self }
    var copy = self
    copy.console = self.console.withoutColor()
    return copy
  }
}

/// Options that every command has.
struct CommonOptions: ParsableArguments {
  @Flag(help: "Print one JSON object per line and nothing else on standard output.")
  var json = false

  @Flag(help: "Use no colours, as with NO_COLOR in the environment.")
  var noColor = false
}

/// A command that runs in a given context.
protocol ContextCommand: AsyncParsableCommand {
  var common: CommonOptions { get }

  /// Runs to the end. Every failure has been reported when this returns.
  func run(in context: CommandContext) async -> CommandStatus
}

extension ContextCommand {
  mutating func run() async throws {
    let status = await self.run(in: CommandContext.system().applying(self.common))
    throw ExitCode(status.rawValue)
  }
}
