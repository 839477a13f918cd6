import Synchronization

@testable import VoiceCommands

/// A console that keeps what is written.
final class RecordedConsole: Sendable {
  private struct State {
    var output = ""
    var error = ""
    var size: Console.Size
    var readers: [AsyncStream<Void>.Continuation] = []
  }

  private let state: Mutex<State>
  private let environment: [String: String]
  private let outputIsTerminal: Bool
  private let errorIsTerminal: Bool

  init(
    outputIsTerminal: Bool = false, errorIsTerminal: Bool = false, environment: [String: String] = [:],
    width: Int = 80, height: Int = 24
  ) {
    self.state = Mutex(State(size: Console.Size(width: width, height: height)))
    self.environment = environment
    self.outputIsTerminal = outputIsTerminal
    self.errorIsTerminal = errorIsTerminal
  }

  var console: Console {
    Console(
      output: Console.Stream(
        isTerminal: self.outputIsTerminal, environment: self.environment, size: { self.size },
        write: { text in
          let readers = self.state.withLock { state in
            state.output += text
            return state.readers
          }
          for reader in readers { reader.yield() }
        }),
      error: Console.Stream(
        isTerminal: self.errorIsTerminal, environment: self.environment, size: { self.size },
        write: { text in self.state.withLock { $0.error += text } }),
      environment: self.environment)
  }

  var size: Console.Size { self.state.withLock { $0.size } }
  var output: String { self.state.withLock { $0.output } }
  var error: String { self.state.withLock { $0.error } }
  var outputLines: [String] { self.output.split(separator: "\n").map(String.init) }
  var errorLines: [String] { self.error.split(separator: "\n").map(String.init) }

  /// Waits until a text was written to standard output, or the task is cancelled.
  func shows(_ text: String) async {
    let (changes, continuation) = AsyncStream.makeStream(of: Void.self)
    self.state.withLock { $0.readers.append(continuation) }
    if self.output.contains(text) { return }
    for await _ in changes where self.output.contains(text) { return }
  }

  func resize(width: Int) {
    self.state.withLock { $0.size.width = width }
  }

  /// What was written to standard output since the last call.
  func takeOutput() -> String {
    self.state.withLock { state in
      defer { state.output = "" }
      return state.output
    }
  }
}

/// Runs a command line as a process would.
func voice(
  _ arguments: String..., console: RecordedConsole = RecordedConsole(), environment: [String: String] = [:],
  inputIsTerminal: Bool = true,
  stopSignals: @escaping @Sendable () -> AsyncStream<StopSignal> = { AsyncStream { _ in } }
) async -> (status: CommandStatus, console: RecordedConsole) {
  let context = CommandContext(
    console: console.console, environment: environment, inputIsTerminal: inputIsTerminal,
    stopSignals: stopSignals)
  return (await VoiceCommand.run(arguments, in: context), console)
}
