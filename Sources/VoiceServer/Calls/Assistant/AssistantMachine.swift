import CallSignaling
import VoiceCore

/// The dialogue of one call with the assistant.
///
/// | state       | what happens                                                                                  |
/// |-------------|-----------------------------------------------------------------------------------------------|
/// | *waiting*   | a recogniser is looked for; ``Event/began`` greets, ``Event/refused(_:)`` says so and leaves    |
/// | *greeting*  | the first sentence is said; to be interrupted                                                  |
/// | *listening* | nobody speaks, or the caller does                                                              |
/// | *speaking*  | a reply or a question is said; to be interrupted                                               |
/// | *leaving*   | the last sentence is said, whatever the caller says; then the call ends                        |
/// | *over*      | nothing happens any more                                                                       |
///
/// Words of the caller stop what is said (barge-in). What was understood is answered when the caller has come to a pause: one
/// breath may hold several intents. Silence is asked about once, then it ends the call; so does the longest time of a call.
struct AssistantMachine: Sendable {
  /// How long things may take.
  struct Settings: Hashable, Sendable {
    /// How long a call may be.
    var longestCall: Duration = .seconds(600)
    /// How long nobody says anything before the assistant asks, and again before it leaves.
    var silence: Duration = .seconds(15)
    /// How long the last sentence may take: media that is cut in the middle of it never says that it was sent.
    var farewell: Duration = .seconds(15)
  }

  enum State: Hashable, Sendable {
    case waiting
    case greeting(Sentence)
    case listening
    case speaking(Sentence)
    case leaving(Sentence, HangupCause)
    case over
  }

  /// What is being said, by number: the end of one that was stopped may be told late.
  struct Sentence: Hashable, Sendable {
    var number: Int
  }

  enum Event: Hashable, Sendable {
    /// A recogniser hears the caller.
    case began
    /// There is no recogniser for the call.
    case refused(VoiceFailure.Code)
    /// The caller speaks: words, or a guess at them.
    case heardWords
    /// A segment of what the caller said is complete.
    case understood(AssistantUtterance, endsPassage: Bool)
    /// A sentence was said to its end, or cannot be said.
    case spoken(Sentence)
    /// The recogniser failed in the middle of the call.
    case recognitionFailed
    /// The caller's audio has ended.
    case audioEnded
    case timePassed
  }

  enum Action: Hashable, Sendable {
    case speak(Sentence, String)
    /// Be silent at once.
    case stopSpeaking
    case end(HangupCause)
  }

  private let settings: Settings
  private(set) var state = State.waiting
  private var lastSentence = 0
  private var replies: [String] = []
  private var hasAsked = false
  private var endOfCall: VoiceInstant
  private var endOfPatience: VoiceInstant?

  init(settings: Settings = Settings(), at now: VoiceInstant) {
    self.settings = settings
    self.endOfCall = now.advanced(by: settings.longestCall)
  }

  /// When ``Event/timePassed`` is due; too early does no harm.
  var deadline: VoiceInstant? {
    switch self.state {
    case .waiting, .greeting, .speaking: self.endOfCall
    case .listening: min(self.endOfCall, self.endOfPatience ?? self.endOfCall)
    case .leaving: self.endOfPatience
    case .over: nil
    }
  }

