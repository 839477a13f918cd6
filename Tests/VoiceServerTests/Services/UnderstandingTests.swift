import Foundation
import SpeechPipeline
import SpeechProtocol
import SpeechUnderstanding
import Testing
import VoiceTesting

@testable import VoiceServer

/// Intents and entities over a real stream.
@Suite struct UnderstandingTests {
  typealias Word = ScriptedEngine.Word

  private let engine = ScriptedEngine(
    words: Word.sentence("turn on the lights turn off the radio tomorrow", at: .milliseconds(200))
      + Word.sentence("what a day", at: .seconds(4), isRejected: true),
    capabilities: RecognitionCapabilities(
      languages: ["en-US"], revisesAtEnd: true, detectsVoiceActivity: true, followsGrammars: true))

  static func interface(now: Date = Date(timeIntervalSince1970: 0)) throws -> ContextUnderstanding {
    let yaml = """
      silence_triggered_segmentation: 600
      entities:
        - {name: date, type: date}
      templates: |
        *turn_on turn on the [lights | radio](device)
        *turn_off turn off the [lights | radio](device) {$SPEECHLY.DATE(date)}
      """
    let loaded = VoiceInterface.load(
      files: [ConfigurationFile(name: "home.yaml", text: yaml)], packs: [EnglishPack()])
    let understanding = try Understanding(
      try #require(loaded.interface, "\(loaded.rendered())"), language: EnglishPack())
    return ContextUnderstanding(
      understanding, values: ValueContext(now: now, timeZone: .gmt),
      grammar: RecognitionGrammar(understanding.grammar))
  }

  private func responses(
    app: String = Fixture.appID, options: [String: String] = [:]
  ) async throws -> [Speechly_Slu_V1_SLUResponse] {
    let interface = try Self.interface()
    let engine = self.engine
    let demo = UUID(uuidString: Fixture.appID)
    return try await withServer(engine: engine, interface: { $0 == demo ? interface : nil }) { running in
      try await running.withClient { client in
        let (responses, error) = try await client.stream(token: try await client.logIn(app: app)) { stream in
          try await stream.send(Request.config(options: options), Request.start())
          try await stream.send(audio: [Int16](repeating: 0, count: 16_000 * 6))
        }
        #expect(error == nil)
        #expect(StreamingTests.violations(responses) == [])
        return responses
      }
    }
  }

  @Test func eachSegmentHasItsIntentAndEntities() async throws {
    let responses = try await self.responses()
    var intents: [Int32: String] = [:]
    var entities: [Int32: [String]] = [:]
    for response in responses {
      switch response.streamingResponse {
      case .intent(let intent): intents[response.segmentID] = intent.intent
      case .entity(let entity):
        entities[response.segmentID, default: []].append(
          "\(entity.entity)=\(entity.value) \(entity.startPosition)..<\(entity.endPosition)")
      default: break
      }
    }
    #expect(intents == [0: "turn_on", 1: "turn_off", 2: ""])
    #expect(entities == [0: ["device=lights 3..<4"], 1: ["device=radio 3..<4", "date=1970-01-02 4..<5"]])
    #expect(responses.segmentEnds.count == 3)
    #expect(responses.words.count == 12)
    // While it is spoken, too.
    #expect(responses.contains { $0.tentativeIntent.intent == "turn_off" && $0.segmentID == 1 })
    #expect(responses.contains { $0.tentativeEntities.tentativeEntities.map(\.value) == ["radio"] })
  }

  @Test func relativeDatesAreThoseOfTheClient() async throws {
    let responses = try await self.responses(options: ["timezone": "Pacific/Honolulu"])
    // When 1970 began in Greenwich, it was the 31st of December there.
    #expect(responses.contains { $0.entity.value == "1970-01-01" })
  }

  @Test func theClientsSilenceCountsBeforeThatOfTheConfiguration() async throws {
    let responses = try await self.responses(options: ["silence_triggered_segmentation": "0"])
    #expect(responses.segmentEnds.count == 3)
    #expect(responses.contains { $0.intent.intent == "turn_off" })
  }

  @Test func anAppWithoutAnInterfaceHasWords() async throws {
    let responses = try await self.responses(app: Fixture.siblingID)
    #expect(responses.words.count == 12)
    #expect(!responses.contains { !$0.intent.intent.isEmpty || !$0.entity.entity.isEmpty })
  }

  @Test func theVocabularyReachesTheRecogniser() async throws {
    _ = try await self.responses(options: ["vocabulary": "radio", "vocabulary_bias": "0.9"])
    #expect(self.engine.lastTask?.vocabulary == ["radio"])
    #expect(self.engine.lastTask?.vocabularyBias == 0.9)
  }
}
