public import Dispatch
public import Foundation
public import SpeechUnderstanding
public import VoiceAudio
public import VoiceCore
public import VoicePlatform

extension SpeechRecognitionUtility {
  /// How long a utility listens.
  public enum Mode: String, Hashable, Sendable, CaseIterable {
    /// Until the app stops it. After a final output the next text begins with the next word; there is no limit.
    case continuous
    /// Up to the first final output, after which the utility stops by itself.
    case oneUtterance = "one-utterance"
  }

  /// The settings of a utility; every one has a default.
  public struct Configuration: Sendable {
    /// The language that is spoken. The default is American English, as it was in the original utility.
    public var locale = Locale(identifier: "en_US")
    /// How long a pause must be to complete a text, in audio time; `nil` for never.
    ///
    /// A pause shorter than the engine can see (for PocketSphinx half a second) counts as that.
    public var timeoutPeriod: Duration? = .milliseconds(1500)
    /// Whether texts are told while they grow. Without, nothing is told before the end of the activity (which in mode
    /// ``Mode/oneUtterance`` comes with the first pause), and then there is one result that holds everything.
    public var reportsPartialResults = true
    /// How long to listen.
    public var mode = Mode.continuous
    /// Words and phrases that are likely to be said, such as names; what the engine does not know of them is told as a failure.
    public var contextualStrings: [String] = []
    /// How much ``contextualStrings`` are preferred, from 0 (not at all) to 1.
    public var contextualBias = 0.5
    /// The app's interface, made of templates: bounds what is recognised, and gives intents and values; `nil` for free text.
    public var understanding: Understanding?
    /// What values such as "tomorrow" are relative to; `nil` for the time at the start of an activity.
    public var values: (@Sendable () -> ValueContext)?
    /// Whether audio must stay on the device: an engine that needs the network is refused.
    public var requiresOnDeviceRecognition = false
    /// How many transcriptions a final result has at most, including the best.
    public var maximumTranscriptions = 5
    /// The serial queue on which blocks are called. A terminal program must run its main queue (an asynchronous `main` does, and
    /// `dispatchMain()`), or name another queue.
    public var callbackQueue = DispatchQueue.main
    /// What is listened to.
    public var source: any AudioSource = Microphone()
    /// Where the recogniser comes from.
    public var engine = EngineSource.system
    /// How long to wait for a recogniser that others are using or that is still being loaded; recording goes on meanwhile.
    public var recognizerPatience: Duration = .seconds(20)
    /// Says whether speech may be recorded; `nil` for what source and engine need: the microphone's permission if it is used.
    public var authorizer: (any SpeechAuthorizer)?
    /// Tells when devices or files come and go; `nil` for the system's.
    public var availability: (any AvailabilityMonitor)?
    /// How long to wait before it is looked again for what is missing, beside what ``availability`` tells.
    public var availabilityInterval: Duration = .seconds(5)
    /// How many events a slow reader may leave unread.
    public var eventCapacity = 1024
    /// The time that waits are measured on; the pause that ends a text is not among them.
    public var clock: any VoiceClock = MonotonicClock()

    /// Creates settings.
    public init() {}

    /// The language as a BCP 47 tag.
    var language: String { self.locale.identifier(.bcp47) }

    var machineSettings: RecognitionActivityMachine.Settings {
      RecognitionActivityMachine.Settings(
        reportsPartialResults: self.reportsPartialResults, isContinuous: self.mode == .continuous,
        checkInterval: max(.milliseconds(100), self.availabilityInterval))
    }

    var effectiveAuthorizer: any SpeechAuthorizer {
      self.authorizer ?? SystemEngine.authorizer(for: self.source, usesSystemEngine: self.engine.isSystem)
    }

    var effectiveAvailability: any AvailabilityMonitor {
      self.availability
        ?? (self.engine.isSystem ? SystemEngine.availability(language: self.language) : nil)
        ?? SystemAvailabilityMonitor(devices: self.source is Microphone, paths: self.engine.watchedPaths)
    }

    /// A pause as the documented initialisers take it: what is no time counts as the default, and what is too long as for ever.
    static func pause(_ seconds: TimeInterval) -> Duration? {
      guard !seconds.isNaN else { return .milliseconds(1500) }
      guard seconds < 1_000_000 else { return nil }
      return .milliseconds(Int64((max(0, seconds) * 1000).rounded()))
    }
  }
}
