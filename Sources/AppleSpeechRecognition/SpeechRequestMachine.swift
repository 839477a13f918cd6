import SpeechPipeline
import VoiceAudio
import VoiceCore

/// Makes one utterance of the tasks of a speech service, which may end whenever the service likes.
///
/// States: *idle*; *listening* (with a task, or between two); *finishing* (no more audio comes, the last result is awaited until a
/// deadline); *ended*. A task begins with audio. When the service ends one, the next one gets the audio behind its last word, so
/// that no word is lost, and its times count from there. Results of a task that is not the newest are dropped.
///
/// Positions are samples from the start of the utterance.
struct SpeechRequestMachine: Sendable {
  struct Settings: Hashable, Sendable {
    var sampleRate = AudioFormat.recognition.sampleRate
    /// How long to wait for the final result.
    var finalPatience = Duration.seconds(5)
    /// How much audio is kept for a next task.
    var replayLimit = Duration.seconds(30)
    /// How much of what was heard already the next task hears again, where it is not known exactly where the words ended.
    var overlap = Duration.milliseconds(400)
    /// A task that ends within this much audio without a word has not worked.
    var hastyLength = Duration.seconds(1)
    /// So many of them in a row are a failure.
    var hastyLimit = 3
    /// How much speech behind the last word of a final result was not heard by the service.
    var missedSpeech = Duration.milliseconds(800)
  }

  /// What the service tells of a task.
  enum TaskEvent: Hashable, Sendable {
    /// All transcriptions of everything that the task has heard, the best first; may change.
    case hypothesis([HeardTranscription])
    /// The same, for good; the task has ended.
    case final([HeardTranscription])
    /// The task has ended without a final result.
    case ended(SpeechServiceError.Meaning)
  }

  enum Action: Hashable, Sendable {
    /// Begin a task and give it everything from the position on.
    case startTask(generation: Int, from: Int64)
    /// Give the newest samples to the task.
    case append
    /// Tell the task that no more audio comes.
    case endAudio
    /// Drop the task.
    case cancelTask
    /// Wait for the next event, until the instant.
    case wait(until: VoiceInstant)
    /// The utterance has ended.
    case deliver(RecognitionResult)
    case fail(VoiceFailure)
    /// The event came too late, or too early.
    case ignore
  }

  private struct Task: Hashable {
    var generation: Int
    var start: Int64
    /// Whether it heard again what the task before it had heard.
    var overlaps: Bool
    var transcript = TaskTranscript()
  }

  private enum State: Hashable {
    case idle
    case listening(Task?)
    case finishing(Task, deadline: VoiceInstant, isLast: Bool)
    case ended
  }

  private let settings: Settings
  private let alternativeCount: Int
  private var state = State.idle
  /// Rises over all utterances, so that a result of an earlier utterance is late too.
  private var generation: Int
  private var position: Int64 = 0
  private var speechEnd: Int64 = 0
  private var nextStart: Int64 = 0
  private var nextOverlaps = false
  private var hastyEnds = 0
  /// The best words and the alternatives of each ended task that had words.
  private var results: [RecognitionResult] = []

  /// Creates the machine of an utterance.
  ///
  /// - Parameters:
  ///   - generation: The newest generation of the utterances before.
  ///   - alternatives: How many transcriptions are wanted beside the best.
  init(_ settings: Settings = Settings(), after generation: Int = 0, alternatives: Int = 0) {
    self.settings = settings
    self.generation = generation
    self.alternativeCount = max(0, alternatives)
  }

  /// The newest task's number.
  var newestGeneration: Int { self.generation }

  /// The first sample that a next task may want to hear again.
  var keepFrom: Int64 {
    let limit = self.position - self.samples(self.settings.replayLimit)
    switch self.state {
    case .listening(let task?), .finishing(let task, _, _): return max(task.start, limit)
    case .listening(nil): return max(self.nextStart, limit)
    case .idle, .ended: return self.position
    }
  }

  /// The words so far.
  var words: [RecognizedWord] {
    let settled = self.results.flatMap(\.words)
    switch self.state {
    case .listening(let task?), .finishing(let task, _, _):
      return settled + self.placed(task.transcript.words, of: task)
    case .listening(nil), .idle, .ended: return settled
    }
  }

