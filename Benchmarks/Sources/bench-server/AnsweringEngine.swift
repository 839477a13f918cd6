import SpeechPipeline
import VoiceCore

/// Hears nothing and says another word for every block, so that each message of 100 ms is answered by one small event.
struct AnsweringEngine: RecognitionEngine {
  let name = "answers"
  let capabilities = RecognitionCapabilities(languages: ["en-US"], detectsVoiceActivity: true)

  func makeRecognizer() throws(VoiceFailure) -> any Recognizer { AnsweringRecognizer() }
}

private final class AnsweringRecognizer: Recognizer {
  private var blocks = 0
  private var samples = 0

  let adaptation: RecognizerAdaptation? = nil
  let activityHangover: Duration = .zero

  func begin(_ task: RecognitionTask) throws(VoiceFailure) { self.samples = 0 }

  func process(_ samples: UnsafeBufferPointer<Int16>) throws(VoiceFailure) -> Bool? {
    self.blocks += 1
    self.samples += samples.count
    return true
  }

  func hypothesis() -> [RecognizedWord] {
    [
      RecognizedWord(
        text: self.blocks.isMultiple(of: 2) ? "right" : "left", start: .zero,
        end: .milliseconds(self.samples / 16))
    ]
  }

  func finish(alternatives: Int) throws(VoiceFailure) -> RecognitionResult {
    RecognitionResult(words: self.hypothesis())
  }

  func cancel() {}
}
