import Foundation
import SpeechStreaming
import VoiceCore

final class SpeechInput: SpeechClientDelegate {
  private let client: SpeechClient

  init(appId: UUID) throws {
    // Logged in and with a microphone when this returns; else it throws and says why.
    client = try SpeechClient(appId: appId, language: .enUS)
    client.delegate = self
  }

  func microphoneButtonPressed() { client.start() }
  func microphoneButtonReleased() { client.stop() }

  func speechlyClientDidUpdateSegment(_ client: any SpeechClientProtocol, segment: SpeechSegment) {
    print(segment.isFinal ? "heard:" : "hearing:", segment.text)
  }

  func speechlyClientDidFail(_ client: any SpeechClientProtocol, failure: VoiceFailure) {
    print(failure.message, failure.code, failure.recovery)
  }
}
