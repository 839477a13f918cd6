import SpeechPipeline
import SpeechUnderstanding
import Testing
import VoiceCore

@testable import VoiceTesting

struct ScriptedEngineTests {
  private let second = [Int16](repeating: 0, count: 16_000)

  private func hear(_ samples: [Int16], with recognizer: any Recognizer) throws -> Bool? {
    try samples.withUnsafeBufferPointer { try recognizer.process($0) }
  }

  @Test func failsWhereTheScriptSays() throws {
    let engine = ScriptedEngine(
      words: [],
      faults: [
        .init(.load, times: 2, code: .modelInvalid), .init(.process(at: .milliseconds(1500))), .init(.finish),
      ])
    #expect(throws: VoiceFailure(.modelInvalid, message: "The script says so.")) {
      try engine.makeRecognizer()
    }
    #expect(throws: VoiceFailure.self) { try engine.makeRecognizer() }
    let recognizer = try engine.makeRecognizer()
    try recognizer.begin(adaptation: nil)
    _ = try hear(self.second, with: recognizer)
    #expect(throws: VoiceFailure.self) { try self.hear(self.second, with: recognizer) }
    _ = try hear(self.second, with: recognizer)
    #expect(throws: VoiceFailure.self) { try recognizer.finish(alternatives: 0) }
    _ = try recognizer.finish(alternatives: 0)
    #expect(engine.recognizersMade == 1)
    #expect(engine.samplesHeard == 32_000)
  }

  @Test func guessesUntilTheEnd() throws {
    let engine = ScriptedEngine(words: [
      .init("turn", at: .milliseconds(100), guess: "learn"),
      .init("on", start: .milliseconds(900), end: .milliseconds(1200), confidence: 0.5),
    ])
    let recognizer = try engine.makeRecognizer()
    try recognizer.begin(adaptation: nil)
    #expect(recognizer.hypothesis().isEmpty)
    #expect(try hear(self.second, with: recognizer) == true)
    #expect(recognizer.hypothesis().map(\.text) == ["learn", "on"])
    #expect(try hear(self.second, with: recognizer) == false)
    let result = try recognizer.finish(alternatives: 0)
    #expect(result.words.map(\.text) == ["turn", "on"])
    #expect(result.words.map(\.confidence) == [nil, 0.5])
  }

  @Test func theScriptGoesOnWithTheAdaptation() throws {
    let engine = ScriptedEngine(words: [
      .init("one", at: .milliseconds(100)), .init("two", at: .milliseconds(1100)),
    ])
    let recognizer = try engine.makeRecognizer()
    try recognizer.begin(adaptation: nil)
    _ = try hear(self.second, with: recognizer)
    #expect(try recognizer.finish(alternatives: 0).words.map(\.text) == ["one"])
    try recognizer.begin(adaptation: recognizer.adaptation)
    _ = try hear(self.second, with: recognizer)
    let result = try recognizer.finish(alternatives: 0)
    #expect(result.words.map(\.text) == ["two"])
    #expect(result.words.first?.start == .milliseconds(100))
  }

  @Test func aGateHoldsTheRecogniser() async throws {
    let gate = EngineGate()
    let engine = ScriptedEngine(words: [.init("hello", at: .milliseconds(100))], gate: gate)
    let pool = RecognizerPool(engine: engine, size: 1)
    let context = try await pool.beginContext(ContextOptions(), patience: .seconds(600))
    async let events = context.append(self.second)
    await gate.reached(1)
    #expect(engine.samplesHeard == 0)
    gate.open()
    _ = try await events
    #expect(engine.samplesHeard == 16_000)
  }

  // MARK: Grammars

  private func result(
    of text: String, isRejected: Bool = false, follows: Bool = true, hearsFreeText: Bool = true
  ) throws -> RecognitionResult {
    let sal = ConfigurationFile(name: "app.sal", text: "*turn_on turn on the [lights | radio](device)\n")
    let interface = try #require(VoiceInterface.load(files: [sal], packs: [EnglishPack()]).interface)
    let grammar = RecognitionGrammar(try Understanding(interface, language: EnglishPack()).grammar)
    let engine = ScriptedEngine(
      words: ScriptedEngine.Word.sentence(text, at: .zero, isRejected: isRejected),
      hearsFreeText: hearsFreeText,
      capabilities: RecognitionCapabilities(
        languages: ["en-US"], detectsVoiceActivity: true, followsGrammars: follows))
    let recognizer = try engine.makeRecognizer()
    try recognizer.begin(RecognitionTask(grammar: grammar, vocabulary: ["radio"]))
    #expect(engine.lastTask?.vocabulary == ["radio"])
    _ = try hear(self.second + self.second, with: recognizer)
    return try recognizer.finish(alternatives: 0)
  }

  @Test func rejectsWhatTheGrammarDoesNotCover() throws {
    #expect(try !self.result(of: "turn on the lights").isRejected)
    #expect(try !self.result(of: "turn on").isRejected)
    #expect(try self.result(of: "hello there").isRejected)
    #expect(try self.result(of: "hello there").words.map(\.text) == ["hello", "there"])
    #expect(try self.result(of: "hello there", hearsFreeText: false).words == [])
    #expect(try !self.result(of: "hello there", follows: false).isRejected)
  }

  @Test func rejectsWhatTheScriptSays() throws {
    #expect(try self.result(of: "turn on the lights", isRejected: true).isRejected)
    #expect(try !self.result(of: "turn on the lights", isRejected: true, follows: false).isRejected)
  }
}
