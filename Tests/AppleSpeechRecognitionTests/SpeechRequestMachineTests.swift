import SpeechPipeline
import Testing
import VoiceCore

@testable import AppleSpeechRecognition

struct SpeechRequestMachineTests {
  private typealias Machine = SpeechRequestMachine
  private let second = 16_000

  private func at(_ seconds: Int) -> VoiceInstant { VoiceInstant(offset: .seconds(seconds)) }

  /// Words of half a second each, from a second on.
  private func timed(_ text: String, from start: Double, confidence: Double = 0.5) -> HeardTranscription {
    HeardTranscription(
      segments: text.split(separator: " ").enumerated().map {
        .init(text: String($1), start: start + Double($0) * 0.5, duration: 0.5, confidence: confidence)
      })
  }

  private func untimed(_ text: String) -> HeardTranscription {
    HeardTranscription(
      segments: text.split(separator: " ").map {
        .init(text: String($0), start: 0.0, duration: 0.0, confidence: 0)
      })
  }

  /// A machine with a task that has heard seconds of audio, of which the first are speech.
  private func listening(_ seconds: Int, speech: Int = .max, alternatives: Int = 0) -> Machine {
    var machine = Machine(alternatives: alternatives)
    machine.began()
    for second in 0..<seconds { _ = machine.heard(self.second, isSpeech: second < speech) }
    return machine
  }

  private func result(_ actions: [Machine.Action]) -> RecognitionResult? {
    for case .deliver(let result) in actions { return result }
    return nil
  }

  private func texts(_ words: [RecognizedWord]) -> [String] { words.map(\.text) }

  // MARK: Bad input

  @Test func resultsOfAnEarlierTaskOrUtteranceAreDropped() {
    var machine = listening(2)
    #expect(machine.received(.hypothesis([timed("late", from: 0)]), of: 0) == [.ignore])
    #expect(machine.received(.final([timed("early", from: 0)]), of: 7) == [.ignore])
    #expect(machine.words.isEmpty)
    _ = machine.received(.final([timed("one", from: 0)]), of: 1)
    #expect(machine.received(.final([timed("two", from: 0)]), of: 1) == [.ignore])
    #expect(machine.received(.ended(.noSpeech), of: 1) == [.ignore])
    var next = Machine(after: machine.newestGeneration)
    next.began()
    #expect(next.heard(second, isSpeech: true) == [.startTask(generation: 2, from: 0)])
    #expect(next.received(.final([timed("old", from: 0)]), of: 1) == [.ignore])
  }

  @Test func everythingOutOfOrderIsIgnored() {
    var machine = Machine()
    #expect(machine.heard(10, isSpeech: true) == [.ignore])
    #expect(machine.deadlinePassed() == [.ignore])
    #expect(machine.cancelRequested() == [])
    #expect(result(machine.finishRequested(at: at(0)))?.words == [])
    machine.began()
    #expect(machine.heard(10, isSpeech: true) == [.ignore])
  }

  @Test func emptyAndImpossibleTranscriptionsDoNoHarm() {
    var machine = listening(2)
    _ = machine.received(.hypothesis([]), of: 1)
    _ = machine.received(.hypothesis([HeardTranscription(segments: [])]), of: 1)
    let odd = HeardTranscription(segments: [
      .init(text: " — ", start: 0.0, duration: 0.1, confidence: 0),
      .init(text: "a", start: .nan, duration: .infinity, confidence: .nan),
      .init(text: "b", start: -5, duration: -1, confidence: 9),
      .init(text: "c", start: 1e300, duration: 1e300, confidence: -1),
    ])
    _ = machine.received(.hypothesis([odd]), of: 1)
    #expect(texts(machine.words) == ["a", "b", "c"])
    #expect(machine.words.allSatisfy { $0.start <= $0.end && $0.end <= .seconds(2) })
    #expect(machine.words.compactMap(\.confidence).allSatisfy { (0...1).contains($0) })
  }

  @Test func aServiceThatEndsEveryTaskAtOnceIsAFailure() {
    var machine = Machine()
    machine.began()
    let failure = VoiceFailure(.engineFailed, message: "ended")
    for generation in 1...2 {
      #expect(machine.heard(1600, isSpeech: false).first == .startTask(generation: generation, from: 0))
      #expect(machine.received(.ended(.taskEnded(failure)), of: generation) == [])
    }
    _ = machine.heard(1600, isSpeech: false)
    #expect(machine.received(.ended(.taskEnded(failure)), of: 3) == [.fail(failure)])
  }

  @Test func aFailureEndsTheUtteranceAndKeepsItsWords() {
    var machine = listening(3)
    _ = machine.received(.hypothesis([timed("turn on", from: 0)]), of: 1)
    let failure = VoiceFailure(.serverUnreachable)
    #expect(machine.received(.ended(.failed(failure)), of: 1) == [.fail(failure)])
    #expect(texts(machine.words) == ["turn", "on"])
  }

  // MARK: Ends

