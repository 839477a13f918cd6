import CallSignaling
import SpeechPipeline
import Testing
import VoiceCore

@testable import VoiceServer

@Suite struct AssistantMachineTests {
  static let settings = AssistantMachine.Settings(
    longestCall: .seconds(60), silence: .seconds(10), farewell: .seconds(5))
  static let lights = AssistantUtterance(
    words: ["turn", "on", "the", "lights"], intent: "turn_on",
    entities: [.init(type: "device", value: "lights"), .init(type: "room", value: "living room")])
  static let goodbye = AssistantUtterance(words: ["goodbye"], intent: "goodbye")

  var machine = AssistantMachine(settings: Self.settings, at: VoiceInstant())

  func at(_ seconds: Int) -> VoiceInstant { VoiceInstant(offset: .seconds(seconds)) }

  func sentence(_ number: Int) -> AssistantMachine.Sentence { .init(number: number) }

  /// Begins and lets the greeting end.
  mutating func beginListening() {
    _ = self.machine.handle(.began, at: self.at(0))
    _ = self.machine.handle(.spoken(self.sentence(1)), at: self.at(2))
  }

  // MARK: What should not happen

  @Test mutating func ignoresWhatIsHeardBeforeThereIsARecogniser() {
    for event: AssistantMachine.Event in [
      .heardWords, .understood(Self.lights, endsPassage: true), .recognitionFailed, .spoken(sentence(7)),
    ] {
      #expect(machine.handle(event, at: at(0)) == [])
      #expect(machine.state == .waiting)
    }
  }

  @Test mutating func aSecondBeginningChangesNothing() {
    beginListening()
    #expect(machine.handle(.began, at: at(3)) == [])
    #expect(machine.handle(.refused(.serverOverloaded), at: at(3)) == [])
    #expect(machine.state == .listening)
  }

  @Test mutating func theLateEndOfASentenceThatWasStoppedEndsNoOther() {
    beginListening()
    _ = machine.handle(.understood(Self.lights, endsPassage: true), at: at(3))
    #expect(machine.handle(.spoken(sentence(1)), at: at(3)) == [])
    #expect(machine.state == .speaking(sentence(2)))
  }

  @Test mutating func aTimerThatIsTooEarlyDoesNothing() {
    beginListening()
    #expect(machine.handle(.timePassed, at: at(3)) == [])
    #expect(machine.state == .listening)
  }

  @Test mutating func nothingFollowsTheEnd() {
    beginListening()
    #expect(machine.handle(.audioEnded, at: at(3)) == [.end(.normalClearing)])
    for event: AssistantMachine.Event in [
      .began, .heardWords, .understood(Self.lights, endsPassage: true), .timePassed, .audioEnded,
      .recognitionFailed, .spoken(sentence(1)), .refused(.serverOverloaded),
    ] {
      #expect(machine.handle(event, at: at(100)) == [])
    }
    #expect(machine.deadline == nil)
  }

  @Test mutating func speechThatIsNotCoveredIsSaidToBeNotUnderstood() {
    beginListening()
    let actions = machine.handle(
      .understood(.init(words: ["goodbye"], intent: "goodbye", isRejected: true), endsPassage: true),
      at: at(3))
    #expect(actions == [.speak(sentence(2), "Sorry, I did not understand that.")])
  }

  @Test mutating func aBreathWithoutEndIsNotAnsweredWithoutEnd() {
    beginListening()
    for _ in 0..<100 { _ = machine.handle(.understood(Self.lights, endsPassage: false), at: at(3)) }
    guard
      case .speak(_, let text)? = machine.handle(.understood(Self.lights, endsPassage: true), at: at(4)).first
    else {
      Issue.record("Nothing is said.")
      return
    }
    #expect(text.count < 400)
  }

  // MARK: No recogniser

  @Test(arguments: [
    (VoiceFailure.Code.serverOverloaded, HangupCause.switchCongestion),
    (.serverStopping, .switchCongestion), (.engineFailed, .normalTemporaryFailure),
    (.configurationInvalid, .normalTemporaryFailure),
  ])
  mutating func saysThatThereIsNoRecogniserAndLeaves(_ code: VoiceFailure.Code, _ cause: HangupCause) {
    guard case .speak(let said, let text)? = machine.handle(.refused(code), at: at(1)).first else {
      Issue.record("Nothing is said.")
      return
    }
    #expect(text.hasPrefix("I am sorry"))
    #expect(machine.handle(.heardWords, at: at(2)) == [])
    #expect(machine.handle(.spoken(said), at: at(4)) == [.end(cause)])
  }

  @Test mutating func saysThatItDoesNotHearAnyMoreAndLeaves() {
    beginListening()
    _ = machine.handle(.understood(Self.lights, endsPassage: true), at: at(3))
    let actions = machine.handle(.recognitionFailed, at: at(4))
    #expect(actions == [.stopSpeaking, .speak(sentence(3), AssistantPhrases.deaf)])
    #expect(machine.handle(.spoken(sentence(3)), at: at(6)) == [.end(.normalTemporaryFailure)])
  }

  // MARK: The dialogue

