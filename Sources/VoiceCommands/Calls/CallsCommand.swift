import ArgumentParser
import Foundation
import VoiceCore
import VoiceServer

/// `voice calls`: lists the calls that a server has recorded.
struct CallsCommand: ContextCommand {
  static let configuration = CommandConfiguration(
    commandName: "calls",
    abstract: "Lists the latest calls of a server on this machine.",
    usage: "voice calls [--limit N] [--config FILE | --data DIR] [--json]")

  @Option(help: ArgumentHelp("How many calls (default: 20).", valueName: "n"))
  var limit = 20

  @OptionGroup var place: DataFolderOptions
  @OptionGroup var common: CommonOptions

  func validate() throws {
    guard (1...100_000).contains(self.limit) else {
      throw ValidationError("--limit is a number from 1 to 100000.")
    }
  }

  func run(in context: CommandContext) async -> CommandStatus {
    do throws(VoiceFailure) {
      let calls = try CallHistory(dataFolder: try self.place.folder(in: context)).calls(limit: self.limit)
      let output = context.console.output
      if self.common.json {
        for call in calls { output.write(Self.object(call).text + "\n") }
      } else if calls.isEmpty {
        output.line("There are no calls yet.")
      } else {
        for call in calls { output.line(Self.row(call), indent: 2) }
      }
      return .done
    } catch {
      return context.fail(error, json: self.common.json)
    }
  }

  static func object(_ call: CallHistory.Entry) -> JSONValue {
    func time(_ date: Date?) -> JSONValue {
      date.map { .string($0.formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true))) } ?? .null
    }
    return .object([
      "event": .string("record"), "id": .string(call.id), "caller": .string(call.caller),
      "destination": .string(call.destination), "callee": call.callee.map { .string($0) } ?? .null,
      "began": time(call.began), "answered": time(call.answered), "ended": time(call.ended),
      "duration": .decimal(call.answered.map { call.ended.timeIntervalSince($0) } ?? 0),
      "cause": call.cause.map { .string($0) } ?? .null,
      "causeCode": call.causeCode.map { .integer($0) } ?? .null,
      "sipCode": call.sipCode.map { .integer($0) } ?? .null, "endedBy": .string(call.endedBy),
    ])
  }

  private static func row(_ call: CallHistory.Entry) -> StyledText {
    let style = Date.VerbatimFormatStyle(
      format:
        "\(year: .padded(4))-\(month: .twoDigits)-\(day: .twoDigits) \(hour: .twoDigits(clock: .twentyFourHour, hourCycle: .zeroBased)):\(minute: .twoDigits):\(second: .twoDigits)",
      timeZone: .current, calendar: .current)
    var row = StyledText(style.format(call.began) + "  ", .dim)
    row.append("\(call.caller) → \(call.destination)  ", .bold)
    if let answered = call.answered {
      row.append(Phrases.duration(.milliseconds(Int64(call.ended.timeIntervalSince(answered) * 1000))) + "  ")
    } else {
      row.append("not answered  ")
    }
    row.append(call.cause ?? "", .dim)
    return row
  }
}

/// Which server's data folder.
struct DataFolderOptions: ParsableArguments {
  @Option(help: ArgumentHelp("The server's YAML file.", valueName: "file"))
  var config: String?

  @Option(help: ArgumentHelp("The server's data folder.", valueName: "dir"))
  var data: String?

  func folder(in context: CommandContext) throws(VoiceFailure) -> String {
    if let data { return Paths.absolute(data) }
    if let config {
      return try ServerConfiguration(contentsOfFile: config, environment: context.environment).dataFolder
    }
    return ServerConfiguration.defaultDataFolder(environment: context.environment)
  }
}
