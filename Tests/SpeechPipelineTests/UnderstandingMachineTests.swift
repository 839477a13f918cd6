import Foundation
import SpeechUnderstanding
import Testing
import VoiceTesting

@testable import SpeechPipeline

/// Interfaces of tests.
enum Home {
  static let text = """
    device = [lights | radio | coffee | coffee machine]
    room = [kitchen | living room]
    *turn_on turn on the $device(device) {in the $room(room)}
    *turn_off turn off the $device(device) {in the $room(room)}
    *volume set the volume to [1..40](level)
    """

  static let understanding = Result { () throws -> Understanding in
    let yaml =
      "lang: en-US\nentities:\n  - {name: level, type: number}\ntemplates: |\n"
      + Self.text.split(separator: "\n").map { "  \($0)\n" }.joined()
    let loaded = VoiceInterface.load(
      files: [ConfigurationFile(name: "home.yaml", bytes: Array(yaml.utf8))], packs: [EnglishPack()])
    let interface = try #require(loaded.interface, "\(loaded.rendered())")
    return try Understanding(interface, language: EnglishPack())
  }

  static func context(followsGrammar: Bool = false) throws -> ContextUnderstanding {
    let understanding = try Self.understanding.get()
    return ContextUnderstanding(
      understanding, values: ValueContext(now: Date(timeIntervalSince1970: 0), timeZone: .gmt),
      grammar: followsGrammar ? RecognitionGrammar(understanding.grammar) : nil)
  }
}

struct UnderstandingMachineTests {
  private let start = ResumePoint(sample: 0, adaptation: nil)

  private func machine() throws -> UnderstandingMachine {
    UnderstandingMachine(try Home.context(), start: self.start)
  }

  private func point(_ sample: Int64, repeated: Int = 0) -> ResumePoint {
    ResumePoint(sample: sample, adaptation: nil, repeatedSegments: repeated)
  }

  private func end(_ sample: Int64) -> SegmentSummary { SegmentSummary(resumePoint: self.point(sample)) }

  /// An event as a short line.
  private func lines(_ events: [RecognitionEvent]) -> [String] { events.map(\.line) }

  // MARK: While somebody speaks

  @Test func tellsWhatIsLikelyWithEachWord() throws {
    var machine = try self.machine()
    expectEqual(self.lines(machine.heard([], tail: words("turn"))), ["0 ~ turn"])
    expectEqual(self.lines(machine.heard([], tail: words("turn on"))), ["0 ~ turn on", "0 ~*turn_on"])
    expectEqual(
      self.lines(machine.heard([], tail: words("turn on the coffee"))),
      ["0 ~ turn on the coffee", "0 ~[coffee](device 3..<4)"])
    // The list replaces the one before.
    expectEqual(
      self.lines(machine.heard([], tail: words("turn on the coffee machine"))),
      ["0 ~ turn on the coffee machine", "0 ~[coffee machine](device 3..<5)"])
    expectEqual(
      self.lines(machine.heard([], tail: words("turn off the coffee machine"))),
      ["0 ~ turn off the coffee machine", "0 ~*turn_off"])
    expectEqual(
      self.lines(machine.heard([], tail: [])), ["0 ~ ", "0 ~[]", "0 ~*"])
  }

  @Test func repeatsNothing() throws {
    var machine = try self.machine()
    _ = machine.heard([], tail: words("turn on the lights"))
    expectEqual(machine.heard([], tail: words("turn on the lights")), [])
  }

  @Test func finalsComeAsSoonAsTheSentenceIsWhole() throws {
    var machine = try self.machine()
    let all = words("turn on the lights in the kitchen")
    _ = machine.heard([], tail: all)
    // "in the kitchen" may change, so what is final must be whole without it.
    expectEqual(
      self.lines(machine.heard(Array(all[..<3]), tail: Array(all[3...]))), ["0 turn", "0 on", "0 the"])
    expectEqual(
      self.lines(machine.heard([all[3]], tail: Array(all[4...]))),
      ["0 lights", "0 [lights](device 3..<4)", "0 *turn_on"])
    let rest = machine.endedUtterance(Array(all[4...]), isRejected: false, next: self.point(100))
    expectEqual(self.lines(rest), ["0 in", "0 the", "0 kitchen", "0 [kitchen](room 6..<7)"])
    expectEqual(self.lines(machine.endedPassage(self.end(100))), ["0 ended at 100"])
  }

