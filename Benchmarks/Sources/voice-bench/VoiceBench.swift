import Foundation

/// `voice-bench run` measures everything; the other commands are the parts of it that need a process of their own.
@main
enum VoiceBench {
  static func main() async throws {
    let arguments = Array(CommandLine.arguments.dropFirst())
    switch (arguments.first, arguments.count) {
    case ("run", _): try await Suite(arguments: arguments.dropFirst()).run()
    case ("recognize", 2): try await EngineSubject.recognize(arguments[1])
    case ("final", 3...):
      try await EngineSubject.timeFinals(rounds: Int(arguments[1]) ?? 1, files: Array(arguments[2...]))
    case ("density", 4):
      try await DensitySubject.run(
        streams: arguments[1].split(separator: ",").compactMap { Int($0) }, seconds: Int(arguments[2]) ?? 5,
        file: arguments[3])
    case ("match", 2): try MatchSubject.match(count: Int(arguments[1]) ?? 10_000)
    case ("compile", 1): try MatchSubject.compile()
    case ("grammar", 3...):
      try await GrammarSubject.run(interface: arguments[1], files: Array(arguments[2...]))
    default:
      FileHandle.standardError.write(
        Data(
          "usage: voice-bench run --peers DIR --results DIR [--rounds N] [--interface FILE] [--only a,b,c,d,e,f,g,h,i,j]\n"
            .utf8))
      exit(2)
    }
  }
}
