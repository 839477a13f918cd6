/// English: its standard variables, its numbers in words, and what spoken values mean.
///
/// Source: protocol document, sections 4.3 and 4.4. Words are read as a recogniser writes them ("three thirty p.m.",
/// "a. b. one"); values that are already written with digits ("3:30", "17.5") are read too, for text that was typed.
public struct EnglishPack: LanguagePack {
  /// Longer values are not read: nobody says them, and reading must not take long.
  static let longestValue = 120

  public var language: String { "en" }
  public var standardVariables: [String: String] { EnglishVariables.all }
  public var fillers: Set<String> { EnglishFillers.words }

  /// Creates the pack.
  public init() {}

  public func spokenForms(of number: Int) -> [[String]] {
    EnglishNumbers.spokenForms(of: number)
  }

  public func sounds(of word: String) -> [SpeechSound] {
    EnglishSounds.standard.sounds(of: word)
  }

  public func normalForm(of words: [String], as type: EntityType, in context: ValueContext) -> String? {
    guard words.count <= Self.longestValue else { return nil }
    let words = EnglishWords.cleaned(words)[...]
    guard !words.isEmpty else { return nil }
    return switch type {
    case .number: EnglishNumbers.normalForm(of: words)
    case .date: EnglishDates(context, direction: .currentYear)?.normalForm(of: words)
    case .dateFuture: EnglishDates(context, direction: .future)?.normalForm(of: words)
    case .datePast: EnglishDates(context, direction: .past)?.normalForm(of: words)
    case .time: EnglishTimes(context).normalForm(of: words)
    case .identifier: EnglishIdentifiers.normalForm(of: words)
    case .phoneNumber: EnglishPhoneNumbers.normalForm(of: words)
    case .personName: EnglishPersonNames.normalForm(of: words)
    case .emailAddress: EnglishAddresses.emailNormalForm(of: words)
    case .webAddress: EnglishAddresses.webNormalForm(of: words)
    case .string, .lookup: nil
    }
  }

  public func spokenForm(of value: String, as type: EntityType, in context: ValueContext) -> [String]? {
    guard value.utf8.count <= Self.longestValue else { return nil }
    let words: [String]? =
      switch type {
      case .number: EnglishNumbers.spokenForm(of: value)
      case .date, .dateFuture, .datePast: EnglishDates.spokenForm(of: value)
      case .time: EnglishTimes.spokenForm(of: value)
      case .identifier: EnglishIdentifiers.spokenForm(of: value)
      case .phoneNumber: EnglishPhoneNumbers.spokenForm(of: value)
      case .personName: EnglishPersonNames.spokenForm(of: value)
      case .emailAddress, .webAddress: EnglishAddresses.spokenForm(of: value)
      case .string, .lookup: nil
      }
    // A value that is not in normal form has no words that lead back to it.
    guard let words, self.normalForm(of: words, as: type, in: context) == value else { return nil }
    return words
  }
}