  @Test func aValueThatMayGrowIsNotFinal() throws {
    var machine = try self.machine()
    let all = words("turn on the coffee machine")
    let early = machine.heard(Array(all[..<4]), tail: [])
    #expect(
      self.lines(early) == ["0 turn", "0 on", "0 the", "0 coffee", "0 *turn_on", "0 ~[coffee](device 3..<4)"])
    let late = machine.endedUtterance([all[4]], isRejected: false, next: self.point(100))
    #expect(self.lines(late) == ["0 machine", "0 [coffee machine](device 3..<5)", "0 ~[]"])
  }

  @Test func valuesAreInTheirNormalForm() throws {
    var machine = try self.machine()
    let events =
      machine.endedUtterance(words("set the volume to twenty five"), isRejected: false, next: self.point(1))
      + machine.endedPassage(self.end(1))
    #expect(self.lines(events).suffix(3) == ["0 [25](level 4..<6)", "0 *volume", "0 ended at 1"])
  }

  // MARK: Several intents

  @Test func aNewIntentBeginsASegment() throws {
    var machine = try self.machine()
    let all = words("turn on the lights turn off the radio")
    let hypothesis = machine.heard([], tail: all)
    #expect(
      self.lines(hypothesis) == [
        "0 ~ turn on the lights", "0 ~[lights](device 3..<4)", "0 ~*turn_on",
        "1 ~ turn off the radio", "1 ~[radio](device 3..<4)", "1 ~*turn_off",
      ])
    let final = machine.endedUtterance(all, isRejected: false, next: self.point(100))
    #expect(
      self.lines(final) == [
        "0 turn", "0 on", "0 the", "0 lights", "0 [lights](device 3..<4)", "0 *turn_on",
        "0 ended at 0, 1 again", "1 turn", "1 off", "1 the", "1 radio", "1 [radio](device 3..<4)",
        "1 *turn_off",
      ])
    #expect(self.lines(machine.endedPassage(self.end(100))) == ["1 ended at 100"])
  }

  @Test func aSegmentThatCameToNothingIsTakenBack() throws {
    var machine = try self.machine()
    _ = machine.heard([], tail: words("turn on the lights turn off the radio"))
    let events = machine.endedUtterance(words("turn on the lights"), isRejected: false, next: self.point(9))
    #expect(
      self.lines(events).suffix(3) == ["1 ~ ", "1 ~[]", "1 ~*"])
  }

  @Test func goesOnWhereAnUtteranceBeganIfASegmentEndedThere() throws {
    var machine = try self.machine()
    _ = machine.endedUtterance(words("turn on the lights"), isRejected: false, next: self.point(50))
    let events = machine.endedUtterance(
      words("turn off the radio turn on the coffee"), isRejected: false, next: self.point(90))
    #expect(
      self.lines(events).filter { $0.contains("ended") } == ["0 ended at 50", "1 ended at 50, 1 again"])
    #expect(self.lines(machine.endedPassage(self.end(100))).last == "2 ended at 100")
  }

  @Test func aWordThatIsFinalStaysInItsSegment() throws {
    var machine = try self.machine()
    // "uh" is told before it is known that a sentence begins with it, or not.
    _ = machine.heard(words("turn on the lights uh"), tail: [])
    let events = machine.endedUtterance(words("turn off the radio"), isRejected: false, next: self.point(9))
    #expect(self.lines(events).first == "0 ended at 0, 1 again")
    #expect(self.lines(events).contains("1 *turn_off"))
  }

  // MARK: Pauses and rejection

  @Test func aPauseInASentenceChangesNothing() throws {
    var machine = try self.machine()
    var events = machine.endedUtterance(words("turn on the"), isRejected: false, next: self.point(50))
    #expect(!self.lines(events).contains { $0.contains("0 *") })
    events += machine.endedUtterance(words("lights in the"), isRejected: false, next: self.point(80))
    events += machine.endedUtterance(words("kitchen"), isRejected: false, next: self.point(90))
    events += machine.endedPassage(self.end(100))
    #expect(
      self.lines(events).filter { $0.contains("(") || $0.contains("0 *") || $0.contains("ended") } == [
        "0 ~[lights](device 3..<4)", "0 [lights](device 3..<4)", "0 [kitchen](room 6..<7)", "0 *turn_on",
        "0 ended at 100",
      ])
  }

  @Test func rejectedWordsMeanNothing() throws {
    var machine = try self.machine()
    _ = machine.heard([], tail: words("turn on the lights"))
    let events =
      machine.endedUtterance(words("turn on the lights"), isRejected: true, next: self.point(50))
      + machine.endedPassage(self.end(100))
    #expect(
      self.lines(events) == [
        "0 turn", "0 on", "0 the", "0 lights", "0 ~[]", "0 ~*", "0 *", "0 ended at 100, rejected",
      ])
  }

  @Test func wordsThatTheGrammarDoesNotCoverMeanNothing() throws {
    var machine = try self.machine()
    let events =
      machine.endedUtterance(words("the weather is nice today"), isRejected: false, next: self.point(50))
      + machine.endedPassage(self.end(100))
    #expect(self.lines(events).suffix(2) == ["0 *", "0 ended at 100, rejected"])
    #expect(!self.lines(events).contains { $0.contains("(") })
  }

  @Test func whatIsRejectedBehindASentenceLeavesItAlone() throws {
    var machine = try self.machine()
    var events = machine.endedUtterance(words("turn on the lights"), isRejected: false, next: self.point(50))
    events += machine.endedUtterance(words("oh well"), isRejected: true, next: self.point(60))
    events += machine.endedUtterance(words("turn off the radio"), isRejected: false, next: self.point(70))
    events += machine.endedPassage(self.end(100))
    #expect(
      self.lines(events).filter { $0.contains("*") && !$0.contains("~") || $0.contains("ended") } == [
        "0 *turn_on", "0 ended at 50", "1 *", "1 ended at 60, rejected", "2 *turn_off", "2 ended at 100",
      ])
  }

  @Test func halvesThatWereRejectedAloneMeanSomethingTogether() throws {
    var machine = try self.machine()
    var events = machine.endedUtterance(words("turn on"), isRejected: true, next: self.point(50))
    events += machine.endedUtterance(words("the lights"), isRejected: true, next: self.point(60))
    events += machine.endedPassage(self.end(100))
    #expect(
      self.lines(events).suffix(3) == ["0 [lights](device 3..<4)", "0 *turn_on", "0 ended at 100"])
  }

  @Test func aSentenceThatIsWholeMayGoOnBehindAPause() throws {
    var machine = try self.machine()
    var events = machine.endedUtterance(words("turn on the coffee"), isRejected: false, next: self.point(50))
    #expect(self.lines(events).last == "0 ~[coffee](device 3..<4)")
    events = machine.endedUtterance(words("machine in the kitchen"), isRejected: true, next: self.point(60))
    events += machine.endedPassage(self.end(100))
    #expect(
      self.lines(events) == [
        "0 machine", "0 in", "0 the", "0 kitchen", "0 ~[]", "0 [coffee machine](device 3..<5)",
        "0 [kitchen](room 7..<8)", "0 ended at 100",
      ])
  }

  @Test func noiseTakesBackWhatWasShown() throws {
    var machine = try self.machine()
    _ = machine.heard([], tail: words("turn on the lights"))
    let events = machine.endedUtterance([], isRejected: true, next: self.point(50))
    #expect(self.lines(events) == ["0 ~ ", "0 ~[]", "0 ~*"])
    let next = machine.endedUtterance(words("turn on the radio"), isRejected: false, next: self.point(80))
    #expect(self.lines(next).last == "0 *turn_on")
  }

  @Test func speechWithoutEndCostsNoMoreThanItsWords() throws {
    var machine = try self.machine()
    var generator = SeededGenerator(seed: 1)
    let vocabulary = ["turn", "on", "the", "lights", "weather", "is", "nice", "uh", "", ",", "\u{0}"]
    var heard = 0
    for _ in 0..<200 {
      let some = (0..<5).map { _ in
        RecognizedWord(text: vocabulary.randomElement(using: &generator) ?? "", start: .zero, end: .zero)
      }
      let events = machine.heard(some, tail: [])
      heard += events.filter { if case .word = $0 { true } else { false } }.count
    }
    #expect(heard == 1000)
  }

  // MARK: Any events

  /// Random sentences, hypotheses that are revised, pauses, rejection: the rules of ``RecognitionEvent`` hold.
  @Test(arguments: 0..<12)
  func keepsTheRulesWhateverIsHeard(seed: UInt64) throws {
    var generator = SeededGenerator(seed: seed)
    let understanding = try Home.understanding.get()
    let values = ValueContext(now: .distantPast, timeZone: .gmt)
    var machine = try self.machine()
    var checker = EventChecker()
    for passage in 0..<10 {
      var passageHadWords = false
      for utterance in 0..<Int.random(in: 1...3, using: &generator) {
        var texts: [String] = []
        for _ in 0..<Int.random(in: 0...2, using: &generator) {
          texts += try understanding.sample(using: &generator, in: values).annotated.segments.flatMap {
            $0.words
          }
        }
        if Bool.random(using: &generator) { texts.insert("uh", at: 0) }
        if !texts.isEmpty, Int.random(in: 0..<4, using: &generator) == 0 {
          texts.replaceSubrange(0..<Int.random(in: 0...texts.count, using: &generator), with: ["what"])
        }
        let all = words(texts.joined(separator: " "))
        var final = 0
        for end in 0...all.count where Bool.random(using: &generator) {
          let committed = Int.random(in: final...max(final, end), using: &generator)
          var tail = Array(all[committed..<max(committed, end)])
          if Bool.random(using: &generator), !tail.isEmpty { tail[tail.count - 1].text = "turn" }
          checker.check(machine.heard(Array(all[final..<committed]), tail: tail))
          final = committed
        }
        passageHadWords = passageHadWords || !all.isEmpty
        checker.check(
          machine.endedUtterance(
            Array(all[final...]), isRejected: Int.random(in: 0..<4, using: &generator) == 0,
            next: self.point(Int64(passage * 10 + utterance + 1))))
      }
      if passageHadWords { checker.check(machine.endedPassage(self.end(Int64(passage * 10 + 10)))) }
      checker.expectNothingOpen()
    }
    #expect(checker.problems == [])
    #expect(checker.endedSegments > 0)
  }
}

