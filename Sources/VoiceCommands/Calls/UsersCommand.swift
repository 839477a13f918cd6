import ArgumentParser
import Foundation
import VoiceCore
import VoiceServer

/// `voice users`: the users of a server's gateway for calls that are not in its configuration file.
struct UsersCommand: ContextCommand {
  enum Action: String, ExpressibleByArgument, CaseIterable {
    case list, add, remove, hash, token, revoke
  }

  static let configuration = CommandConfiguration(
    commandName: "users",
    abstract: "Adds, removes and lists users who may call.",
    usage: """
      voice users list [--config FILE | --data DIR]
      voice users add NAME [--config FILE | --data DIR]
      voice users remove NAME [--config FILE | --data DIR]
      voice users token NAME [--hours N] [--config FILE | --data DIR]
      voice users revoke NAME [--config FILE | --data DIR]
      voice users hash
      """,
    discussion: """
      add and hash take the password from standard input: never from the command line, where other users could see it. \
      hash prints it as password_hash in the server's configuration file takes it. A running server lets a new user in at \
      once; of a removed one it keeps the calls under way, and closes its connections after them. revoke makes all tokens of a \
      user worthless that were issued so far, as remove does; who is connected stays so.
      """)

  @Argument(help: ArgumentHelp("list, add, remove, token, revoke or hash.", valueName: "action"))
  var action: Action

  @Argument(help: ArgumentHelp("The user.", valueName: "name"))
  var name: String?

  @Option(help: ArgumentHelp("How long a token is valid (default: 24).", valueName: "n"))
  var hours = 24

  @OptionGroup var place: DataFolderOptions
  @OptionGroup var common: CommonOptions

  func validate() throws {
    switch self.action {
    case .add, .remove, .token, .revoke:
      guard self.name != nil else {
        throw ValidationError("\(self.action.rawValue) takes the name of a user.")
      }
    case .list, .hash:
      guard self.name == nil else { throw ValidationError("\(self.action.rawValue) takes no name.") }
    }
    guard (1...8760).contains(self.hours) else {
      throw ValidationError("--hours is a number from 1 to 8760.")
    }
  }

  func run(in context: CommandContext) async -> CommandStatus {
    do throws(VoiceFailure) {
      let lines = try await self.perform(in: context)
      for line in lines {
        let text =
          self.common.json
          ? JSONValue.object(["event": .string("user"), line.0: .string(line.1)]).text : line.1
        context.console.output.write(text + "\n")
      }
      return .done
    } catch {
      return context.fail(error, json: self.common.json)
    }
  }

  private func perform(in context: CommandContext) async throws(VoiceFailure) -> [(String, String)] {
    let name = self.name ?? ""
    if self.action == .hash {
      return [("hash", try CallHistory.passwordHash(of: try Self.password(in: context)))]
    }
    let folder = try self.place.folder(in: context)
    switch self.action {
    case .hash: return []
    case .list: return try await CallHistory(dataFolder: folder).userNames().map { ("name", $0) }
    case .add:
      try CallHistory(dataFolder: folder).setUser(name, password: try Self.password(in: context))
      return [("added", name)]
    case .remove:
      guard try CallHistory(dataFolder: folder).removeUser(name) else {
        throw VoiceFailure(
          .usage, message: "There is no user “\(name)” here; those of a configuration file are removed there."
        )
      }
      return [("removed", name)]
    case .revoke:
      try CallHistory(dataFolder: folder).revokeTokens(of: name)
      return [("revoked", name)]
    case .token:
      let lifetime = Duration.seconds(self.hours * 3600)
      return [("token", try await CallHistory.token(for: name, dataFolder: folder, lifetime: lifetime))]
    }
  }

  private static func password(in context: CommandContext) throws(VoiceFailure) -> String {
    if context.inputIsTerminal {
      guard let text = getpass("Password: ") else {
        throw VoiceFailure(.usage, message: "The password cannot be read.")
      }
      return String(cString: text)
    }
    guard let line = readLine(strippingNewline: true) else {
      throw VoiceFailure(.usage, message: "Give the password on standard input.")
    }
    return line
  }
}
