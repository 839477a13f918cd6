import VoicePlatform

extension SpeechAuthorization {
  /// What two permissions allow together: the stricter of them, where a person who can still be asked comes last.
  static func both(_ first: SpeechAuthorization, _ second: SpeechAuthorization) -> SpeechAuthorization {
    for decision in [SpeechAuthorization.restricted, .denied, .notDetermined]
    where first == decision || second == decision {
      return decision
    }
    return .authorized
  }
}
