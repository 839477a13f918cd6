import CallSignaling
import VoiceCore

/// What the assistant says.
enum AssistantPhrases {
  static let greeting = "Hello. What can I do for you?"
  static let question = "Are you still there?"
  static let nobodyThere = "I do not hear anybody. Goodbye."
  static let timeIsUp = "This call has taken as long as it may. Goodbye."
  static let notUnderstood = "Sorry, I did not understand that."
  static let goodbye = "Goodbye."
  static let deaf = "I am sorry, I cannot hear you any more. Please call again."
  static let busy = "I am sorry, I am in too many calls. Please call again later."
  static let broken = "I am sorry, I cannot listen at the moment. Please call again later."

  /// The intent and what belongs to it: `turn on, device lights, room kitchen.`
  static func reply(to utterance: AssistantUtterance) -> String {
    guard !utterance.isRejected else { return Self.notUnderstood }
    guard !utterance.intent.isEmpty else {
      return utterance.words.isEmpty
        ? Self.notUnderstood : "You said: \(Self.spoken(utterance.words.joined(separator: " ")))."
    }
    let parts = [utterance.intent] + utterance.entities.map { "\($0.type) \($0.value)" }
    return parts.map(Self.spoken).joined(separator: ", ") + "."
  }

  static func refusal(_ code: VoiceFailure.Code) -> String {
    Self.isBusy(code) ? Self.busy : Self.broken
  }

  /// With which cause a call ends for which there is no recogniser.
  static func cause(_ code: VoiceFailure.Code) -> HangupCause {
    Self.isBusy(code) ? .switchCongestion : .normalTemporaryFailure
  }

  private static func isBusy(_ code: VoiceFailure.Code) -> Bool {
    code == .serverOverloaded || code == .serverStopping
  }

  /// Names as one says them: `turn_on` is two words. Nobody listens to more than a few hundred letters.
  private static func spoken(_ name: String) -> String {
    String(name.prefix(300).map { $0 == "_" || $0 == "-" ? " " : $0 })
  }
}
