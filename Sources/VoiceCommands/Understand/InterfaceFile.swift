import ArgumentParser
import Foundation
import SpeechUnderstanding
import VoiceCore

/// Where a command finds an app's configuration.
struct InterfaceOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp("The app's configuration: a folder, or a .yaml or .sal file.", valueName: "file"))
  var config: String

  @Option(
    help: ArgumentHelp(
      "The time that “tomorrow” and the like start from, such as 2026-04-01T09:00:00Z.", valueName: "time"))
  var now: String?

  func validate() throws {
    if let now, (try? Date(now, strategy: .iso8601)) == nil {
      throw ValidationError("“\(now)” is not a time: write it like 2026-04-01T09:00:00Z.")
    }
  }

  /// What relative values start from.
  var values: ValueContext {
    guard let now, let date = try? Date(now, strategy: .iso8601) else { return .current }
    return ValueContext(now: date, timeZone: .gmt)
  }
}

/// An app's configuration as read from files, and how it is reported.
struct InterfaceFile {
  static let packs: [any LanguagePack] = [EnglishPack()]

  let path: String
  let result: VoiceInterface.LoadResult

  init(path: String) {
    self.path = path
    self.result = VoiceInterface.load(path: path, packs: Self.packs)
  }

  /// How many diagnostics there are of a severity.
  func count(_ severity: SALDiagnostic.Severity) -> Int {
    self.result.diagnostics.count { $0.severity == severity }
  }

  /// Prints the diagnostics for people.
  func report(_ least: SALDiagnostic.Severity, on stream: Console.Stream) {
    let shown = self.result.diagnostics.filter { $0.severity >= least }
    guard !shown.isEmpty else { return }
    let renderer = SALDiagnosticRenderer(sources: self.result.sources)
    stream.write(renderer.render(shown, colors: stream.showsColor) + "\n")
  }

  /// The configuration, compiled; the diagnostics of one that cannot be are printed.
  func understanding(in context: CommandContext, json: Bool) throws(VoiceFailure) -> Understanding {
    guard let interface = self.result.interface else {
      if !json { self.report(.error, on: context.console.error) }
      let missing = self.result.diagnostics.contains { $0.code == "configuration.file.missing" }
      let first = self.result.diagnostics.first { $0.severity == .error }
      throw VoiceFailure(
        missing ? .configurationNotFound : .configurationInvalid,
        message: missing
          ? "There is no configuration at \(self.path)."
          : "The configuration has \(Phrases.count(self.count(.error), "error")). \(first?.message ?? "")")
    }
    guard let pack = interface.languagePack(among: Self.packs) else {
      let known = Self.packs.map(\.language).joined(separator: ", ")
      throw VoiceFailure(
        .configurationInvalid,
        message:
          "The configuration is for the language \(interface.language), which cannot be understood here. There is: \(known)."
      )
    }
    let folder = CacheFolder.path(environment: context.environment)
    let understanding = try Understanding(
      interface, language: pack, cache: folder.map { GrammarCache(folder: $0) })
    for problem in understanding.cacheOutcome?.problems ?? [] {
      context.warn(problem, json: json)
    }
    return understanding
  }
}
