package import Foundation
package import SpeechProtocol
package import VoiceCore

/// The options of a stream that the server knows; clients send them with config (for all contexts) or with start
/// (for one).
///
/// | key | value | meaning |
/// |---|---|---|
/// | `silence_triggered_segmentation` | milliseconds, 0 for never | how long a pause ends a segment |
/// | `timezone` | an IANA name such as `Europe/Helsinki` | where "tomorrow" begins |
/// | `vocabulary` | words and phrases, any number of values | what is likely to be said |
/// | `vocabulary_bias` | a number from 0 to 1 | how much the vocabulary is preferred |
/// | `resume_tokens` | `yes` | asks for `resume_token` and `next_sample` in every segment end |
/// | `resume_token` | base64 text | begins the context with what the token holds; start only |
/// | `rtt` | `yes` | asks for round trip measurements |
///
/// Unknown keys are ignored. An option of a start replaces the one of the config; a key that comes twice counts
/// once, the last one.
package struct StreamOptions: Hashable, Sendable {
  /// How long a silence that ends a segment may be, in milliseconds.
  package static let silenceMilliseconds = 0...60_000

  static let silenceKey = "silence_triggered_segmentation"
  static let timeZoneKey = "timezone"
  static let vocabularyKey = "vocabulary"
  static let vocabularyBiasKey = "vocabulary_bias"
  static let resumeTokensKey = "resume_tokens"
  static let resumeTokenKey = "resume_token"
  static let roundTripKey = "rtt"

  /// What the client said of pauses.
  package enum Silence: Hashable, Sendable {
    case asTheApp
    case never
    case after(Duration)
  }

  package var silence: Silence = .asTheApp
  package var timeZone: TimeZone?
  package var vocabulary: [String] = []
  package var vocabularyBias = 0.5
  package var wantsResumeTokens = false
  package var resumeToken: String?
  package var measuresRoundTrips = false

  package init() {}

  /// Takes over the options of a config.
  package mutating func apply(_ options: [Speechly_Slu_V1_SLUConfig.Option]) throws(VoiceFailure) {
    for option in options { try self.apply(option.key, option.value) }
    // A token belongs to one context.
    self.resumeToken = nil
  }

  /// Takes over the options of a start.
  package mutating func apply(_ options: [Speechly_Slu_V1_SLUStart.Option]) throws(VoiceFailure) {
    for option in options { try self.apply(option.key, option.value) }
  }

  private mutating func apply(_ key: String, _ values: [String]) throws(VoiceFailure) {
    let value = values.first ?? ""
    switch key {
    case Self.silenceKey:
      guard let milliseconds = Int(value),
        Self.silenceMilliseconds.contains(milliseconds)
      else {
        throw VoiceFailure(
          .requestInvalid,
          message: "The option \(key) is not a number of milliseconds. Send 0 to 60000, as text.")
      }
      self.silence = milliseconds == 0 ? .never : .after(.milliseconds(milliseconds))
    case Self.timeZoneKey: self.timeZone = try Self.timeZone(named: value)
    case Self.vocabularyKey: self.vocabulary = try Self.vocabulary(values)
    case Self.vocabularyBiasKey:
      guard let bias = Double(value), (0...1).contains(bias) else {
        throw VoiceFailure(
          .requestInvalid,
          message: "The option \(key) is not a number from 0 to 1. Send one as text, such as 0.5.")
      }
      self.vocabularyBias = bias
    case Self.resumeTokensKey: self.wantsResumeTokens = value == "yes"
    case Self.resumeTokenKey: self.resumeToken = value
    case Self.roundTripKey: self.measuresRoundTrips = value == "yes"
    default: break
    }
  }

  private static func timeZone(named name: String) throws(VoiceFailure) -> TimeZone? {
    guard !name.isEmpty else { return nil }
    guard let zone = TimeZone(identifier: name) else {
      throw VoiceFailure(
        .requestInvalid,
        message:
          "The option \(Self.timeZoneKey) is not a time zone that is known here. Send an IANA name such as "
          + "Europe/Helsinki.")
    }
    return zone
  }

  /// The most words and phrases of a vocabulary, and the most characters of one.
  static let vocabularyLimits = (count: 1000, length: 100)

  private static func vocabulary(_ values: [String]) throws(VoiceFailure) -> [String] {
    let limits = Self.vocabularyLimits
    guard values.count <= limits.count else {
      throw VoiceFailure(
        .requestInvalid,
        message: "The option \(Self.vocabularyKey) has \(values.count) values. Send at most \(limits.count).")
    }
    let phrases = values.map { $0.split(whereSeparator: \.isWhitespace).joined(separator: " ") }
    for phrase in phrases where phrase.utf8.count > limits.length {
      throw VoiceFailure(
        .requestInvalid,
        message: "A value of the option \(Self.vocabularyKey) is too long. Send words or phrases of at most "
          + "\(limits.length) characters, each as a value of its own.")
    }
    return phrases.filter { !$0.isEmpty }
  }
}
