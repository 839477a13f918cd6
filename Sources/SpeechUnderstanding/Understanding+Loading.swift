public import VoiceCore

extension Understanding {
  /// Compiles templates that stand in the app's own text; entities that need a type other than text need a configuration.
  ///
  /// ```swift
  /// let understanding = try Understanding(templates: "*turn_on turn on the [lights | radio](device)")
  /// ```
  ///
  /// - Parameters:
  ///   - templates: Templates in SAL, one or more per line.
  ///   - packs: The languages to choose from, the one of the templates first.
  /// - Throws: ``VoiceFailure`` with code `server.configuration.invalid`; its message says where the first error is, and what to
  ///   write instead.
  public init(templates: String, packs: [any LanguagePack] = [EnglishPack()]) throws(VoiceFailure) {
    let file = ConfigurationFile(name: "templates.sal", bytes: Array(templates.utf8))
    try self.init(VoiceInterface.load(files: [file], packs: packs), packs: packs, path: file.name)
  }

  /// Compiles the configuration of an app.
  ///
  /// - Parameters:
  ///   - path: A folder, or a `.yaml` or `.sal` file.
  ///   - packs: The languages to choose from.
  ///   - cache: Where compiled grammars are kept, if anywhere.
  /// - Throws: ``VoiceFailure`` with code `server.configuration.not-found` or `server.configuration.invalid`.
  public init(
    contentsOf path: String, packs: [any LanguagePack] = [EnglishPack()], cache: GrammarCache? = nil
  ) throws(VoiceFailure) {
    try self.init(VoiceInterface.load(path: path, packs: packs), packs: packs, path: path, cache: cache)
  }

  private init(
    _ loaded: VoiceInterface.LoadResult, packs: [any LanguagePack], path: String, cache: GrammarCache? = nil
  ) throws(VoiceFailure) {
    guard let interface = loaded.interface else {
      let errors = loaded.diagnostics.filter { $0.severity == .error }
      if errors.contains(where: { $0.code == "configuration.file.missing" }) {
        throw VoiceFailure(.configurationNotFound, message: "There is no configuration at \(path).")
      }
      throw VoiceFailure(
        .configurationInvalid,
        message: "The configuration has \(errors.count == 1 ? "an error" : "\(errors.count) errors"). "
          + (errors.first.map(Self.describe) ?? ""))
    }
    guard let pack = interface.languagePack(among: packs) else {
      let known = packs.map(\.language).joined(separator: ", ")
      throw VoiceFailure(
        .configurationInvalid,
        message: "The configuration is for the language \(interface.language), which cannot be understood "
          + "here. There is: \(known).")
    }
    try self.init(interface, language: pack, cache: cache)
  }

  private static func describe(_ diagnostic: SALDiagnostic) -> String {
    let place = diagnostic.range.map { "\($0.file):\($0.line):\($0.column): " } ?? ""
    let suggestion = diagnostic.suggestion.map { " Help: \($0)." } ?? ""
    return place + diagnostic.message + suggestion
  }
}
