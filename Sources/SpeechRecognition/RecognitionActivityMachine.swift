import SpeechPipeline
import VoiceCore
import VoicePlatform

/// Decides what a recognition utility tells, and when it records.
///
/// An *activity* is what lies between a start and its end. States:
///
/// - *idle*: nothing is recorded.
/// - *starting*: the source is being opened.
/// - *listening*: audio is heard.
/// - *finishing*: nothing is recorded any more; what was recorded is still being recognised, unless it is not wanted. A start
///   that comes now begins as soon as this is over.
///
/// Beside that it knows what has been decided about the right to record, and what was last found out about the engine and
/// the source; only if all allows it, an activity begins. Events: requests of the app, what a check found, what an activity
/// heard. The pause that ends a text is counted by the pipeline in audio time, so nothing here depends on how fast the
/// machine is.
struct RecognitionActivityMachine: Sendable {
  /// What does not change.
  struct Settings: Hashable, Sendable {
    var reportsPartialResults = true
    var isContinuous = true
    /// How long to wait before it is looked again whether what is missing has come back.
    var checkInterval: Duration = .seconds(5)
  }

  enum Action: Hashable, Sendable {
    case tell(SpeechRecognitionEvent)
    /// Whoever waits for the decision may go on.
    case settle(SpeechAuthorization)
    /// Call the block that the app gave for it, and watch what recognition needs from now on.
    case tellAuthorized
    /// Ask again what has been decided.
    case authorize
    /// Open the source and recognise what it delivers.
    case begin(activity: Int)
    /// Stop recording; recognise the rest.
    case stopCapture(activity: Int)
    /// Drop everything.
    case abandon(activity: Int)
    /// Find out whether the engine can be used, and the source if it is not in use.
    case check(opensSource: Bool)
    /// Report at this time that a check is due.
    case scheduleCheck(VoiceInstant)
    /// Whoever waits for the activity to record may go on.
    case opened(activity: Int)
    /// Whoever waits for the end of the activity may go on.
    case ended(activity: Int, SpeechRecognitionResult?, VoiceFailure?)
  }

  /// What a request to stop wants.
  enum Ending: Hashable, Sendable {
    /// The app listens no more; what was said is told as the text of the stop.
    case stopped
    /// The last words are told as a final output; the end of a source is the same.
    case finished
    /// The text is complete; what came after it is not wanted.
    case completed
    /// Nothing more is wanted.
    case cancelled
  }

  private enum Phase: Hashable, Sendable {
    case idle
    case starting
    case listening
    case finishing(Ending)
  }

  /// What is known of something that recognition needs.
  private enum Finding: Hashable, Sendable {
    case unknown
    case usable
    case unusable(VoiceFailure)

    var failure: VoiceFailure? {
      if case .unusable(let failure) = self { failure } else { nil }
    }
  }

  private let settings: Settings
  private var phase = Phase.idle
  private var number = 0
  private var hasPendingStart = false

  private var authorization = SpeechAuthorization.notDetermined
  private var isDecided = false
  private var toldAuthorized = false
  private var source = Finding.unknown
  private var engine = Finding.unknown
  private var toldAvailable = true
  private var isChecking = false
  private var mustCheckAgain = false
  private var isCheckScheduled = false

  // Of the running activity.
  private var text = TextAssembler()
  private var textIndex = 0
  private var toldText = ""
  private var lastText = ""
  private var lastResult: SpeechRecognitionResult?
  private var failure: VoiceFailure?

  init(settings: Settings) {
    self.settings = settings
  }

  /// Whether audio is heard, or will be without a further request.
  var isOn: Bool {
    switch self.phase {
    case .idle: false
    case .starting, .listening: true
    case .finishing: self.hasPendingStart
    }
  }

  /// What was recognised last in the activity that ended last; `nil` while one runs, and after one that was cancelled.
  var outcome: SpeechRecognitionResult? { self.phase == .idle ? self.lastResult : nil }

  /// Whether audio is heard.
  var isListening: Bool { self.phase == .listening }

  /// Whether nothing is recorded any more, but the activity is not over.
  var isFinishing: Bool { if case .finishing = self.phase { true } else { false } }

  /// Whether recording and recognising is allowed.
  var isAuthorized: Bool { self.authorization == .authorized }

  /// The activity that runs, if one does.
  var runningActivity: Int? { self.phase == .idle ? nil : self.number }

  // MARK: Rights and availability

  /// Takes what was decided.
  mutating func decided(_ authorization: SpeechAuthorization) -> [Action] {
    let isNews = authorization != self.authorization || !self.isDecided
    self.authorization = authorization
    self.isDecided = true
    guard let failure = authorization.failure else {
      // The app is told when it is known what it can start with.
      return self.toldAuthorized ? [.settle(authorization)] : self.check()
    }
    return (isNews ? [.tell(.failed(failure))] : []) + [.settle(authorization)]
  }

  /// Takes that devices or files have changed, or that a scheduled check is due.
  mutating func somethingChanged(isScheduled: Bool = false) -> [Action] {
    if isScheduled { self.isCheckScheduled = false }
    guard self.isAuthorized, !isScheduled || !self.isAvailable else { return [] }
    return self.check()
  }

