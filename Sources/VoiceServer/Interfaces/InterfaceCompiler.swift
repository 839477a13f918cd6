import Dispatch
import Foundation
import SpeechUnderstanding
import VoiceCore

/// Why a configuration is refused: the failure, and each problem with its place.
struct InterfaceProblem: Error {
  var failure: VoiceFailure
  var diagnostics: [SALDiagnostic] = []
}

/// Reads and compiles configurations, one after the other, on a queue of its own.
///
/// Large ones take seconds of computing, and may not hold up a thread that serves streams.
final class InterfaceCompiler: Sendable {
  /// What compiling gives.
  struct Product: Sendable {
    var understanding: Understanding
    /// Warnings and notes.
    var diagnostics: [SALDiagnostic]
    var duration: Duration
    /// What was wrong with the folder of compiled grammars.
    var problems: [VoiceFailure]
  }

  /// The most words and values that all templates and lists of a configuration may have together.
  ///
  /// Compiling takes about 1 kB of memory for each.
  static let itemLimit = 3_000_000

  static let packs: [any LanguagePack] = [EnglishPack()]

  private let queue = DispatchQueue(label: "voice.server.interfaces", qos: .utility)
  private let clock: any VoiceClock
  private let cache: GrammarCache

  /// - Parameter cacheFolder: Where compiled grammars are kept.
  init(clock: any VoiceClock, cacheFolder: String) {
    self.clock = clock
    self.cache = GrammarCache(folder: cacheFolder)
  }

  /// Compiles the files of a configuration.
  ///
  /// - Parameters:
  ///   - language: The language of the app; a configuration that names another is refused.
  ///   - keeps: Whether the compiled grammar is worth keeping for the next start.
  func compile(
    _ source: InterfaceSource, language: String, keeps: Bool = true
  ) async -> Result<Product, InterfaceProblem> {
    await self.result { () throws(InterfaceProblem) in
      let files: [ConfigurationFile]
      do throws(VoiceFailure) { files = try source.files() } catch { throw InterfaceProblem(failure: error) }
      return try self.compile(
        VoiceInterface.load(files: files, packs: Self.packs, defaultLanguage: language), language: language,
        keeps: keeps)
    }
  }

  /// Compiles the configuration in a file or folder.
  func compile(path: String, language: String) async -> Result<Product, InterfaceProblem> {
    await self.result { () throws(InterfaceProblem) in
      try self.compile(
        VoiceInterface.load(path: path, packs: Self.packs, defaultLanguage: language), language: language,
        keeps: true)
    }
  }

  /// What is wrong or odd in the files of a configuration, without compiling it.
  ///
  /// - Throws: ``VoiceFailure`` with `server.interface.archive-invalid`.
  func diagnostics(
    of source: InterfaceSource, language: String
  ) async throws(VoiceFailure) -> [SALDiagnostic] {
    try await self.perform { () throws(VoiceFailure) in
      VoiceInterface.load(files: try source.files(), packs: Self.packs, defaultLanguage: language).diagnostics
    }
  }

  /// Does what may take long, such as writing to the disk, on the compiler's queue.
  func perform<Value: Sendable, Failure: Error>(
    _ work: @escaping @Sendable () throws(Failure) -> Value
  ) async throws(Failure) -> Value {
    let result = await withCheckedContinuation { continuation in
      self.queue.async { continuation.resume(returning: Result(catching: work)) }
    }
    return try result.get()
  }

  private func result(
    _ work: @escaping @Sendable () throws(InterfaceProblem) -> Product
  ) async -> Result<Product, InterfaceProblem> {
    do throws(InterfaceProblem) {
      return .success(try await self.perform(work))
    } catch {
      return .failure(error)
    }
  }

  private func compile(
    _ loaded: VoiceInterface.LoadResult, language: String, keeps: Bool
  ) throws(InterfaceProblem) -> Product {
    let start = self.clock.now
    guard let interface = loaded.interface else {
      throw InterfaceProblem(failure: Self.invalid(loaded.diagnostics), diagnostics: loaded.diagnostics)
    }
    guard Language.same(interface.language, language) else {
      throw InterfaceProblem(
        failure: VoiceFailure(
          .interfaceInvalid,
          message: "The configuration is in \(interface.language), but the app in \(language). "
            + "Write lang: \(language), or deploy it to another app."),
        diagnostics: loaded.diagnostics)
    }
    let primary = language.prefix { $0 != "-" }.lowercased()
    guard let pack = Self.packs.first(where: { $0.language == primary }) else {
      throw InterfaceProblem(
        failure: VoiceFailure(
          .interfaceInvalid,
          message: "The server does not understand \(language). Use an app in one of: "
            + "\(Self.packs.map(\.language).joined(separator: ", "))."),
        diagnostics: loaded.diagnostics)
    }
    let count = interface.program.itemCount(upTo: Self.itemLimit)
    guard count <= Self.itemLimit else {
      throw InterfaceProblem(
        failure: VoiceFailure(
          .interfaceTooLarge,
          message: "The templates and lists have more than \(Self.itemLimit) words. "
            + "Leave out values that nobody says."),
        diagnostics: loaded.diagnostics)
    }
    do throws(VoiceFailure) {
      let understanding = try Understanding(
        interface, language: pack, cache: keeps ? self.cache : nil)
      return Product(
        understanding: understanding, diagnostics: loaded.diagnostics,
        duration: start.duration(to: self.clock.now), problems: understanding.cacheOutcome?.problems ?? [])
    } catch {
      throw InterfaceProblem(
        failure: VoiceFailure(.interfaceInvalid, message: error.message, cause: error),
        diagnostics: loaded.diagnostics)
    }
  }

  /// The failure for a configuration with errors; names the first ones, so that one who sees nothing else can go on.
  static func invalid(_ diagnostics: [SALDiagnostic]) -> VoiceFailure {
    let errors = diagnostics.filter { $0.severity == .error }
    let count = errors.count == 1 ? "an error" : "\(errors.count) errors"
    let named = errors.prefix(3).map(\.line).joined(separator: " ")
    let rest = errors.count > 3 ? " And \(errors.count - 3) more." : ""
    return VoiceFailure(
      .interfaceInvalid, message: "The configuration has \(count). \(named)\(rest)")
  }
}

extension SALDiagnostic {
  /// Place, message and suggestion in one line: `app.yaml:3:10: There is no variable $rom. Did you mean $room?`
  var line: String {
    let place = self.range.map { "\($0.file):\($0.line):\($0.column): " } ?? ""
    return place + self.message + (self.suggestion.map { " (\($0))" } ?? "")
  }
}

extension SALProgram {
  /// How many items the templates and variables have, counted no further than just beyond the limit.
  fileprivate func itemCount(upTo limit: Int) -> Int {
    var count = 0
    var rest = Array(self.variables.values) + self.templates.map(\.expression)
    while let expression = rest.popLast(), count <= limit {
      count += expression.items.count
      for item in expression.items {
        switch item.kind {
        case .word, .intent, .numbers, .variable: break
        case .entity(let value, name: _): rest.append(SALExpression([value]))
        case .list(let alternatives): rest += alternatives.map(\.expression)
        case .permutation(let expressions): rest += expressions
        case .optional(let expression, probability: _): rest.append(expression)
        }
      }
    }
    return count
  }
}
