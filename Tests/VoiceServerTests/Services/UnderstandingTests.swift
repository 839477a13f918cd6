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

  static let home = """
    lang: en-US
    silence_triggered_segmentation: 600
    entities:
      - {name: date, type: date}
    templates: |
      *turn_on turn on the [lights | radio](device)
      *turn_off turn off the [lights | radio](device) {$SPEECHLY.DATE(date)}
    """

  /// What a client hears whose app has the configuration.
  private func responses(
    options: [String: String] = [:]
  ) async throws -> [Speechly_Slu_V1_SLUResponse] {
    let folder = try Fixture.Folder()
    let path = "\(folder.path)/home.yaml"
    try Data(Self.home.utf8).write(to: URL(fileURLWithPath: path))
    var configuration = Fixture.configuration()
    configuration.apps[0].templates = path
    let responses = try await self.responses(configuration, app: Fixture.appID, options: options)
    withExtendedLifetime(folder) {}
    return responses
  }

  private func responses(
    _ configuration: ServerConfiguration, app: String, options: [String: String] = [:]
  ) async throws -> [Speechly_Slu_V1_SLUResponse] {
    // The second of January 1970 begins in Greenwich.
    try await withServer(configuration, engine: self.engine, now: { 86_400 }) { running in
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
    #expect(entities == [0: ["device=lights 3..<4"], 1: ["device=radio 3..<4", "date=1970-01-03 4..<5"]])
    #expect(responses.segmentEnds.count == 3)
    #expect(responses.words.count == 12)
    // While it is spoken, too.
    #expect(responses.contains { $0.tentativeIntent.intent == "turn_off" && $0.segmentID == 1 })
    #expect(responses.contains { $0.tentativeEntities.tentativeEntities.map(\.value) == ["radio"] })
  }

  @Test func relativeDatesAreThoseOfTheClient() async throws {
    let responses = try await self.responses(options: ["timezone": "Pacific/Honolulu"])
    // There it is the first of January still.
    #expect(responses.contains { $0.entity.value == "1970-01-02" })
  }

  @Test func theClientsSilenceCountsBeforeThatOfTheConfiguration() async throws {
    let responses = try await self.responses(options: ["silence_triggered_segmentation": "0"])
    #expect(responses.segmentEnds.count == 3)
    #expect(responses.contains { $0.intent.intent == "turn_off" })
  }

  @Test func anAppWithoutAnInterfaceHasWords() async throws {
    let responses = try await self.responses(Fixture.configuration(), app: Fixture.siblingID)
    #expect(responses.words.count == 12)
    #expect(!responses.contains { !$0.intent.intent.isEmpty || !$0.entity.entity.isEmpty })
  }

  @Test func theVocabularyReachesTheRecogniser() async throws {
    _ = try await self.responses(options: ["vocabulary": "radio", "vocabulary_bias": "0.9"])
    #expect(self.engine.lastTask?.vocabulary == ["radio"])
    #expect(self.engine.lastTask?.vocabularyBias == 0.9)
  }
}
