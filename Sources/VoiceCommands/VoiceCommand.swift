public import ArgumentParser
import VoiceCore

/// The command `voice`.
public struct VoiceCommand: AsyncParsableCommand {
  public static let configuration = CommandConfiguration(
    commandName: "voice",
    abstract: "Speech to text as you speak, and calls: a server of your own, a client, and both in one process.",
    discussion: """
      See it work:            voice demo
      Recognise a recording:  voice recognize talk.wav
      Run a server:           voice serve
      Hear yourself:          voice call echo --local

      Exit status: 0 done, 2 usage, 3 input (file, device, model), 4 network or server, 5 refused \
      (app, language, credentials), 6 the call failed, 130 interrupted.
      """,
    version: "0.1.0",
    subcommands: [
      RecognizeCommand.self, UnderstandCommand.self, SALCommand.self, DeployCommand.self, ServeCommand.self,
      CallCommand.self, AnswerCommand.self, PreflightCommand.self, CallsCommand.self, UsersCommand.self,
      EvaluateCommand.self,
      DoctorCommand.self, DemoCommand.self, FailuresCommand.self,
    ])

  public init() {}

  /// Runs a command line.
  ///
  /// - Parameters:
  ///   - arguments: What follows the name of the program.
  ///   - context: Where it writes, and what else is around it.
  /// - Returns: What the process should exit with.
  public static func run(_ arguments: [String], in context: CommandContext) async -> CommandStatus {
    if let unknown = self.unknownCommand(in: arguments) {
      return context.fail(unknown, json: arguments.contains("--json"))
    }
    do {
      var parsed = try self.parseAsRoot(arguments)
      if let command = parsed as? any ContextCommand {
        return await command.run(in: context.applying(command.common))
      }
      if parsed is VoiceCommand { throw CleanExit.helpRequest() }
      // The parser's own commands, such as help, end by throwing what is to be printed.
      try parsed.run()
      return .done
    } catch {
      return self.report(error, arguments: arguments, in: context)
    }
  }

  /// The parser calls a mistyped command an unexpected argument; a person wants to hear which one was meant.
  private static func unknownCommand(in arguments: [String]) -> VoiceFailure? {
    guard let first = arguments.first, !first.hasPrefix("-"), first != "help" else { return nil }
    let known = self.configuration.subcommands.compactMap { $0.configuration.commandName }
    guard !known.contains(first) else { return nil }
    let meant = Spelling.nearest(to: first, in: known).map { "Did you mean “voice \($0)”?" }
    return VoiceFailure(
      .usage,
      message: "There is no command “\(first)”. \(meant ?? "There are: \(known.joined(separator: ", ")).")")
  }

  private static func report(
    _ error: any Error, arguments: [String], in context: CommandContext
  ) -> CommandStatus {
    let text = self.fullMessage(for: error, columns: context.helpColumns)
    if self.exitCode(for: error).isSuccess {
      // Help and version were asked for.
      context.console.output.write(text + "\n")
      return .done
    }
    if arguments.contains("--json") {
      let failure = VoiceFailure(.usage, message: self.message(for: error))
      context.console.output.write(EventObject.failure(failure).text + "\n")
    }
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    let error = context.console.error
    for line in lines {
      // The parser's own layout is kept; only the word that matters gets a colour.
      if line.hasPrefix("Error: ") {
        let message = StyledText(String(line.dropFirst("Error: ".count)), [.red, .bold])
        error.line(StyledText("\(context.console.symbols.bad) ", [.red, .bold]) + message, indent: 2)
      } else {
        error.write(StyledText.withoutControls(line) + "\n")
      }
    }
    return .usage
  }
}

extension CommandContext {
  var helpColumns: Int { self.console.output.isTerminal ? min(100, self.console.output.size.width) : 80 }
}
