import Foundation
import SpeechProtocol
import VoiceCore

/// The options of a stream that the server knows; clients send them with config (for all contexts) or with start
/// (for one).
///
/// | key | value | meaning |
/// |---|---|---|
/// | `silence_triggered_segmentation` | milliseconds, 0 for never | how long a pause ends a segment |
/// | `resume_tokens` | `yes` | asks for `resume_token` and `next_sample` in every segment end |
/// | `resume_token` | base64 text | begins the context with what the token holds; start only |
/// | `rtt` | `yes` | asks for round trip measurements |
///
/// Unknown keys are ignored. An option of a start replaces the one of the config; a key that comes twice counts
/// once, the last one.
struct StreamOptions: Hashable, Sendable {
  static let silenceKey = "silence_triggered_segmentation"
  static let resumeTokensKey = "resume_tokens"
  static let resumeTokenKey = "resume_token"
  static let roundTripKey = "rtt"

  /// What the client said of pauses.
  enum Silence: Hashable, Sendable {
    case asTheApp
    case never
    case after(Duration)
  }

  var silence: Silence = .asTheApp
  var wantsResumeTokens = false
  var resumeToken: String?
  var measuresRoundTrips = false

  init() {}

  /// Takes over the options of a config.
  mutating func apply(_ options: [Speechly_Slu_V1_SLUConfig.Option]) throws(Refusal) {
    for option in options { try self.apply(option.key, option.value.first ?? "") }
    // A token belongs to one context.
    self.resumeToken = nil
  }

  /// Takes over the options of a start.
  mutating func apply(_ options: [Speechly_Slu_V1_SLUStart.Option]) throws(Refusal) {
    for option in options { try self.apply(option.key, option.value.first ?? "") }
  }

  private mutating func apply(_ key: String, _ value: String) throws(Refusal) {
    switch key {
    case Self.silenceKey:
      guard let milliseconds = Int(value),
        ServerConfiguration.Rules.silenceMilliseconds.contains(milliseconds)
      else {
        throw Refusal(
          .requestInvalid,
          "The option \(key) is not a number of milliseconds. Send 0 to 60000, as text.")
      }
      self.silence = milliseconds == 0 ? .never : .after(.milliseconds(milliseconds))
    case Self.resumeTokensKey: self.wantsResumeTokens = value == "yes"
    case Self.resumeTokenKey: self.resumeToken = value
    case Self.roundTripKey: self.measuresRoundTrips = value == "yes"
    default: break
    }
  }

  /// The pause that ends a segment of an app's context, or `nil` if none does.
  func silence(of app: ServerConfiguration.App) -> Duration? {
    switch self.silence {
    case .asTheApp: app.segmentingSilence
    case .never: nil
    case .after(let duration): duration
    }
  }
}