  @Test mutating func greetsListensAndSaysTheIntentBack() {
    #expect(machine.handle(.began, at: at(0)) == [.speak(sentence(1), AssistantPhrases.greeting)])
    #expect(machine.handle(.spoken(sentence(1)), at: at(2)) == [])
    #expect(machine.handle(.heardWords, at: at(3)) == [])
    #expect(
      machine.handle(.understood(Self.lights, endsPassage: true), at: at(4)) == [
        .speak(sentence(2), "turn on, device lights, room living room.")
      ])
    #expect(machine.handle(.spoken(sentence(2)), at: at(7)) == [])
    #expect(machine.state == .listening)
  }

  @Test mutating func wordsOfTheCallerStopTheGreetingAndReplies() {
    _ = machine.handle(.began, at: at(0))
    #expect(machine.handle(.heardWords, at: at(1)) == [.stopSpeaking])
    #expect(machine.handle(.heardWords, at: at(1)) == [])
    _ = machine.handle(.understood(Self.lights, endsPassage: true), at: at(2))
    #expect(machine.handle(.heardWords, at: at(3)) == [.stopSpeaking])
    #expect(machine.state == .listening)
  }

  @Test mutating func severalIntentsOfOneBreathAreAnsweredTogether() {
    beginListening()
    let off = AssistantUtterance(words: [], intent: "turn_off")
    #expect(machine.handle(.understood(Self.lights, endsPassage: false), at: at(3)) == [])
    #expect(
      machine.handle(.understood(off, endsPassage: true), at: at(4)) == [
        .speak(sentence(2), "turn on, device lights, room living room. turn off.")
      ])
  }

  @Test mutating func goodbyeEndsTheCallAfterTheLastSentence() {
    beginListening()
    #expect(
      machine.handle(.understood(Self.goodbye, endsPassage: true), at: at(3)) == [
        .speak(sentence(2), "Goodbye.")
      ])
    #expect(machine.handle(.heardWords, at: at(3)) == [])
    #expect(machine.handle(.spoken(sentence(2)), at: at(4)) == [.end(.normalClearing)])
  }

  @Test(arguments: [(0.2, true), (0.6, false), (nil, false)])
  func aGoodbyeInWhichAWordDoesNotFitCostsNoCall(confidence: Double?, isRejected: Bool) {
    var hearing = AssistantHearing()
    for (index, word) in zip(["hang", "up"], [confidence, 1]).enumerated() {
      _ = hearing.event(
        for: .word(
          segment: 0, index: index,
          RecognizedWord(text: word.0, start: .zero, end: .seconds(1), confidence: word.1)))
    }
    _ = hearing.event(for: .intent(segment: 0, "goodbye", isFinal: true))
    let end = SegmentSummary(resumePoint: ResumePoint(sample: 0, adaptation: nil))
    guard case .understood(let utterance, true)? = hearing.event(for: .segmentEnded(segment: 0, end)) else {
      Issue.record("Nothing is understood.")
      return
    }
    #expect(utterance.isGoodbye == !isRejected)
    #expect(utterance.isRejected == isRejected)
  }

  @Test mutating func aLastSentenceThatIsNeverSentDoesNotHoldTheCall() {
    beginListening()
    _ = machine.handle(.understood(Self.goodbye, endsPassage: true), at: at(3))
    #expect(machine.deadline == at(8))
    #expect(machine.handle(.timePassed, at: at(8)) == [.end(.normalClearing)])
  }

  @Test(arguments: [
    ("goodbye", true), ("Bye bye", true), ("good bye", true), ("say goodbye to the lights", false),
    ("", false),
  ])
  func goodbyeIsUnderstoodInFreeText(_ text: String, _ isGoodbye: Bool) {
    #expect(AssistantUtterance(words: text.split(separator: " ").map(String.init)).isGoodbye == isGoodbye)
  }

  @Test mutating func freeTextIsSaidBack() {
    beginListening()
    #expect(
      machine.handle(.understood(.init(words: ["good", "morning"]), endsPassage: true), at: at(3)) == [
        .speak(sentence(2), "You said: good morning.")
      ])
  }

  // MARK: Time

  @Test mutating func asksAfterSilenceAndLeavesAfterMore() {
    beginListening()
    #expect(machine.deadline == at(12))
    #expect(machine.handle(.timePassed, at: at(12)) == [.speak(sentence(2), "Are you still there?")])
    _ = machine.handle(.spoken(sentence(2)), at: at(14))
    #expect(machine.deadline == at(24))
    #expect(
      machine.handle(.timePassed, at: at(24)) == [.speak(sentence(3), AssistantPhrases.nobodyThere)])
    #expect(machine.handle(.spoken(sentence(3)), at: at(26)) == [.end(.normalClearing)])
  }

  @Test mutating func anAnswerToTheQuestionIsTimeForAnotherSilence() {
    beginListening()
    _ = machine.handle(.timePassed, at: at(12))
    _ = machine.handle(.heardWords, at: at(13))
    _ = machine.handle(.understood(Self.lights, endsPassage: true), at: at(14))
    _ = machine.handle(.spoken(sentence(3)), at: at(16))
    #expect(machine.handle(.timePassed, at: at(26)) == [.speak(sentence(4), "Are you still there?")])
  }

  @Test mutating func somebodyWhoSpeaksIsNotAsked() {
    beginListening()
    _ = machine.handle(.heardWords, at: at(11))
    #expect(machine.handle(.timePassed, at: at(12)) == [])
    #expect(machine.deadline == at(21))
  }

  @Test mutating func theLongestCallEndsWithItsCause() {
    beginListening()
    _ = machine.handle(.heardWords, at: at(55))
    #expect(machine.deadline == at(60))
    #expect(machine.handle(.timePassed, at: at(60)) == [.speak(sentence(2), AssistantPhrases.timeIsUp)])
    #expect(machine.handle(.spoken(sentence(2)), at: at(63)) == [.end(.allottedTimeout)])
  }

  @Test mutating func theLongestCallEndsAlsoWhileTheAssistantSpeaks() {
    _ = machine.handle(.began, at: at(0))
    #expect(
      machine.handle(.timePassed, at: at(60)) == [
        .stopSpeaking, .speak(sentence(2), AssistantPhrases.timeIsUp),
      ])
  }
}
