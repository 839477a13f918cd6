/// What users of an app can say, and how to read it: an app's configuration, ready to be compiled.
///
/// It comes from the files that the Speechly tools deploy (protocol document, section 4.5): YAML with templates in SAL,
/// and CSV with long lists. Load it with ``load(path:packs:defaultLanguage:)``.
public struct VoiceInterface: Hashable, Sendable {
  /// The templates and variables.
  public var program: SALProgram
  /// The entities by name: the declared ones, and those that only templates name, as strings.
  public var entities: [String: EntityDeclaration]
  /// The intents: the declared ones, in order, then those that only templates name.
  public var intents: [String]
  /// The language as a BCP 47 tag, such as `en-US`.
  public var language: String
  /// How recognition should behave.
  public var options: VoiceInterfaceOptions

  /// Creates an interface.
  public init(
    program: SALProgram = SALProgram(), entities: [String: EntityDeclaration] = [:], intents: [String] = [],
    language: String = "en-US", options: VoiceInterfaceOptions = VoiceInterfaceOptions()
  ) {
    self.program = program
    self.entities = entities
    self.intents = intents
    self.language = language
    self.options = options
  }

  /// What is known of the interface's language, regions aside; `nil` if none of the packs is for it.
  public func languagePack(among packs: [any LanguagePack]) -> (any LanguagePack)? {
    let language = self.language.split(separator: "-").first.map { $0.lowercased() } ?? ""
    return packs.first { $0.language.lowercased() == language }
  }

  /// What loading gives.
  public struct LoadResult: Sendable {
    /// The interface, or `nil` if there are errors.
    public var interface: VoiceInterface?
    /// What is wrong or odd, file by file in the order of the text.
    public var diagnostics: [SALDiagnostic]
    /// The texts that the diagnostics speak of, for ``SALDiagnosticRenderer``.
    public var sources: [SALSource]

    /// The diagnostics for people.
    ///
    /// - Parameter colors: Whether to use ANSI escape sequences.
    public func rendered(colors: Bool = false) -> String {
      SALDiagnosticRenderer(sources: self.sources).render(self.diagnostics, colors: colors)
    }
  }
}

/// Settings of a configuration that are not about what can be said (protocol document, section 4.5).
public struct VoiceInterfaceOptions: Hashable, Sendable {
  /// After how much silence a segment ends; zero for never. Multiples of 60 ms are recommended.
  public var silenceTriggeredSegmentation: Duration = .zero
  /// Whether the intent is detected as early as possible.
  public var fastIntentDetector = false
  /// Whether everything that the templates allow must be understood exactly so.
  public var enableStrictNLU = false
  /// How much recognition prefers the words of the templates, such as `moderate`.
  public var asrBiasing: String?
  /// The recognition model, such as `large-highaccuracy`.
  public var model: String?
  /// An identifier of recordings for adaptation, as a UUID in upper case.
  public var adaptationAudioPackage: String?
  /// Whether the hosted service kept no intermediate results.
  public var disableMelCaching = false

  /// How surely the templates must cover what was said, from 0 (accept everything) to 1; `nil` for what measured best. A key
  /// of our own.
  public var rejectionThreshold: Double?

  /// Creates the options that hold when a configuration has none.
  public init() {}
}
