import Synchronization
import Testing
import VoiceAudio
import VoiceCore

@testable import CallMedia

@Suite(.timeLimit(.minutes(1)))
struct CallAudioTests {
  /// A source of a tenth of a second that tells when everything was read.
  private struct Recording: AudioSource {
    let isRead: AsyncStream<Void>.Continuation
    var isLive = false

    func capture() async throws(VoiceFailure) -> AudioCapture {
      let rest = Shared([AudioChunk(position: 0, samples: [Int16](repeating: 1000, count: 1_600))])
      let isRead = self.isRead
      return AudioCapture(
        isLive: self.isLive,
        next: { () async throws(VoiceFailure) in
          let chunk = rest.value.withLock { $0.popLast() }
          if chunk == nil { isRead.finish() }
          return chunk.map { .chunk($0) }
        }
      ) {}
    }
  }

  private final class Shared<Value: Sendable>: Sendable {
    let value: Mutex<Value>

    init(_ value: Value) { self.value = Mutex(value) }
  }

  /// `play` returned as if everything had been sent when the call ended while it waited.
  @Test func tellsThatTheCallEndedBeforeEverythingWasSent() async throws {
    let audio = CallAudio()
    let (end, isRead) = AsyncStream.makeStream(of: Void.self)
    let playing = Task { try await audio.play(Recording(isRead: isRead)) }
    for await _ in end {}
    audio.end()
    let failure = await #expect(throws: VoiceFailure.self) { try await playing.value }
    #expect(failure?.code == .callNotFound)
  }

  @Test func tellsThatALiveSourceIsPlayedAfterTheEndOfTheCall() async throws {
    let audio = CallAudio()
    audio.end()
    let (_, isRead) = AsyncStream.makeStream(of: Void.self)
    let failure = await #expect(throws: VoiceFailure.self) {
      try await audio.play(Recording(isRead: isRead, isLive: true))
    }
    #expect(failure?.code == .callNotFound)
  }

  @Test func hasPlayedEverythingOnceItWasTaken() async throws {
    let audio = CallAudio()
    let (end, isRead) = AsyncStream.makeStream(of: Void.self)
    let playing = Task { try await audio.play(Recording(isRead: isRead)) }
    for await _ in end {}
    let taking = Task {
      var frame: [Int16] = []
      while !Task.isCancelled {
        _ = audio.takeFrame(into: &frame, isHeard: true)
        await Task.yield()
      }
    }
    try await playing.value
    taking.cancel()
    await taking.value
    audio.end()
    #expect(audio.queued == .zero)
  }
}
