import SpeechPipeline
import VoiceAudio
import VoiceCore

/// A recogniser over a speech service of the system: performs what a ``SpeechRequestMachine`` decides.
///
/// The service works on threads of its own; its results are taken over between blocks of audio. Only ``finish(alternatives:)``
/// waits, for the final result.
final class SpeechServiceRecognizer: Recognizer {
  private let service: any SpeechService
  private let settings: SpeechRequestMachine.Settings
  private let clock: any VoiceClock
  private let mailbox = SpeechServiceMailbox()
  private var machine: SpeechRequestMachine
  private var detector = EnergyActivityDetector()
  private var request = SpeechServiceRequest(vocabulary: [], bias: 0)
  private var isListening = false
  /// The newest samples, for a task that follows another.
  private var recent: [Int16] = []
  private var recentStart: Int64 = 0

  init(
    service: any SpeechService, settings: SpeechRequestMachine.Settings = SpeechRequestMachine.Settings(),
    clock: any VoiceClock = MonotonicClock()
  ) {
    self.service = service
    self.settings = settings
    self.clock = clock
    self.machine = SpeechRequestMachine(settings)
  }

  deinit {
    if self.isListening { self.service.cancel() }
  }

  /// The service learns nothing of a channel that could be kept.
  var adaptation: RecognizerAdaptation? { nil }

  var activityHangover: Duration { self.detector.hangover }

  func begin(_ task: RecognitionTask) throws(VoiceFailure) {
    self.cancel()
    self.request = SpeechServiceRequest(vocabulary: task.vocabulary, bias: task.vocabularyBias)
    self.machine = SpeechRequestMachine(
      self.settings, after: self.machine.newestGeneration, alternatives: Self.alternativeLimit)
    self.machine.began()
    self.detector.reset()
    self.recent.removeAll(keepingCapacity: true)
    self.recentStart = 0
    self.isListening = true
  }

  func process(_ samples: UnsafeBufferPointer<Int16>) throws(VoiceFailure) -> Bool? {
    guard self.isListening else { throw Self.outOfOrder }
    try self.takeResults()
    let isSpeech = try self.detector.process(samples)
    self.recent.append(contentsOf: samples)
    try self.perform(self.machine.heard(samples.count, isSpeech: isSpeech), newest: samples)
    self.forget()
    return isSpeech
  }

  func hypothesis() -> [RecognizedWord] {
    guard self.isListening else { return [] }
    // A failure among what has come meanwhile is thrown by the next call that can throw.
    return self.machine.words
  }

  func finish(alternatives: Int) throws(VoiceFailure) -> RecognitionResult {
    guard self.isListening else { throw Self.outOfOrder }
    try self.takeResults()
    var result = try self.perform(self.machine.finishRequested(at: self.clock.now))
    while result == nil {
      if let message = self.mailbox.next(waitingAtMost: self.clock.now.duration(to: self.deadline)) {
        result = try self.perform(self.machine.received(message.event, of: message.generation))
      } else {
        result = try self.perform(self.machine.deadlinePassed())
        guard result != nil else { break }
      }
    }
    self.isListening = false
    guard var result else { throw Self.outOfOrder }
    result.alternatives = Array(result.alternatives.prefix(max(0, alternatives)))
    return result
  }

  func cancel() {
    guard self.isListening else { return }
    self.isListening = false
    for action in self.machine.cancelRequested() where action == .cancelTask { self.service.cancel() }
  }

  /// What Apple's recogniser gives is cut to what is wanted at the end.
  static let alternativeLimit = 9

  private var deadline = VoiceInstant()

  private func takeResults() throws(VoiceFailure) {
    while let message = self.mailbox.next(waitingAtMost: .zero) {
      try self.perform(self.machine.received(message.event, of: message.generation))
    }
  }

  @discardableResult
  private func perform(
    _ actions: [SpeechRequestMachine.Action], newest: UnsafeBufferPointer<Int16>? = nil
  ) throws(VoiceFailure) -> RecognitionResult? {
    for action in actions {
      switch action {
      case .startTask(let generation, let start):
        try self.startTask(generation, from: start)
      case .append:
        if let newest { self.service.append(newest) }
      case .endAudio:
        self.service.endAudio()
      case .cancelTask:
        self.service.cancel()
      case .wait(let instant):
        self.deadline = instant
      case .deliver(let result):
        return result
      case .fail(let failure):
        self.isListening = false
        throw failure
      case .ignore:
        break
      }
    }
    return nil
  }

  private func startTask(_ generation: Int, from start: Int64) throws(VoiceFailure) {
    do throws(VoiceFailure) {
      try self.service.start(self.request) { [mailbox] event in mailbox.post(event, of: generation) }
    } catch {
      self.isListening = false
      _ = self.machine.cancelRequested()
      throw error
    }
    let skipped = Int(min(Int64(self.recent.count), max(0, start - self.recentStart)))
    self.recent.withUnsafeBufferPointer { self.service.append(UnsafeBufferPointer(rebasing: $0[skipped...])) }
  }

  /// Drops samples that no next task wants; seldom, since it moves those that stay.
  private func forget() {
    let excess = self.machine.keepFrom - self.recentStart
    guard excess > 5 * Int64(self.settings.sampleRate), excess <= Int64(self.recent.count) else { return }
    self.recent.removeFirst(Int(excess))
    self.recentStart += excess
  }

  private static var outOfOrder: VoiceFailure {
    VoiceFailure(.engineFailed, message: "No utterance was begun.")
  }
}