/// Checks the rules of ``RecognitionEvent``.
struct EventChecker {
  private(set) var problems: [String] = []
  private(set) var endedSegments = 0
  private var wordCount = 0
  private var entities: [RecognizedEntity] = []
  private var hasIntent = false
  private var shown: [Int: Set<String>] = [:]

  mutating func check(_ events: [RecognitionEvent]) {
    for event in events { self.check(event) }
  }

  mutating func expectNothingOpen() {
    if self.wordCount > 0 { self.problems.append("segment \(self.endedSegments) is open") }
    if !self.shown.isEmpty { self.problems.append("\(self.shown) is not taken back") }
  }

  private mutating func show(_ what: String, _ isShown: Bool, _ segment: Int) {
    if isShown { self.shown[segment, default: []].insert(what) } else { self.shown[segment]?.remove(what) }
    if self.shown[segment]?.isEmpty == true { self.shown[segment] = nil }
  }

  private mutating func check(_ event: RecognitionEvent) {
    let isOpen = event.segment == self.endedSegments
    func expect(_ holds: Bool, _ rule: String) -> [String] { holds ? [] : ["\(rule): \(event.line)"] }
    self.problems += expect(event.segment >= self.endedSegments, "segment has ended")
    switch event {
    case .hypothesis(let segment, let first, let words):
      self.problems += expect(first == (isOpen ? self.wordCount : 0), "hypothesis begins elsewhere")
      self.show("words", !words.isEmpty, segment)
    case .word(_, let index, _):
      self.problems += expect(isOpen && index == self.wordCount, "word out of order")
      self.wordCount += 1
    case .tentativeEntities(let segment, let list):
      for entity in list {
        self.problems += expect(
          !isOpen || !self.entities.contains { $0.words == entity.words }, "entity is final")
        self.problems += expect(!entity.words.isEmpty && entity.words.lowerBound >= 0, "entity without words")
      }
      self.show("entities", !list.isEmpty, segment)
    case .entity(_, let entity):
      self.problems += expect(isOpen && entity.words.upperBound <= self.wordCount, "words are not final")
      self.problems += expect(!self.entities.contains { $0.words.overlaps(entity.words) }, "entities overlap")
      self.entities.append(entity)
    case .intent(let segment, let text, let isFinal):
      self.problems += expect(!(isOpen && self.hasIntent), "intent after the final one")
      self.problems += expect(isOpen || !isFinal, "final intent of a segment that is not open")
      if isFinal { self.hasIntent = true }
      self.show("intent", !isFinal && !text.isEmpty, segment)
    case .segmentEnded(let segment, let summary):
      self.problems += expect(isOpen && self.hasIntent && self.wordCount > 0, "segment cannot end")
      self.problems += expect(
        summary.resumePoint.repeatedSegments <= self.endedSegments + 1, "repeats too much")
      self.endedSegments += 1
      self.wordCount = 0
      self.entities = []
      self.hasIntent = false
      self.shown[segment] = nil
    }
  }
}

extension RecognitionEvent {
  /// A short form; `~` says that something may change.
  var line: String {
    func text(_ entity: RecognizedEntity) -> String { "[\(entity.value)](\(entity.type) \(entity.words))" }
    switch self {
    case .hypothesis(let segment, _, let words):
      return "\(segment) ~ " + words.map(\.text).joined(separator: " ")
    case .word(let segment, _, let word): return "\(segment) \(word.text)"
    case .tentativeEntities(let segment, let entities):
      return "\(segment) ~" + (entities.isEmpty ? "[]" : entities.map(text).joined(separator: " "))
    case .entity(let segment, let entity): return "\(segment) \(text(entity))"
    case .intent(let segment, let intent, let isFinal): return "\(segment) \(isFinal ? "" : "~")*\(intent)"
    case .segmentEnded(let segment, let summary):
      let again = summary.resumePoint.repeatedSegments
      return "\(segment) ended at \(summary.resumePoint.sample)" + (again > 0 ? ", \(again) again" : "")
        + (summary.isRejected ? ", rejected" : "")
    }
  }
}
