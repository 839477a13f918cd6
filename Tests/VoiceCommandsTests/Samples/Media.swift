import CallMedia
import Calls
import VoiceAudio

/// The samples of docs/media.md.
enum MediaSamples {
  func greet(_ call: Call, with recording: String) async throws {
    try await call.answered()
    try await call.audio.play(AudioFileSource(path: recording))
    for await frame in call.audio.frames {
      print("heard \(frame.samples.count) samples, \(frame.concealed) of them made up")
    }
  }

  func call(_ exchange: (String) async throws -> String) async throws -> MediaSession {
    let engine = MediaEngine()
    let session = engine.makeSession(.init()) { event in print(event) }
    let answer = try await exchange(try await session.makeOffer())
    try await session.receivedAnswer(answer)
    return session
  }
}
