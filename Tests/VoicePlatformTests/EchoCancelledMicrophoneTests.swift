import Foundation
import Synchronization
import Testing
import VoiceAudio
import VoiceCore
import VoicePlatform

/// The loudspeaker of a private sound server, whose microphone hears nothing but it.
@Suite(
  .serialized,
  .enabled(if: PulseServer.isInstalled, "needs pulseaudio, pulseaudio-utils and libasound2-plugins"))
struct EchoCancelledMicrophoneTests {
  @Test func doesNotHearWhatIsPlayed() async throws {
    let server = try await PulseServer()
    let heard = RecordedSource(Microphone(device: server.device, chunkDuration: .milliseconds(20)))
    let playback = try await Speaker(device: server.speaker, longestDelay: .seconds(10)).play()
    let capture = try await EchoCancelledMicrophone(heard, playback: playback).capture()
    var generator = Noise()
    var remaining: [Int16] = []
    var loss = 0.0
    for try await case .chunk(let chunk) in capture {
      #expect(chunk.position == Int64(remaining.count))
      remaining += chunk.samples
      if playback.delay < .seconds(1) { playback.write((0..<48_000).map { _ in generator.next() }) }
      if remaining.count.isMultiple(of: 1_600) {
        loss = self.loss(heard.samples.prefix(remaining.count).suffix(8_000), remaining.suffix(8_000))
      }
      // The devices need a moment until they tell their delays rightly, on a busy machine some seconds.
      if loss >= 15 || remaining.count > 16_000 * 30 { break }
    }
    capture.stop()
    playback.stop()
    print("Echo return loss enhancement on a sound server: \(loss.rounded()) dB")
    #expect(loss >= 15)
  }

  @Test func endsWithItsMicrophone() async throws {
    let server = try await PulseServer()
    let playback = try await Speaker(device: server.speaker).play()
    let microphone = Microphone(device: server.device, chunkDuration: .milliseconds(20))
    let capture = try await EchoCancelledMicrophone(microphone, playback: playback).capture()
    var iterator = capture.makeAsyncIterator()
    #expect(try await iterator.next() != nil)
    server.kill()
    await #expect(throws: VoiceFailure.self) {
      while try await iterator.next() != nil {}
    }
    #expect(try await iterator.next() == nil)
  }

  @Test func aMicrophoneThatIsNotThereIsToldAndNothingElse() async throws {
    let playback = try await Speaker(device: "null").play()
    let source = EchoCancelledMicrophone(Microphone(device: "none-such"), playback: playback)
    let failure = await #expect(throws: VoiceFailure.self) { try await source.capture() }
    #expect(failure?.code == .noInputDevice)
    await #expect(throws: VoiceFailure.self) { try await source.check() }
  }

  /// How much less is left of half a second that is all sound.
  private func loss(_ echo: ArraySlice<Int16>, _ remaining: ArraySlice<Int16>) -> Double {
    let parts = stride(from: echo.startIndex, to: echo.endIndex - 800, by: 800)
    guard echo.count == 8_000, parts.allSatisfy({ self.level(echo[$0..<$0 + 800]) > 55 }) else { return 0 }
    return self.level(echo) - self.level(remaining)
  }

  private func level(_ samples: ArraySlice<Int16>) -> Double {
    10 * log10(samples.reduce(1e-9) { $0 + Double($1) * Double($1) } / Double(max(1, samples.count)))
  }
}

/// A source that keeps what it delivers.
private final class RecordedSource: AudioSource {
  private let source: any AudioSource
  private let recorded = Mutex<[Int16]>([])

  init(_ source: any AudioSource) {
    self.source = source
  }

  var samples: [Int16] { self.recorded.withLock { $0 } }

  func capture() async throws(VoiceFailure) -> AudioCapture {
    let capture = try await self.source.capture()
    return AudioCapture(
      next: { () async throws(VoiceFailure) -> AudioEvent? in
        var iterator = capture.makeAsyncIterator()
        let event = try await iterator.next()
        if case .chunk(let chunk) = event { self.recorded.withLock { $0 += chunk.samples } }
        return event
      },
      stop: { capture.stop() })
  }
}

/// White noise, the same each time.
private struct Noise {
  private var state: UInt64 = 1

  mutating func next() -> Int16 {
    self.state = self.state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
    return Int16(truncatingIfNeeded: Int64(bitPattern: self.state) >> 48) / 8
  }
}
