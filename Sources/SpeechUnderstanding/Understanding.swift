import Foundation
public import VoiceCore

/// Understands what users say: a voice interface, compiled.
///
/// ```swift
/// let loaded = VoiceInterface.load(path: "home.yaml", packs: [EnglishPack()])
/// guard let interface = loaded.interface else { fail(loaded.rendered()) }
/// let understanding = try Understanding(interface, language: EnglishPack())
/// let utterance = understanding.understand("turn on the lights in the kitchen", in: .current)
/// print(utterance?.annotated.text ?? "not understood")
/// ```
public struct Understanding: Sendable {
  /// What an utterance means, with its values in their normal form.
  public struct Utterance: Hashable, Sendable {
    /// The intents, words and entities.
    public var annotated: AnnotatedUtterance
    /// How sure it is, from 0 to 1.
    public var confidence: Double
    /// What had to be overlooked.
    public var edits: [Interpretation.Edit]

    /// Creates a meaning.
    public init(annotated: AnnotatedUtterance, confidence: Double = 1, edits: [Interpretation.Edit] = []) {
      self.annotated = annotated
      self.confidence = confidence
      self.edits = edits
    }
  }

  /// The interface that was compiled.
  public let interface: VoiceInterface
  /// What can be said.
  public let grammar: Grammar
  /// What the cache was good for; `nil` without one.
  public let cacheOutcome: GrammarCache.Outcome?
  private let language: any LanguagePack
  private let shared: GrammarMatcher.Shared

  /// Compiles an interface.
  ///
  /// This can take a second for very large ones; a cache makes it shorter from the second time on.
  ///
  /// - Parameters:
  ///   - interface: What was loaded.
  ///   - language: The language that users speak.
  ///   - settings: How tolerant matching is.
  ///   - cache: Where compiled grammars are kept, if anywhere.
  /// - Throws: ``VoiceFailure`` with code `server.configuration.invalid` for what cannot be compiled.
  public init(
    _ interface: VoiceInterface, language: any LanguagePack, settings: MatchSettings = MatchSettings(),
    cache: GrammarCache? = nil
  ) throws(VoiceFailure) {
    let program = interface.program
    let compile = { () throws(GrammarFailure) -> Grammar in
      var builder = GrammarBuilder(program: program, language: language)
      return try builder.build()
    }
    do throws(GrammarFailure) {
      if let cache {
        let (grammar, outcome) = try cache.grammar(for: program, language: language, compile: compile)
        self.grammar = grammar
        self.cacheOutcome = outcome
      } else {
        self.grammar = try compile()
        self.cacheOutcome = nil
      }
    } catch {
      throw error.failure
    }
    self.interface = interface
    self.language = language
    self.shared = GrammarMatcher.Shared(
      grammar: self.grammar, settings: settings, fillers: language.fillers, language: language)
  }

  /// Begins to follow an utterance, word by word.
  public func makeMatcher() -> GrammarMatcher {
    GrammarMatcher(shared: self.shared)
  }

  /// Understands a whole text.
  ///
  /// - Returns: The best meaning, or `nil` if the interface does not cover the text.
  public func understand(_ text: String, in context: ValueContext) -> Utterance? {
    self.alternatives(for: text, atMost: 1, in: context).first
  }

  /// The meanings of a whole text, best first.
  public func alternatives(for text: String, atMost count: Int, in context: ValueContext) -> [Utterance] {
    var matcher = self.makeMatcher()
    for word in SpokenText.words(of: text) { matcher.append(word) }
    return matcher.interpretations(atMost: count).map { self.utterance($0, in: context) }
  }

  /// A random utterance that the interface covers.
  ///
  /// - Throws: ``VoiceFailure`` with `server.interface.too-large` if it has more than ``Grammar/sampleWordLimit`` words.
  public func sample(
    using generator: inout some RandomNumberGenerator, in context: ValueContext
  ) throws(VoiceFailure) -> Utterance {
    self.utterance(try self.grammar.sample(using: &generator), in: context)
  }

  /// The normal form of an entity's value, or `nil` if the words stand for themselves.
  public func normalForm(of words: [String], entity name: String, in context: ValueContext) -> String? {
    guard let declaration = self.interface.entities[name] else { return nil }
    switch declaration.type {
    case .string: return nil
    case .lookup: return declaration.table[words.joined(separator: " ")]
    case .number, .date, .dateFuture, .datePast, .time, .identifier, .phoneNumber, .personName, .emailAddress,
      .webAddress:
      return self.language.normalForm(of: words, as: declaration.type, in: context)
    }
  }

  private func utterance(_ interpretation: Interpretation, in context: ValueContext) -> Utterance {
    let segments = interpretation.segments.map { segment in
      let offset = segment.words.lowerBound
      return AnnotatedUtterance.Segment(
        intent: segment.intent, words: Array(interpretation.words[segment.words]),
        entities: segment.entities.map { entity in
          AnnotatedUtterance.Entity(
            name: entity.name, value: entity.value.joined(separator: " "),
            normalizedValue: self.normalForm(of: entity.value, entity: entity.name, in: context),
            words: entity.words.lowerBound - offset..<entity.words.upperBound - offset)
        })
    }
    return Utterance(
      annotated: AnnotatedUtterance(segments), confidence: interpretation.confidence,
      edits: interpretation.edits)
  }
}

extension ValueContext {
  /// The present time, in the time zone of this machine.
  public static var current: ValueContext { ValueContext(now: Date(), timeZone: .current) }
}

extension GrammarFailure {
  fileprivate var failure: VoiceFailure {
    switch self {
    case .undefined(let name, let range):
      VoiceFailure(
        .configurationInvalid, message: "\(range.file):\(range.line): The variable $\(name) is not defined.")
    case .cyclic(let name, let range):
      VoiceFailure(
        .configurationInvalid, message: "\(range.file):\(range.line): The variable $\(name) needs itself.")
    case .permutationTooLong(let count, let range):
      VoiceFailure(
        .configurationInvalid,
        message:
          "\(range.file):\(range.line): A permutation of \(count) items is too long: use at most \(SALParser.permutationLimit)."
      )
    }
  }
}
