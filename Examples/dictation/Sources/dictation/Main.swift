import Foundation
import SpeechRecognition
import VoiceAudio
import VoiceCore

/// Types what somebody says, without any network.
///
/// An asynchronous `main` keeps the main queue running, which is where the utility calls blocks; this program reads the
/// events as a sequence instead.
@main
struct Dictation {
  static func main() async {
    let arguments: Arguments
    switch Arguments.parse(Array(CommandLine.arguments.dropFirst())) {
    case .success(let parsed): arguments = parsed
    case .failure(let problem):
      Screen.complain(problem.text)
      exit(64)
    }

    var configuration = SpeechRecognitionUtility.Configuration()
    configuration.locale = Locale(identifier: arguments.language)
    configuration.timeoutPeriod = .milliseconds(Int64(arguments.timeout * 1000))
    configuration.contextualStrings = arguments.words
    configuration.mode = arguments.isOnce ? .oneUtterance : .continuous
    if let file = arguments.file {
      configuration.source = AudioFileSource(path: file, pacing: arguments.isFast ? .unpaced : .realTime)
    }
    let utility = SpeechRecognitionUtility(configuration: configuration)
    let screen = Screen()
    let events = utility.events
    let keys = Keyboard.keys()
    screen.say("space: start and stop   n: other transcriptions   q: quit", in: .faint)

    Task {
      for await key in keys {
        switch key {
        case " ": try? utility.toggleSpeechRecognitionActivity()
        case "n": screen.showTranscriptions()
        case "q", "\u{4}":
          await utility.finish()
          screen.end()
        default: break
        }
      }
    }
    Task {
      do {
        try await utility.start()
      } catch {
        // The failure is told as an event, with advice. Without a microphone there is nothing to wait for.
        if arguments.file == nil { screen.say("Try `dictation --file FILE.wav`.", in: .faint) }
        screen.end(failed: true)
      }
    }
    await screen.show(events, endsWithTheFirstActivity: arguments.file != nil || arguments.isOnce)
    Keyboard.restore()
    exit(screen.hasFailed ? 1 : 0)
  }
}

struct Arguments {
  struct Problem: Error {
    var text: String
  }

  var file: String?
  var language = "en-US"
  var timeout = 1.5
  var words: [String] = []
  var isOnce = false
  var isFast = false

  static let usage =
    "usage: dictation [--file FILE [--fast]] [--language TAG] [--timeout SECONDS] [--word WORD]... [--once]"

  static func parse(_ arguments: [String]) -> Result<Arguments, Problem> {
    var result = Arguments()
    var rest = arguments[...]
    while let argument = rest.popFirst() {
      switch argument {
      case "--once": result.isOnce = true
      case "--fast": result.isFast = true
      case "--file", "--language", "--timeout", "--word":
        guard let value = rest.popFirst() else {
          return .failure(Problem(text: "\(argument) needs a value.\n\(self.usage)"))
        }
        switch argument {
        case "--file": result.file = value
        case "--language": result.language = value
        case "--word": result.words.append(value)
        default:
          guard let seconds = Double(value), (0...60).contains(seconds) else {
            return .failure(Problem(text: "--timeout is a time in seconds, from 0 to 60."))
          }
          result.timeout = seconds
        }
      default:
        return .failure(Problem(text: "\(argument) is not known.\n\(self.usage)"))
      }
    }
    return .success(result)
  }
}
