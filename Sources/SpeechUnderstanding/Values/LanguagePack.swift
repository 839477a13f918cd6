public import Foundation

/// What understanding needs to know of a natural language.
public protocol LanguagePack: Sendable {
  /// The language as a BCP 47 tag without a region, such as `en`.
  var language: String { get }

  /// Changes when a later release of the pack has other words for numbers: grammars that were compiled before are then
  /// compiled again.
  var version: String { get }

  /// The standard variables, by name without `SPEECHLY.`: the SAL expression that each stands for.
  ///
  /// The text is the right side of a definition; it may use other standard variables. Variables that are only there for
  /// others start with the language in capitals, such as `EN_`; nobody should be told to use them.
  var standardVariables: [String: String] { get }

  /// A whole number in words, as `[1..10]` means them; more than one if people say it in several ways.
  func spokenForms(of number: Int) -> [[String]]

  /// Words that people put between others without meaning anything, such as "please" and "uh", in lower case.
  var fillers: Set<String> { get }

  /// The normal form of what was said as a value.
  ///
  /// - Parameters:
  ///   - words: The spoken words in lower case, such as `["three", "thirty", "p.m."]`.
  ///   - type: How to read them; ``EntityType/lookup`` and ``EntityType/string`` are not asked of a language.
  ///   - context: What relative values are relative to.
  /// - Returns: The normal form, or `nil` if the words are no such value; then the words stand for themselves.
  func normalForm(of words: [String], as type: EntityType, in context: ValueContext) -> String?

  /// Words that have a normal form: the way back of ``normalForm(of:as:in:)``.
  ///
  /// - Returns: The words as people would say them, or `nil` if there are none.
  func spokenForm(of value: String, as type: EntityType, in context: ValueContext) -> [String]?

  /// How a word sounds, near enough to tell which words are taken for each other; empty if that is not known.
  ///
  /// - Parameter word: A word in lower case.
  func sounds(of word: String) -> [SpeechSound]
}

extension LanguagePack {
  public var version: String { "1" }

  /// Not known: then words are compared by their letters alone.
  public func sounds(of word: String) -> [SpeechSound] { [] }
}

/// What values such as "tomorrow" are relative to.
public struct ValueContext: Hashable, Sendable {
  /// The present time.
  public var now: Date
  /// The time zone of whoever speaks.
  public var timeZone: TimeZone

  /// Creates a context.
  public init(now: Date, timeZone: TimeZone) {
    self.now = now
    self.timeZone = timeZone
  }
}