  /// Takes what a check found.
  ///
  /// - Parameter source: The failure of opening the source, `.some(nil)` if it opened; `nil` if it was not tried.
  mutating func checked(source: VoiceFailure??, engine: VoiceFailure?, at now: VoiceInstant) -> [Action] {
    self.isChecking = false
    self.engine = engine.map { .unusable($0) } ?? .usable
    // A source that is in use cannot be opened by a check: that says nothing.
    if let source, self.phase == .idle { self.source = source.map { .unusable($0) } ?? .usable }
    var actions = self.tellAvailability(at: now)
    if !self.toldAuthorized {
      self.toldAuthorized = true
      actions += [
        .tell(.state(.authorized, finalOutput: false)), .tellAuthorized, .settle(self.authorization),
      ]
    }
    if self.mustCheckAgain {
      self.mustCheckAgain = false
      actions += self.check()
    }
    return actions
  }

  private var isAvailable: Bool { self.source.failure == nil && self.engine.failure == nil }

  private mutating func check() -> [Action] {
    guard !self.isChecking else {
      self.mustCheckAgain = true
      return []
    }
    self.isChecking = true
    return [.check(opensSource: self.phase == .idle)]
  }

  private mutating func tellAvailability(at now: VoiceInstant) -> [Action] {
    var actions: [Action] = []
    if self.isAvailable != self.toldAvailable {
      self.toldAvailable = self.isAvailable
      actions += [self.engine.failure, self.source.failure].compactMap { $0 }.filter { $0 != self.failure }
        .map { .tell(.failed($0)) }
      actions.append(.tell(.state(.availabilityChanged(self.isAvailable), finalOutput: false)))
    }
    if !self.isAvailable, !self.isCheckScheduled, self.isAuthorized {
      self.isCheckScheduled = true
      actions.append(.scheduleCheck(now.advanced(by: self.settings.checkInterval)))
    }
    return actions
  }

  // MARK: Requests

  /// Takes that the app wants to begin; does nothing if it has begun.
  ///
  /// - Returns: The activity that serves the request, or what forbids it.
  mutating func startRequested() -> (Result<Int, VoiceFailure>, [Action]) {
    if let failure = self.authorization.failure {
      // A right that was given in the meantime serves the next start.
      return (.failure(failure), [.tell(.failed(failure)), .authorize])
    }
    switch self.phase {
    case .starting, .listening:
      return (.success(self.number), [])
    case .finishing:
      self.hasPendingStart = true
      return (.success(self.number + 1), [])
    case .idle:
      if let failure = self.engine.failure ?? self.source.failure {
        // What is known may be old: the next start knows more.
        return (.failure(failure), [.tell(.failed(failure))] + self.check())
      }
      return (.success(self.number + 1), self.begin())
    }
  }

  /// Takes that the app wants the activity to end.
  mutating func endRequested(_ ending: Ending) -> [Action] {
    self.hasPendingStart = false
    switch self.phase {
    case .idle:
      return []
    case .starting, .listening:
      return self.endListening(ending)
    case .finishing(.cancelled), .finishing(.completed):
      return []
    case .finishing(.stopped), .finishing(.finished):
      guard ending == .cancelled else { return [] }
      self.phase = .finishing(.cancelled)
      return [.tell(.state(.recognitionTaskCancelled, finalOutput: false)), .abandon(activity: self.number)]
    }
  }

  private mutating func begin() -> [Action] {
    self.number += 1
    self.phase = .starting
    self.hasPendingStart = false
    self.text = TextAssembler()
    self.textIndex = 0
    self.toldText = ""
    self.lastText = ""
    self.lastResult = nil
    self.failure = nil
    return [.begin(activity: self.number)]
  }

  private mutating func endListening(_ ending: Ending) -> [Action] {
    var actions: [Action] = []
    if self.phase == .listening { actions.append(.tell(.state(.audioEngineStop, finalOutput: false))) }
    self.phase = .finishing(ending)
    switch ending {
    case .stopped, .finished:
      actions.insert(.stopCapture(activity: self.number), at: 0)
    case .completed:
      actions.insert(.abandon(activity: self.number), at: 0)
    case .cancelled:
      actions.insert(.abandon(activity: self.number), at: 0)
      actions.append(.tell(.state(.recognitionTaskCancelled, finalOutput: false)))
    }
    return actions
  }

  // MARK: The activity

  /// Takes that the source is open.
  mutating func captureOpened(_ activity: Int, at now: VoiceInstant) -> [Action] {
    guard activity == self.number, self.phase == .starting else { return [] }
    self.phase = .listening
    self.source = .usable
    return self.tellAvailability(at: now) + [
      .tell(.state(.audioEngineStart, finalOutput: false)), .opened(activity: activity),
    ]
  }

  /// Takes that the source has ended by itself, or with a failure.
  mutating func captureEnded(_ activity: Int, _ failure: VoiceFailure?, at now: VoiceInstant) -> [Action] {
    guard activity == self.number else { return [] }
    switch self.phase {
    case .idle, .finishing(.cancelled), .finishing(.completed):
      return []
    case .starting, .listening:
      return self.endedBySource(failure, at: now) + self.endListening(.finished)
    case .finishing(.stopped), .finishing(.finished):
      return self.endedBySource(failure, at: now)
    }
  }