  // MARK: The utterance

  /// The utterance begins.
  mutating func began() {
    switch self.state {
    case .idle: self.state = .listening(nil)
    case .listening, .finishing, .ended: break
    }
  }

  /// Samples came.
  ///
  /// - Parameter isSpeech: Whether somebody is speaking at their end.
  mutating func heard(_ count: Int, isSpeech: Bool) -> [Action] {
    switch self.state {
    case .listening(let task):
      self.position += Int64(count)
      if isSpeech { self.speechEnd = self.position }
      return task == nil ? [self.startTask()] : [.append]
    case .idle, .finishing, .ended:
      return [.ignore]
    }
  }

  /// No more samples come.
  mutating func finishRequested(at now: VoiceInstant) -> [Action] {
    switch self.state {
    case .listening(let task):
      let deadline = now.advanced(by: self.settings.finalPatience)
      if let task {
        self.state = .finishing(task, deadline: deadline, isLast: false)
        return [.endAudio, .wait(until: deadline)]
      }
      return self.hasMissedSpeech ? self.startLastTask(deadline: deadline) : self.deliver()
    case .finishing(_, let deadline, _):
      return [.wait(until: deadline)]
    case .idle, .ended:
      return [.deliver(RecognitionResult(words: []))]
    }
  }

  /// Nobody wants the result.
  mutating func cancelRequested() -> [Action] {
    defer { self.state = .ended }
    switch self.state {
    case .listening(.some), .finishing: return [.cancelTask]
    case .listening(nil), .idle, .ended: return []
    }
  }

  /// The instant of ``Action/wait(until:)`` has passed: the last hypothesis counts.
  mutating func deadlinePassed() -> [Action] {
    switch self.state {
    case .finishing(let task, _, _):
      self.settle(task)
      return [.cancelTask] + self.deliver()
    case .idle, .listening, .ended:
      return [.ignore]
    }
  }

  // MARK: The service

  /// The service told something of a task.
  mutating func received(_ event: TaskEvent, of generation: Int) -> [Action] {
    switch self.state {
    case .listening(var task?) where task.generation == generation:
      switch event {
      case .hypothesis(let transcriptions):
        task.transcript.heard(transcriptions, upTo: self.time(self.position - task.start))
        self.state = .listening(task)
        return []
      case .final(let transcriptions):
        task.transcript.heard(transcriptions, upTo: self.time(self.position - task.start))
        return self.endedWhileListening(task, nil)
      case .ended(.noSpeech):
        return self.endedWhileListening(task, nil)
      case .ended(.taskEnded(let failure)):
        return self.endedWhileListening(task, failure)
      case .ended(.failed(let failure)):
        return self.fail(task, failure)
      }
    case .finishing(var task, let deadline, let isLast) where task.generation == generation:
      switch event {
      case .hypothesis(let transcriptions):
        task.transcript.heard(transcriptions, upTo: self.time(self.position - task.start))
        self.state = .finishing(task, deadline: deadline, isLast: isLast)
        return [.wait(until: deadline)]
      case .final(let transcriptions):
        task.transcript.heard(transcriptions, upTo: self.time(self.position - task.start))
        self.settle(task)
        // A result that leaves out speech at the end was made before all of the audio was there.
        let isIncomplete = !isLast && !task.transcript.words.isEmpty && self.hasMissedSpeech
        return isIncomplete ? self.startLastTask(deadline: deadline) : self.deliver()
      case .ended(.noSpeech):
        self.settle(task)
        return self.deliver()
      case .ended(.taskEnded):
        self.settle(task)
        return !isLast && self.hasMissedSpeech ? self.startLastTask(deadline: deadline) : self.deliver()
      case .ended(.failed(let failure)):
        return self.fail(task, failure)
      }
    case .idle, .listening, .finishing, .ended:
      return [.ignore]
    }
  }

  // MARK: -

  private mutating func startTask() -> Action {
    self.generation += 1
    let task = Task(
      generation: self.generation,
      start: max(self.nextStart, self.position - self.samples(self.settings.replayLimit)),
      overlaps: self.nextOverlaps)
    self.state = .listening(task)
    return .startTask(generation: task.generation, from: task.start)
  }

