import SpeechPipeline
import Testing
import VoiceCore
import VoicePlatform

@testable import SpeechRecognition

/// The machine alone: what it answers to each event.
struct RecognitionActivityMachineTests {
  private let now = VoiceInstant(offset: .seconds(10))
  private typealias Action = RecognitionActivityMachine.Action

  private func machine(
    _ change: (inout RecognitionActivityMachine.Settings) -> Void = { _ in }
  ) -> RecognitionActivityMachine {
    var settings = RecognitionActivityMachine.Settings()
    change(&settings)
    var machine = RecognitionActivityMachine(settings: settings)
    _ = machine.decided(.authorized)
    _ = machine.checked(source: .some(nil), engine: nil, at: self.now)
    return machine
  }

  private func listening(
    _ change: (inout RecognitionActivityMachine.Settings) -> Void = { _ in }
  ) -> RecognitionActivityMachine {
    var machine = self.machine(change)
    _ = machine.startRequested()
    _ = machine.captureOpened(1, at: self.now)
    return machine
  }

  private func word(_ text: String, _ index: Int, segment: Int = 0) -> RecognitionEvent {
    .word(
      segment: segment, index: index,
      RecognizedWord(text: text, start: .seconds(index), end: .seconds(index + 1), confidence: 0.5))
  }

  private func end(_ segment: Int = 0, endsPassage: Bool = true) -> RecognitionEvent {
    .segmentEnded(
      segment: segment,
      SegmentSummary(resumePoint: ResumePoint(sample: 0, adaptation: nil), endsPassage: endsPassage))
  }

  private func states(_ actions: [Action]) -> [State] {
    actions.compactMap { if case .tell(.state(let state, _)) = $0 { state } else { nil } }
  }

  private func finals(_ actions: [Action]) -> [String] {
    actions.compactMap { if case .tell(let event) = $0 { event.finalText } else { nil } }
  }

