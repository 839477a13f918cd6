import Testing
import VoiceCore

@testable import VoiceCommands

/// The lines that scripts rely on: a change here breaks somebody.
struct EventObjectTests {
  private let segment = TranscriptSegment(
    contextId: "c", segmentId: 0, isFinal: true, intent: "turn_on",
    entities: [.init(type: "device", value: "lights", start: 3, end: 4)],
    words: [
      .init(text: "turn", start: 0.12, end: 0.30, confidence: 0.93, isFinal: true),
      .init(text: "on", start: 0.30, end: 0.41, confidence: nil, isFinal: true),
    ])

  @Test func aContextStarts() {
    #expect(
      EventObject.started(contextId: "c", source: "a.wav").text
        == #"{"event":"started","contextId":"c","source":"a.wav"}"#)
  }

  @Test func aSegmentHasItsWordsIntentAndEntities() {
    #expect(
      EventObject.segment(self.segment).text
        == #"{"event":"segment","final":true,"contextId":"c","segmentId":0,"text":"turn on","intent":"turn_on","#
        + #""entities":[{"type":"device","value":"lights","start":3,"end":4}],"#
        + #""words":[{"value":"turn","start":0.12,"end":0.3,"confidence":0.93},{"value":"on","start":0.3,"end":0.41}]}"#
    )
  }

  @Test func aSegmentWithoutUnderstandingHasEmptyFields() {
    let segment = TranscriptSegment(contextId: "c", segmentId: 7)
    #expect(
      EventObject.segment(segment).text
        == #"{"event":"segment","final":false,"contextId":"c","segmentId":7,"text":"","intent":"","entities":[],"words":[]}"#
    )
  }

  @Test func aContextFinishes() {
    #expect(
      EventObject.finished(contextId: "c", source: "-").text
        == #"{"event":"finished","contextId":"c","source":"-"}"#)
  }

  @Test func aFailureHasCodeMessageAndRecovery() {
    #expect(
      EventObject.failure(VoiceFailure(.noInputDevice)).text
        == #"{"event":"failure","code":"audio.input.no-device","message":"There is no microphone, or not the one asked for.","#
        + #""recovery":"change-configuration: the input device"}"#)
  }

  @Test func aWarningLooksLikeAFailure() {
    #expect(
      EventObject.warning(VoiceFailure(.wordUnpronounceable, message: "No.")).text
        == #"{"event":"warning","code":"speech.understanding.word-unpronounceable","message":"No.","#
        + #""recovery":"change-configuration: the templates, or the vocabulary"}"#)
  }

  @Test func aFailureThatIsBeingRepairedSaysWhen() {
    let failure = VoiceFailure(
      .connectionLost, message: "Lost.",
      recovery: .automatic(RetryState(attempt: 2, delay: .milliseconds(1234.5678))))
    #expect(
      EventObject.failure(failure).text
        == #"{"event":"failure","code":"network.connection.lost","message":"Lost.","recovery":"automatic: try 2 in 1.235 seconds"}"#
    )
  }
}
