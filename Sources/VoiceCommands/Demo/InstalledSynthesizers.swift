import Foundation
import VoiceCore

/// The synthesisers of this machine: flite and festival, which are Debian packages of the same names.
struct InstalledSynthesizers: SpeechSynthesizer {
  /// Says where programs are (`PATH`), and is passed on to them.
  let environment: [String: String]
  /// The folder for what the programs read and print.
  let folder: String
  let clock: any VoiceClock

  /// Who speaks, in this order.
  private static let cast: [SynthesizedVoice] = [
    SynthesizedVoice(program: .flite, name: "rms"),
    SynthesizedVoice(program: .flite, name: "slt"),
    SynthesizedVoice(program: .festival, name: "kal_diphone"),
    SynthesizedVoice(program: .flite, name: "awb"),
    SynthesizedVoice(program: .festival, name: "cmu_us_slt_arctic_hts"),
    SynthesizedVoice(program: .flite, name: "kal16"),
    SynthesizedVoice(program: .festival, name: "ked_diphone"),
  ]

  /// Nothing that the demonstration says takes a synthesiser longer than a second.
  private static let patience = Duration.seconds(20)

  func voices() async -> (voices: [SynthesizedVoice], missing: [VoiceFailure]) {
    var names: [SynthesizedVoice.Program: Set<Substring>] = [:]
    for program in SynthesizedVoice.Program.allCases { names[program] = await self.names(of: program) }
    let voices = Self.cast.filter { names[$0.program]?.contains(Substring($0.name)) == true }
    let hasFlite = voices.contains { $0.program == .flite }
    return (voices, hasFlite ? [] : [Self.missing(.flite)])
  }

  private static func missing(_ program: SynthesizedVoice.Program) -> VoiceFailure {
    VoiceFailure(
      .fileNotFound,
      message: "The voices of \(program.rawValue) are not installed. This command installs them: "
        + "sudo apt-get install \(program.rawValue)",
      recovery: .changeConfiguration("the packages of this machine"))
  }

  /// The voices that a program knows; none if it is not installed or fails.
  private func names(of program: SynthesizedVoice.Program) async -> Set<Substring> {
    let arguments: [String]
    switch program {
    case .flite: arguments = ["-lv"]
    case .festival:
      guard let script = try? self.script("(print (voice.list))") else { return [] }
      arguments = ["--batch", script]
    }
    guard let run = try? await self.run(program, arguments), run.status == 0 else { return [] }
    return Set(run.output.split { $0.isWhitespace || "():".contains($0) })
  }

  func speak(_ text: String, with voice: SynthesizedVoice, to path: String) async throws(VoiceFailure) {
    let arguments: [String]
    switch voice.program {
    case .flite:
      arguments = ["-voice", voice.name, "-t", text, "-o", path]
    case .festival:
      arguments = [
        "--batch",
        try self.script(
          """
          (voice_\(voice.name))
          (utt.save.wave (utt.synth (Utterance Text \(Self.quoted(text)))) \(Self.quoted(path)) 'riff)
          """),
      ]
    }
    let run = try await self.run(voice.program, arguments)
    guard run.status == 0 else {
      throw Self.failed(voice, "status \(run.status)", output: run.output)
    }
    // Festival ends with status 0 whatever happened, and an empty WAV file has 44 bytes.
    let size = (try? FileManager.default.attributesOfItem(atPath: path)[.size]) as? Int
    guard let size, size > 1_000 else { throw Self.failed(voice, "no audio", output: run.output) }
  }

  private static func failed(_ voice: SynthesizedVoice, _ reason: String, output: String) -> VoiceFailure {
    VoiceFailure(
      .audioEmpty, message: "The voice \(voice.name) of \(voice.program.rawValue) failed: \(reason).",
      recovery: .changeConfiguration("the packages of this machine"), cause: ProgramOutput(text: output))
  }

  private func script(_ text: String) throws(VoiceFailure) -> String {
    let path = self.folder + "/speak.scm"
    do {
      try FileManager.default.createDirectory(atPath: self.folder, withIntermediateDirectories: true)
      try Data(text.utf8).write(to: URL(fileURLWithPath: path))
    } catch {
      throw VoiceFailure(.fileNotWritable, message: "\(path) cannot be written.", cause: error)
    }
    return path
  }

  /// A string of Scheme.
  private static func quoted(_ text: String) -> String {
    "\"" + text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"") + "\""
  }

  private func run(_ program: SynthesizedVoice.Program, _ arguments: [String]) async throws(VoiceFailure)
    -> ProgramRun.Outcome
  {
    let places = (self.environment["PATH"] ?? "").split(separator: ":").map { "\($0)/\(program.rawValue)" }
    guard let path = places.first(where: FileManager.default.isExecutableFile(atPath:)) else {
      throw Self.missing(program)
    }
    do {
      try FileManager.default.createDirectory(atPath: self.folder, withIntermediateDirectories: true)
    } catch {
      throw VoiceFailure(.fileNotWritable, message: "\(self.folder) cannot be made.", cause: error)
    }
    return try await ProgramRun.run(
      path, arguments, environment: self.environment, output: self.folder + "/output.txt",
      patience: Self.patience, clock: self.clock)
  }
}

/// What a program printed before it failed.
struct ProgramOutput: Error, CustomStringConvertible {
  var text: String
  var description: String { self.text.isEmpty ? "no output" : self.text }
}
