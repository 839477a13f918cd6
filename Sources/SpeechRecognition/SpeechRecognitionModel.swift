public import Observation
public import VoiceCore
public import VoicePlatform

/// What a user interface shows of a ``SpeechRecognitionUtility``; for SwiftUI, and for anything else that observes.
///
/// ```swift
/// struct Dictation: View {
///   @State private var model = SpeechRecognitionModel()
///   var body: some View {
///     Button(model.isListening ? "Stop" : "Speak") { model.toggle() }
///     Text(model.transcript)
///       .task { await model.run() }
///   }
/// }
/// ```
@MainActor @Observable
public final class SpeechRecognitionModel {
  /// What was decided about recording, as far as it is known.
  public private(set) var authorization = SpeechAuthorization.notDetermined
  /// Whether audio is heard.
  public private(set) var isListening = false
  /// Whether engine and microphone can be used.
  public private(set) var isAvailable = true
  /// The text that is being spoken; empty between texts.
  public private(set) var text = ""
  /// The complete texts of the activity, and of those before it until ``clear()``.
  public private(set) var texts: [String] = []
  /// The newest result, with all transcriptions.
  public private(set) var result: SpeechRecognitionResult?
  /// The newest failure; `nil` again when listening begins.
  public private(set) var failure: VoiceFailure?

  /// What does the work.
  @ObservationIgnored public let utility: SpeechRecognitionUtility

  /// Creates a model; nothing happens before ``run()``.
  public init(
    configuration: SpeechRecognitionUtility.Configuration = SpeechRecognitionUtility.Configuration()
  ) {
    self.utility = SpeechRecognitionUtility(configuration: configuration)
  }

  /// All complete texts, and the one that is being spoken.
  public var transcript: String {
    (self.texts + [self.text]).filter { !$0.isEmpty }.joined(separator: " ")
  }

  /// Asks for the right to record, and keeps the model up to date until the task is cancelled; then it stops listening.
  ///
  /// Call it once, from a task that lives as long as what shows the model.
  public func run() async {
    let events = self.utility.events
    self.authorization = await self.utility.authorize()
    for await event in events { self.take(event) }
    self.utility.cancel()
    self.isListening = false
  }

  /// Stops if it is listening, else starts; what forbids it is the ``failure``.
  public func toggle() {
    // What is thrown is told as an event as well.
    try? self.utility.toggleSpeechRecognitionActivity()
  }

  /// Begins to listen; what forbids it is the ``failure``.
  public func start() {
    try? self.utility.startSpeechRecognition()
  }

  /// Stops listening; the last words still come.
  public func finish() {
    self.utility.finish()
  }

  /// Stops listening and drops the text that is being spoken.
  public func cancel() {
    self.utility.cancel()
    self.text = ""
  }

  /// Forgets the texts.
  public func clear() {
    self.texts = []
    self.text = ""
    self.result = nil
  }

  private func take(_ event: SpeechRecognitionEvent) {
    switch event {
    case .result(let result):
      self.result = result
      self.text = result.isFinal ? "" : result.text
      if result.isFinal, !result.isRejected { self.texts.append(result.text) }
    case .failed(let failure):
      self.failure = failure
    case .state(let state, _):
      self.take(state)
    }
  }

  private func take(_ state: SpeechRecognitionOperationState) {
    switch state {
    case .authorized: self.authorization = .authorized
    case .audioEngineStart:
      self.isListening = true
      self.failure = nil
    case .audioEngineStop: self.isListening = false
    case .availabilityChanged(let isAvailable): self.isAvailable = isAvailable
    case .recognitionTaskCancelled: self.text = ""
    case .speechRecognised, .speechNotRecognized, .speechRecognitionStopped: break
    }
  }
}
