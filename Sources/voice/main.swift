import Foundation
import VoiceCommands

let status = await VoiceCommand.run(Array(CommandLine.arguments.dropFirst()), in: .system())
exit(status.rawValue)
