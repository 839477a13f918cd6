import Synchronization
import Testing
import VoiceAudio
import VoiceCore

@testable import CallMedia

@Suite(.timeLimit(.minutes(4)))
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

  /// A recogniser that was more than 10 s behind was told that speech went on without a gap.
  @Test func tellsASlowListenerHowMuchItMissed() async throws {
    let audio = CallAudio()
    let frame = [Int16](repeating: 100, count: 960)
    audio.skip(48_000)
    let capture = try await audio.source.capture()
    for _ in 0..<1000 { audio.deliver(frame, concealed: 0) }
    audio.end()
    var first: Int64?
    var last: AudioChunk?
    for try await case .chunk(let chunk) in capture {
      first = first ?? chunk.position
      last = chunk
    }
    // 20 s were said, of which 10 s are there; the converter keeps less than a frame back.
    let begin = try #require(first)
    #expect((160_000...161_000).contains(begin))
    let end = try #require(last).position + Int64(try #require(last).samples.count)
    #expect((319_600...320_000).contains(end))
  }

  @Test func aListenerThatKeepsUpHearsNoGap() async throws {
    let audio = CallAudio()
    let capture = try await audio.source.capture()
    for _ in 0..<100 { audio.deliver([Int16](repeating: 100, count: 960), concealed: 0) }
    audio.end()
    var expected: Int64 = 0
    for try await case .chunk(let chunk) in capture {
      #expect(chunk.position == expected)
      expected += Int64(chunk.samples.count)
    }
    #expect(expected > 31_000)
  }
}