  private mutating func endedBySource(_ failure: VoiceFailure?, at now: VoiceInstant) -> [Action] {
    guard let failure else { return [] }
    self.failure = failure
    self.source = .unusable(failure)
    return [.tell(.failed(failure))] + self.tellAvailability(at: now)
  }

  /// Takes that the recogniser has failed; what it had recognised was told before.
  mutating func recognizerFailed(_ activity: Int, _ failure: VoiceFailure, at now: VoiceInstant) -> [Action] {
    guard activity == self.number else { return [] }
    switch self.phase {
    case .idle, .finishing(.cancelled), .finishing(.completed):
      return []
    case .starting, .listening, .finishing(.stopped), .finishing(.finished):
      self.failure = failure
      var actions: [Action] = [.tell(.failed(failure))]
      // One utterance that failed, or a pool that is in use, does not mean that the next one fails.
      if failure.code != .engineFailed, failure.code.rawValue.hasPrefix("speech.engine.") {
        self.engine = .unusable(failure)
        actions += self.tellAvailability(at: now)
      }
      switch self.phase {
      case .starting, .listening: actions += self.endListening(.finished)
      case .idle, .finishing: break
      }
      return actions
    }
  }

  /// Takes that something is wrong, but the activity goes on.
  mutating func noticed(_ activity: Int, _ failure: VoiceFailure) -> [Action] {
    guard activity == self.number, self.phase != .idle, self.phase != .finishing(.cancelled) else {
      return []
    }
    return [.tell(.failed(failure))]
  }

  /// Takes what was recognised.
  mutating func heard(_ activity: Int, _ events: [RecognitionEvent]) -> [Action] {
    guard activity == self.number else { return [] }
    var actions: [Action] = []
    for event in events {
      switch self.phase {
      case .idle, .starting, .finishing(.cancelled), .finishing(.completed):
        return actions
      case .listening, .finishing(.stopped), .finishing(.finished):
        if self.text.take(event) { actions += self.passageEnded() }
      }
    }
    return actions + self.tellPartial()
  }

  /// Takes that everything that was recorded has been recognised or dropped, and the source is free again.
  mutating func activityEnded(_ activity: Int, at now: VoiceInstant) -> [Action] {
    guard activity == self.number else { return [] }
    var actions: [Action] = []
    switch self.phase {
    case .idle:
      return []
    case .finishing(.cancelled):
      break
    case .finishing(.completed):
      actions.append(.tell(.state(.speechRecognitionStopped(self.lastText), finalOutput: false)))
    case .starting, .listening, .finishing(.stopped), .finishing(.finished):
      let isStopped = self.phase == .finishing(.stopped)
      if !self.text.isEmpty { actions += self.tellFinal() }
      if self.lastResult == nil, self.failure == nil {
        actions.append(.tell(.state(.speechNotRecognized, finalOutput: !isStopped)))
      }
      actions.append(.tell(.state(.speechRecognitionStopped(self.lastText), finalOutput: false)))
    }
    if self.phase == .finishing(.cancelled) { self.lastResult = nil }
    self.phase = .idle
    actions.append(.ended(activity: activity, self.lastResult, self.failure))
    actions += self.tellAvailability(at: now)
    if self.hasPendingStart { actions += self.begin() }
    return actions
  }

  // MARK: Text

  private mutating func passageEnded() -> [Action] {
    if !self.settings.isContinuous {
      let actions = self.tellFinal()
      switch self.phase {
      case .listening: return actions + self.endListening(.completed)
      case .idle, .starting, .finishing:
        self.phase = .finishing(.completed)
        return actions + [.abandon(activity: self.number)]
      }
    }
    // Without partial results, the one result holds everything.
    return self.settings.reportsPartialResults ? self.tellFinal() : []
  }

  private mutating func tellPartial() -> [Action] {
    guard self.settings.reportsPartialResults else { return [] }
    let result = self.text.result(index: self.textIndex, isFinal: false)
    guard result.text != self.toldText else { return [] }
    self.toldText = result.text
    return [
      .tell(.result(result)),
      .tell(
        .state(
          result.text.isEmpty ? .speechNotRecognized : .speechRecognised(result.text), finalOutput: false)),
    ]
  }

  /// Completes the text and begins the next one.
  private mutating func tellFinal() -> [Action] {
    let result = self.text.result(index: self.textIndex, isFinal: true)
    // An app that reacts to a final output by a toggle must not start again what it has just stopped.
    let isFinalOutput = self.phase != .finishing(.stopped)
    self.text = TextAssembler()
    self.textIndex += 1
    self.toldText = ""
    self.lastText = result.text
    self.lastResult = result
    let state: SpeechRecognitionOperationState =
      result.isRejected ? .speechNotRecognized : .speechRecognised(result.text)
    return [.tell(.result(result)), .tell(.state(state, finalOutput: isFinalOutput))]
  }
}