  private mutating func startLastTask(deadline: VoiceInstant) -> [Action] {
    let start = self.startTask()
    guard case .listening(let task?) = self.state else { return [] }
    self.state = .finishing(task, deadline: deadline, isLast: true)
    return [start, .endAudio, .wait(until: deadline)]
  }

  private mutating func endedWhileListening(_ task: Task, _ failure: VoiceFailure?) -> [Action] {
    self.settle(task)
    let isHasty =
      task.transcript.words.isEmpty && self.time(self.position - task.start) < self.settings.hastyLength
    self.hastyEnds = isHasty ? self.hastyEnds + 1 : 0
    guard self.hastyEnds < self.settings.hastyLimit else {
      self.state = .ended
      return [.fail(failure ?? VoiceFailure(.engineFailed, message: "Apple's speech service hears nothing."))]
    }
    self.state = .listening(nil)
    return []
  }

  /// Takes over the words of a task that has ended, and decides what the next one hears.
  private mutating func settle(_ task: Task) {
    let words = self.placed(task.transcript.words, of: task)
    let overlap = self.samples(self.settings.overlap)
    guard let last = words.last else {
      // The service has heard it and found nothing; only the newest sound may be the beginning of a word. A task that was given
      // nothing worth a word must not make the next one lose its beginning.
      let isHasty = self.time(self.position - task.start) < self.settings.hastyLength
      self.nextStart = isHasty ? task.start : max(task.start, self.position - overlap)
      self.nextOverlaps = isHasty && task.overlaps
      return
    }
    let alternatives = task.transcript.alternatives.map { self.placed($0, of: task) }
    self.results.append(RecognitionResult(words: words, alternatives: alternatives))
    let end = min(self.position, AudioChunk.sample(at: last.end, sampleRate: self.settings.sampleRate))
    self.nextOverlaps = !task.transcript.hasExactEnd
    self.nextStart = task.transcript.hasExactEnd ? end : max(task.start, end - overlap)
  }

  /// Whether there was speech that the next task would hear.
  private var hasMissedSpeech: Bool {
    self.speechEnd - self.nextStart > self.samples(self.settings.missedSpeech)
  }

  private mutating func deliver() -> [Action] {
    self.state = .ended
    let count = min(self.alternativeCount, self.results.map(\.alternatives.count).max() ?? 0)
    let alternatives = (0..<count).map { rank in
      self.results.flatMap { rank < $0.alternatives.count ? $0.alternatives[rank] : $0.words }
    }
    return [.deliver(RecognitionResult(words: self.results.flatMap(\.words), alternatives: alternatives))]
  }

  private mutating func fail(_ task: Task, _ failure: VoiceFailure) -> [Action] {
    self.settle(task)
    self.state = .ended
    return [.fail(failure)]
  }

  /// The words of a task in the time of the utterance, without those that the task before it had already.
  private func placed(_ words: [RecognizedWord], of task: Task) -> [RecognizedWord] {
    let base = self.time(task.start)
    let settled = self.results.last?.words ?? []
    let floor = settled.last?.end ?? .zero
    var new = words.map { word in
      RecognizedWord(
        text: word.text, start: word.start + base, end: word.end + base, confidence: word.confidence)
    }
    if task.overlaps, let first = new.first, first.start < floor {
      for count in (1...3).reversed()
      where new.prefix(count).count == count
        && settled.suffix(count).map(\.text) == new.prefix(count).map(\.text)
      {
        new.removeFirst(count)
        break
      }
    }
    return new.map { word in
      RecognizedWord(
        text: word.text, start: max(floor, word.start), end: max(floor, word.end), confidence: word.confidence
      )
    }
  }

  private func samples(_ duration: Duration) -> Int64 {
    AudioChunk.sample(at: duration, sampleRate: self.settings.sampleRate)
  }

  private func time(_ sample: Int64) -> Duration {
    AudioChunk.time(ofSample: max(0, sample), sampleRate: self.settings.sampleRate)
  }
}