  mutating func handle(_ event: Event, at now: VoiceInstant) -> [Action] {
    switch (event, self.state) {
    case (_, .over): return []
    case (.audioEnded, _): return self.end(.normalClearing)
    case (.timePassed, _): return self.timePassed(at: now)
    case (.spoken(let sentence), _): return self.spoken(sentence, at: now)

    case (.began, .waiting):
      let sentence = self.nextSentence()
      self.state = .greeting(sentence)
      return [.speak(sentence, AssistantPhrases.greeting)]
    case (.refused(let code), .waiting):
      return self.leave(AssistantPhrases.refusal(code), AssistantPhrases.cause(code), at: now)

    case (.heardWords, .greeting), (.heardWords, .speaking):
      self.listen(at: now)
      return [.stopSpeaking]
    case (.heardWords, .listening):
      self.listen(at: now)
      return []

    case (.understood(let utterance, let endsPassage), .listening):
      return self.understood(utterance, endsPassage: endsPassage, at: now)
    case (.understood(let utterance, let endsPassage), .greeting),
      (.understood(let utterance, let endsPassage), .speaking):
      return [.stopSpeaking] + self.understood(utterance, endsPassage: endsPassage, at: now)

    case (.recognitionFailed, .greeting), (.recognitionFailed, .speaking):
      return [.stopSpeaking] + self.leave(AssistantPhrases.deaf, .normalTemporaryFailure, at: now)
    case (.recognitionFailed, .listening):
      return self.leave(AssistantPhrases.deaf, .normalTemporaryFailure, at: now)

    // The last sentence is not to be interrupted, and nothing was heard before there was a recogniser.
    case (.heardWords, .leaving), (.understood, .leaving), (.recognitionFailed, .leaving), (.began, .leaving),
      (.refused, .leaving), (.heardWords, .waiting), (.understood, .waiting), (.recognitionFailed, .waiting):
      return []
    // There is one recogniser per call.
    case (.began, .greeting), (.began, .listening), (.began, .speaking), (.refused, .greeting),
      (.refused, .listening), (.refused, .speaking):
      return []
    }
  }

  // MARK: Steps

  private mutating func understood(
    _ utterance: AssistantUtterance, endsPassage: Bool, at now: VoiceInstant
  ) -> [Action] {
    self.hasAsked = false
    if utterance.isGoodbye {
      let before = self.replies
      self.replies = []
      return self.leave(
        (before + [AssistantPhrases.goodbye]).joined(separator: " "), .normalClearing, at: now)
    }
    // A passage of any length gets an answer that somebody listens to.
    if self.replies.count < Self.mostReplies { self.replies.append(AssistantPhrases.reply(to: utterance)) }
    guard endsPassage else {
      self.listen(at: now)
      return []
    }
    let text = self.replies.joined(separator: " ")
    self.replies = []
    let sentence = self.nextSentence()
    self.state = .speaking(sentence)
    return [.speak(sentence, text)]
  }

  private static let mostReplies = 5

  private mutating func spoken(_ sentence: Sentence, at now: VoiceInstant) -> [Action] {
    switch self.state {
    case .greeting(sentence), .speaking(sentence): self.listen(at: now)
    case .leaving(sentence, let cause): return self.end(cause)
    case .waiting, .greeting, .listening, .speaking, .leaving, .over: break
    }
    return []
  }

  private mutating func timePassed(at now: VoiceInstant) -> [Action] {
    guard let deadline = self.deadline, now >= deadline else { return [] }
    switch self.state {
    case .waiting, .greeting, .speaking:
      return [.stopSpeaking] + self.leave(AssistantPhrases.timeIsUp, .allottedTimeout, at: now)
    case .listening:
      if now >= self.endOfCall { return self.leave(AssistantPhrases.timeIsUp, .allottedTimeout, at: now) }
      if self.hasAsked { return self.leave(AssistantPhrases.nobodyThere, .normalClearing, at: now) }
      self.hasAsked = true
      let sentence = self.nextSentence()
      self.state = .speaking(sentence)
      return [.speak(sentence, AssistantPhrases.question)]
    case .leaving(_, let cause): return self.end(cause)
    case .over: return []
    }
  }

  private mutating func listen(at now: VoiceInstant) {
    self.state = .listening
    self.endOfPatience = now.advanced(by: self.settings.silence)
  }

  private mutating func leave(_ text: String, _ cause: HangupCause, at now: VoiceInstant) -> [Action] {
    let sentence = self.nextSentence()
    self.state = .leaving(sentence, cause)
    self.endOfPatience = now.advanced(by: self.settings.farewell)
    return [.speak(sentence, text)]
  }

  private mutating func end(_ cause: HangupCause) -> [Action] {
    self.state = .over
    return [.end(cause)]
  }

  private mutating func nextSentence() -> Sentence {
    self.lastSentence += 1
    return Sentence(number: self.lastSentence)
  }
}
