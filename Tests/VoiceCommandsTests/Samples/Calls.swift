import CallMedia
import Calls
import Foundation
import SpeechStreaming
import VoiceAudio
import VoiceCore

/// The sample of calls in README.md.
enum CallSamples {
  func understandCall(
    to destination: String, at gateway: URL, by configuration: SpeechClient.Configuration
  ) async throws {
    let client = TxClient()
    try client.connect(
      txConfig: TxConfig(sipUser: "alice", password: "…"),
      serverConfiguration: TxServerConfiguration(signalingServer: gateway))
    let call = try await client.call(destination)
    try await call.answered()
    // What the other side says is a source of audio, as a microphone is.
    try await withSpeechClient(configuration, source: call.audio.source) { speech in
      let events = speech.events
      speech.start()
      for await event in events {
        switch event {
        case .segmentUpdated(let segment): print(segment.intent.value, segment.text)
        case .finished: return  // the call is over
        default: break
        }
      }
    }
    let reason = try await call.ended()
    print("ended:", reason)
  }
}