  @Test func theRightIsToldWhenItIsKnownWhatCanStart() {
    var machine = RecognitionActivityMachine(settings: .init())
    #expect(machine.decided(.authorized) == [.check(opensSource: true)])
    #expect(
      machine.checked(source: .some(nil), engine: nil, at: self.now) == [
        .tell(.state(.authorized, finalOutput: false)), .tellAuthorized, .settle(.authorized),
      ])
    #expect(machine.decided(.authorized) == [.settle(.authorized)])
  }

  @Test func aDenialIsToldOnce() {
    var machine = RecognitionActivityMachine(settings: .init())
    #expect(machine.decided(.denied) == [.tell(.failed(VoiceFailure(.recognitionDenied))), .settle(.denied)])
    #expect(machine.decided(.denied) == [.settle(.denied)])
  }

  @Test func changesWhileACheckRunsCauseOneMore() {
    var machine = self.machine()
    #expect(machine.somethingChanged() == [.check(opensSource: true)])
    #expect(machine.somethingChanged() == [])
    #expect(machine.somethingChanged() == [])
    #expect(machine.checked(source: .some(nil), engine: nil, at: self.now) == [.check(opensSource: true)])
    #expect(machine.checked(source: .some(nil), engine: nil, at: self.now) == [])
  }

  @Test func aSourceInUseIsNotOpenedByACheck() {
    var machine = self.listening()
    #expect(machine.somethingChanged() == [.check(opensSource: false)])
    #expect(machine.checked(source: nil, engine: nil, at: self.now) == [])
    #expect(machine.isOn)
  }

  /// A check that had begun before the activity finds the device busy with the activity.
  @Test func whatACheckSaysOfASourceInUseDoesNotCount() {
    var machine = self.machine()
    _ = machine.somethingChanged()
    _ = machine.startRequested()
    #expect(machine.checked(source: VoiceFailure(.inputDeviceBusy), engine: nil, at: self.now) == [])
  }

  @Test func whatIsMissingIsToldOnceAndLookedForAgain() {
    var machine = self.machine()
    let missing = VoiceFailure(.noInputDevice)
    _ = machine.somethingChanged()
    #expect(
      machine.checked(source: missing, engine: nil, at: self.now) == [
        .tell(.failed(missing)), .tell(.state(.availabilityChanged(false), finalOutput: false)),
        .scheduleCheck(self.now.advanced(by: .seconds(5))),
      ])
    #expect(machine.somethingChanged(isScheduled: true) == [.check(opensSource: true)])
    #expect(
      machine.checked(source: missing, engine: nil, at: self.now)
        == [.scheduleCheck(self.now.advanced(by: .seconds(5)))])
    #expect(machine.somethingChanged(isScheduled: true) == [.check(opensSource: true)])
    #expect(
      machine.checked(source: .some(nil), engine: nil, at: self.now)
        == [.tell(.state(.availabilityChanged(true), finalOutput: false))])
    #expect(machine.somethingChanged(isScheduled: true) == [])
  }

  @Test func aPauseCompletesTheTextAndTheNextWordBeginsAnother() {
    var machine = self.listening()
    #expect(self.states(machine.heard(1, [self.word("one", 0)])) == [.speechRecognised("one")])
    #expect(self.finals(machine.heard(1, [self.end()])) == ["one"])
    #expect(self.states(machine.heard(1, [self.word("two", 0, segment: 1)])) == [.speechRecognised("two")])
    #expect(self.finals(machine.endRequested(.finished)) == [])
    #expect(self.finals(machine.activityEnded(1, at: self.now)) == ["two"])
  }

  @Test func aNewIntentDoesNotCompleteTheText() {
    var machine = self.listening()
    let actions = machine.heard(
      1, [self.word("one", 0), self.end(endsPassage: false), self.word("two", 0, segment: 1)])
    #expect(self.states(actions) == [.speechRecognised("one two")])
    #expect(self.finals(machine.heard(1, [self.end(1)])) == ["one two"])
  }

  @Test func hypothesesReplaceEachOther() {
    var machine = self.listening()
    func hypothesis(_ texts: [String], from index: Int = 0) -> RecognitionEvent {
      .hypothesis(
        segment: 0, firstIndex: index,
        words: texts.map { RecognizedWord(text: $0, start: .zero, end: .seconds(1)) })
    }
    #expect(self.states(machine.heard(1, [hypothesis(["a", "b"])])) == [.speechRecognised("a b")])
    #expect(self.states(machine.heard(1, [hypothesis(["c", "d"])])) == [.speechRecognised("c d")])
    // The same words with other times are no news.
    #expect(machine.heard(1, [self.word("c", 0)]) == [])
    #expect(self.states(machine.heard(1, [hypothesis(["e"], from: 1)])) == [.speechRecognised("c e")])
    #expect(self.states(machine.heard(1, [hypothesis([], from: 1)])) == [.speechRecognised("c")])
  }

  @Test func whatComesAfterTheFirstTextOfOneUtteranceIsDropped() {
    var machine = self.listening { $0.isContinuous = false }
    let actions = machine.heard(1, [self.word("one", 0), self.end(), self.word("two", 0, segment: 1)])
    #expect(self.finals(actions) == ["one"])
    #expect(actions.contains(.abandon(activity: 1)))
    #expect(machine.heard(1, [self.end(1)]) == [])
    #expect(self.states(machine.activityEnded(1, at: self.now)) == [.speechRecognitionStopped("one")])
  }

  @Test func eventsOfAnEarlierActivityAreIgnored() {
    var machine = self.listening()
    _ = machine.endRequested(.cancelled)
    _ = machine.activityEnded(1, at: self.now)
    _ = machine.startRequested()
    #expect(machine.captureOpened(1, at: self.now) == [])
    #expect(machine.heard(1, [self.word("late", 0)]) == [])
    #expect(machine.captureEnded(1, VoiceFailure(.inputDeviceLost), at: self.now) == [])
    #expect(machine.activityEnded(1, at: self.now) == [])
    #expect(machine.captureOpened(2, at: self.now).contains(.opened(activity: 2)))
  }

  @Test func aStartWhileFinishingBeginsWhenTheLastWordsAreTold() {
    var machine = self.listening()
    _ = machine.endRequested(.stopped)
    let (result, actions) = machine.startRequested()
    #expect(result == .success(2))
    #expect(actions == [])
    let last = machine.activityEnded(1, at: self.now)
    #expect(last.last == .begin(activity: 2))
  }

  /// Any requests and reports in any order keep the order of states, and end where they should.
  @Test(arguments: 1...200) func anyOrderKeepsTheRules(seed: UInt64) {
    var random = SeededNumbers(state: seed)
    var machine = self.machine { $0.isContinuous = seed.isMultiple(of: 2) }
    var running: (number: Int, isOpen: Bool)?
    var isTold = false
    func take(_ actions: [Action]) {
      for action in actions {
        switch action {
        case .begin(let number):
          #expect(running == nil, "One activity at a time.")
          running = (number, false)
        case .tell(.state(.audioEngineStart, _)):
          #expect(!isTold)
          isTold = true
        case .tell(.state(.audioEngineStop, _)):
          #expect(isTold)
          isTold = false
        case .tell(.state(.speechRecognitionStopped, _)), .ended:
          #expect(!isTold, "Recording has ended before the activity is over.")
        default: break
        }
      }
    }
    for step in 0..<300 {
      switch random.next(10) {
      case 0, 1: take(machine.startRequested().1)
      case 2: take(machine.endRequested(.stopped))
      case 3: take(machine.endRequested(.finished))
      case 4: take(machine.endRequested(.cancelled))
      case 5:
        take(machine.somethingChanged())
        take(machine.checked(source: nil, engine: nil, at: self.now))
      case 6:
        guard let number = running?.number else { continue }
        take(machine.captureOpened(number, at: self.now))
      case 7:
        guard let number = running?.number else { continue }
        take(machine.heard(number, [self.word("w\(step)", 0, segment: step), self.end(step)]))
      case 8:
        guard let number = running?.number else { continue }
        take(machine.captureEnded(number, nil, at: self.now))
      default:
        guard let number = running?.number, machine.isFinishing else { continue }
        running = nil
        take(machine.activityEnded(number, at: self.now))
      }
    }
  }
}

private struct SeededNumbers {
  var state: UInt64

  mutating func next(_ bound: UInt64) -> UInt64 {
    self.state = self.state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
    return (self.state >> 33) % bound
  }
}
