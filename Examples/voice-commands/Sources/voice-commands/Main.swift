import Foundation
import SpeechRecognition
import SpeechUnderstanding
import VoiceAudio
import VoiceCore

/// Understands spoken commands of a robot, without any network: prints intents and values.
@main
struct VoiceCommandsExample {
  /// What can be said. Try templates of your own: `voice sal check FILE` says what is wrong with them.
  static let grammar = """
    distance = [one|two|three|five|ten|twenty]
    place = [kitchen|office|charging station]
    *move go [forward|backward](direction) $distance(distance) meters
    *drive {please} [go|drive] to the $place(place)
    *act go somewhere and do something
    *stop [stop|halt|stand still]
    """

  static func main() async {
    let arguments = Array(CommandLine.arguments.dropFirst())
    guard arguments.isEmpty || arguments.count == 2 && arguments[0] == "--file" else {
      return complain("usage: voice-commands [--file FILE]")
    }
    let loaded = VoiceInterface.load(
      files: [ConfigurationFile(name: "robot.sal", bytes: Array(self.grammar.utf8))], packs: [EnglishPack()])
    guard let interface = loaded.interface else { return complain(loaded.rendered()) }
    do {
      var configuration = SpeechRecognitionUtility.Configuration()
      configuration.understanding = try Understanding(interface, language: EnglishPack())
      // A command is short: it need not wait for long whether more comes.
      configuration.timeoutPeriod = .milliseconds(800)
      if let file = arguments.last { configuration.source = AudioFileSource(path: file) }
      try await self.listen(configuration)
    } catch {
      complain("\(error)")
      exit(1)
    }
  }

  static func listen(_ configuration: SpeechRecognitionUtility.Configuration) async throws {
    let utility = SpeechRecognitionUtility(configuration: configuration)
    let events = utility.events
    try await utility.start()
    print("Say a command, such as “go forward ten meters”.")
    for await event in events {
      switch event {
      case .result(let result) where result.isFinal:
        for meaning in result.meanings { print(self.line(meaning)) }
      case .failed(let failure):
        complain("\(failure)")
      case .state(.speechRecognitionStopped, _):
        return
      case .result, .state:
        break
      }
    }
  }

  static func line(_ meaning: SpeechMeaning) -> String {
    guard !meaning.isRejected, !meaning.intent.isEmpty else { return "?  “\(meaning.text)”" }
    let values = meaning.entities.map { " \($0.type)=\($0.value)" }.joined()
    return "\(meaning.intent)\(values)  “\(meaning.text)”"
  }

  static func complain(_ text: String) {
    FileHandle.standardError.write(Data((text + "\n").utf8))
  }
}
