extension VoiceFailure.Code {
  /// The person does not allow speech recognition.
  public static let recognitionDenied = Self("speech.recognition.permission-denied")
  /// A policy of the device forbids speech recognition.
  public static let recognitionRestricted = Self("speech.recognition.permission-restricted")
  /// Nobody has decided yet whether speech may be recognised.
  public static let recognitionUndecided = Self("speech.recognition.permission-undecided")
  /// Recognition was asked to stay on the device, and the engine cannot.
  public static let recognitionNotOnDevice = Self("speech.recognition.not-on-device")
  /// Words of the vocabulary are not in the engine's model.
  public static let vocabularyUnknown = Self("speech.recognition.vocabulary-unknown")
  /// The engine cannot follow an app's grammar.
  public static let grammarNotFollowed = Self("speech.recognition.grammar-not-followed")
}

extension FailureCatalogue {
  static let recognition: [Definition] = [
    Definition(
      .recognitionDenied, .client, .grantPermission(.speechRecognition),
      happens: "Speech recognition is not allowed.",
      response: "Does not start; nothing is recorded.",
      advice: "Explain what it is for, and lead to the system's settings.",
      reproduce: "`SpeechRecognitionUtility` with `FixedSpeechAuthorizer(.denied)`"),
    Definition(
      .recognitionRestricted, .client, .none,
      happens: "A policy of this device forbids speech recognition.",
      response: "Does not start; nothing is recorded.",
      advice: "Offer another way of input: the person cannot change this.",
      reproduce: "`SpeechRecognitionUtility` with `FixedSpeechAuthorizer(.restricted)`"),
    Definition(
      .recognitionUndecided, .client, .retry,
      happens: "It is not decided yet whether speech may be recognised.",
      response: "Does not start; nothing is recorded.",
      advice: "Start when the block for the authorisation was called.",
      reproduce: "`startSpeechRecognition()` right after `SpeechRecognitionUtility` was made"),
    Definition(
      .recognitionNotOnDevice, .client, .changeConfiguration("the engine"),
      happens: "Recognition must stay on the device, and the engine needs the network.",
      response: "Does not start; nothing leaves the device.",
      advice: "Use an engine that works on the device, or allow the network.",
      reproduce: "`requiresOnDeviceRecognition` with a `ScriptedEngine` whose capabilities need the network"),
    Definition(
      .vocabularyUnknown, .client, .changeConfiguration("the contextual strings"),
      happens: "Words that were named as likely are not in the engine's model.",
      response: "Names the words and recognises everything else; these words are not heard.",
      advice: "Leave them out, or use templates: a grammar can hold words that the model lacks.",
      reproduce: "`SpeechRecognitionUtility` with the contextual string “zyxxyz”"),
    Definition(
      .grammarNotFollowed, .client, .none,
      happens: "The engine cannot be bound to the app's grammar.",
      response: "Recognises free text, and understands that.",
      advice: "Use an engine that follows grammars where the words must be those of the app.",
      reproduce: "An interface with an engine whose `followsGrammars` is false"),
  ]
}