  @Test func silenceIsAnEmptyResult() {
    var machine = listening(2)
    #expect(machine.finishRequested(at: at(2)) == [.endAudio, .wait(until: at(7))])
    #expect(machine.received(.ended(.noSpeech), of: 1) == [.deliver(RecognitionResult(words: []))])
  }

  @Test func noSpeechDoesNotTakeBackWhatWasHeard() {
    var machine = listening(2)
    _ = machine.received(.hypothesis([timed("yes", from: 0)]), of: 1)
    _ = machine.finishRequested(at: at(2))
    #expect(result(machine.received(.ended(.noSpeech), of: 1)).map { texts($0.words) } == ["yes"])
  }

  @Test func aFinalResultThatIsEmptyDoesNotEither() {
    var machine = listening(2, speech: 1)
    _ = machine.received(.hypothesis([timed("yes", from: 0)]), of: 1)
    _ = machine.finishRequested(at: at(2))
    #expect(result(machine.received(.final([HeardTranscription(segments: [])]), of: 1))?.words.count == 1)
  }

  @Test func finishingWaitsForTheFinalResult() {
    var machine = listening(2)
    _ = machine.received(.hypothesis([untimed("turn of")]), of: 1)
    _ = machine.finishRequested(at: at(2))
    #expect(machine.received(.hypothesis([untimed("turn off")]), of: 1) == [.wait(until: at(7))])
    let final = result(machine.received(.final([timed("Turn off.", from: 0.5, confidence: 0.9)]), of: 1))
    #expect(
      final?.words == [
        RecognizedWord(text: "turn", start: .milliseconds(500), end: .seconds(1), confidence: 0.9),
        RecognizedWord(text: "off", start: .seconds(1), end: .milliseconds(1500), confidence: 0.9),
      ])
  }

  @Test func withoutAFinalResultTheLastHypothesisCounts() {
    var machine = listening(2)
    _ = machine.received(.hypothesis([untimed("turn off")]), of: 1)
    _ = machine.finishRequested(at: at(2))
    let actions = machine.deadlinePassed()
    #expect(actions.first == .cancelTask)
    #expect(result(actions).map { texts($0.words) } == ["turn", "off"])
    #expect(machine.received(.final([timed("late", from: 0)]), of: 1) == [.ignore])
  }

  @Test func cancellingDropsTheTask() {
    var machine = listening(2)
    #expect(machine.cancelRequested() == [.cancelTask])
    #expect(machine.cancelRequested() == [])
    #expect(machine.received(.final([timed("late", from: 0)]), of: 1) == [.ignore])
  }

  // MARK: Tasks that end by themselves

  @Test func anotherTaskGoesOnBehindTheLastWord() {
    var machine = listening(60)
    #expect(machine.received(.final([timed("one two", from: 57.5)]), of: 1) == [])
    #expect(machine.heard(second, isSpeech: true) == [.startTask(generation: 2, from: Int64(58.5 * 16_000))])
    #expect(machine.heard(second, isSpeech: false) == [.append])
    _ = machine.received(.hypothesis([timed("three", from: 0.5)]), of: 2)
    #expect(texts(machine.words) == ["one", "two", "three"])
    #expect(machine.words.last?.start == .seconds(59))
    _ = machine.finishRequested(at: at(62))
    let final = result(machine.received(.final([timed("three four five six", from: 0.5)]), of: 2))
    #expect(final.map { texts($0.words) } == ["one", "two", "three", "four", "five", "six"])
    #expect(final?.words.last?.end == .seconds(61))
  }

  @Test func aTaskThatHeardOnlySilenceIsFollowedByOneThatHearsItsEnd() {
    var machine = listening(60)
    _ = machine.received(.ended(.noSpeech), of: 1)
    #expect(machine.heard(1600, isSpeech: false) == [.startTask(generation: 2, from: Int64(59.6 * 16_000))])
  }

  @Test func wordsWithoutTimesAreNeitherLostNorDoubledAcrossTasks() {
    var machine = listening(10)
    _ = machine.received(.hypothesis([untimed("turn on the")]), of: 1)
    _ = machine.received(.ended(.taskEnded(VoiceFailure(.engineFailed))), of: 1)
    // The end of the last word is a guess: the next task hears a little of it again.
    #expect(machine.heard(second, isSpeech: true) == [.startTask(generation: 2, from: Int64(9.6 * 16_000))])
    _ = machine.received(.hypothesis([timed("the lights", from: 0.1)]), of: 2)
    #expect(texts(machine.words) == ["turn", "on", "the", "lights"])
    #expect(zip(machine.words, machine.words.dropFirst()).allSatisfy { $0.end <= $1.start })
  }

  @Test func aWordThatWasReallySaidTwiceStays() {
    var machine = listening(10)
    _ = machine.received(.final([timed("very", from: 9)]), of: 1)
    _ = machine.heard(second, isSpeech: true)
    _ = machine.received(.hypothesis([timed("very good", from: 0)]), of: 2)
    #expect(texts(machine.words) == ["very", "very", "good"])
  }

  @Test func aFinalResultThatCameTooEarlyIsCompletedByAnotherTask() {
    var machine = listening(5)
    _ = machine.finishRequested(at: at(5))
    let actions = machine.received(.final([timed("turn on", from: 0)]), of: 1)
    #expect(actions == [.startTask(generation: 2, from: Int64(second)), .endAudio, .wait(until: at(10))])
    let final = result(machine.received(.final([timed("the lights", from: 1)]), of: 2))
    #expect(final.map { texts($0.words) } == ["turn", "on", "the", "lights"])
    #expect(final?.words.last?.end == .seconds(3))
  }

  @Test func onlyOneTaskIsAddedAtTheEnd() {
    var machine = listening(5)
    _ = machine.finishRequested(at: at(5))
    _ = machine.received(.final([timed("turn on", from: 0)]), of: 1)
    #expect(result(machine.received(.final([timed("x", from: 0)]), of: 2)) != nil)
  }

  @Test func finishingBetweenTwoTasksNeedsNoOtherIfNothingWasSaid() {
    var machine = listening(2)
    _ = machine.received(.final([timed("turn on", from: 1)]), of: 1)
    #expect(result(machine.finishRequested(at: at(2))).map { texts($0.words) } == ["turn", "on"])
  }

  @Test func finishingBetweenTwoTasksHearsWhatWasSaid() {
    var machine = listening(5)
    _ = machine.received(.final([timed("turn on", from: 0)]), of: 1)
    #expect(machine.finishRequested(at: at(5)).first == .startTask(generation: 2, from: Int64(second)))
  }

  @Test func noMoreAudioIsKeptThanTheLimit() {
    var machine = listening(100)
    #expect(machine.keepFrom == Int64(70 * second))
    _ = machine.received(.ended(.noSpeech), of: 1)
    #expect(machine.keepFrom == Int64(99.6 * 16_000))
  }

  // MARK: Hypotheses

  @Test func hypothesesThatBeginAnewAfterAPauseKeepWhatWasBefore() {
    var machine = listening(10)
    _ = machine.received(.hypothesis([timed("turn on the lights", from: 0)]), of: 1)
    _ = machine.received(.hypothesis([timed("and", from: 5)]), of: 1)
    _ = machine.received(.hypothesis([timed("and the fan", from: 5)]), of: 1)
    #expect(texts(machine.words) == ["turn", "on", "the", "lights", "and", "the", "fan"])
    // A final result of the whole replaces both.
    _ = machine.received(.final([timed("turn on the light and the fan", from: 0)]), of: 1)
    #expect(texts(machine.words) == ["turn", "on", "the", "light", "and", "the", "fan"])
  }

  @Test func wordsWithoutTimesArePlacedWhereTheAudioWas() {
    var machine = listening(2)
    _ = machine.received(.hypothesis([untimed("turn")]), of: 1)
    #expect(machine.words.first?.start == .milliseconds(1500))
    _ = machine.heard(2 * second, isSpeech: true)
    _ = machine.received(.hypothesis([untimed("turn on")]), of: 1)
    #expect(machine.words.map(\.start) == [.milliseconds(1500), .milliseconds(3500)])
    #expect(machine.words.last?.end == .seconds(4))
    #expect(machine.words.allSatisfy { $0.confidence == nil })
  }

  @Test func aSegmentOfSeveralWordsIsDividedByLetters() {
    var machine = listening(4)
    let segment = HeardTranscription.Segment(text: "New York,", start: 1.0, duration: 1.4, confidence: 0.8)
    _ = machine.received(.hypothesis([HeardTranscription(segments: [segment])]), of: 1)
    #expect(texts(machine.words) == ["new", "york"])
    #expect(machine.words[0].end == machine.words[1].start)
    #expect(machine.words[1].confidence == 0.8)
  }

  // MARK: Alternatives

  @Test func alternativesHaveTheConfidencesOfTheirSegments() {
    var machine = listening(2, speech: 1, alternatives: 1)
    _ = machine.finishRequested(at: at(2))
    let final = result(
      machine.received(
        .final([
          timed("write it", from: 0, confidence: 0.9), timed("right it", from: 0, confidence: 0.3),
          timed("ride it", from: 0),
        ]), of: 1))
    #expect(final?.alternatives.map { texts($0) } == [["right", "it"]])
    #expect(final?.alternatives.first?.map(\.confidence) == [0.3, 0.3])
  }

  @Test func alternativesOfSeveralTasksAreJoined() {
    var machine = listening(3, speech: 1, alternatives: 2)
    _ = machine.received(.final([timed("a", from: 0), timed("b", from: 0)]), of: 1)
    _ = machine.heard(second, isSpeech: true)
    _ = machine.finishRequested(at: at(4))
    let final = result(
      machine.received(.final([timed("c", from: 2.5), timed("d", from: 2.5), timed("e", from: 2.5)]), of: 2))
    #expect(final?.alternatives.map { texts($0) } == [["b", "d"], ["a", "e"]])
  }
}
