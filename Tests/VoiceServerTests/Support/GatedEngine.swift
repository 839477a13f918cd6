import Foundation
import SpeechPipeline
import VoiceCore

/// An engine that loads nothing until its gate is opened.
final class GatedEngine: RecognitionEngine {
  let name = "gated"
  let capabilities = RunEngine().capabilities
  private let gate = DispatchSemaphore(value: 0)

  func open() { self.gate.signal() }

  func makeRecognizer() throws(VoiceFailure) -> any Recognizer {
    self.gate.wait()
    self.gate.signal()
    return try RunEngine().makeRecognizer()
  }
}
