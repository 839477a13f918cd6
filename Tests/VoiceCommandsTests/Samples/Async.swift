import Foundation
import SpeechStreaming
import VoiceAudio
import VoiceCore

func transcribe(_ path: String, with configuration: SpeechClient.Configuration) async throws -> String {
  try await withSpeechClient(configuration, source: AudioFileSource(path: path)) { client in
    let events = client.events
    client.start()
    for await event in events {
      switch event {
      case .segmentUpdated(let segment):
        print(segment.isFinal ? "heard:" : "hearing:", segment.text)
      case .failed(let failure):
        // Already being repaired if the recovery is automatic.
        print(failure.message, failure.recovery)
      case .finished(let context):
        return context?.text ?? ""
      default:
        break
      }
    }
    return ""
  }
}
