import Foundation
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
    let microphone = Microphone(device: server.device, chunkDuration: .milliseconds(20))
    let playback = try await Speaker(device: server.speaker, longestDelay: .seconds(10)).play()
    let plain = try await microphone.capture()
    let cancelled = try await EchoCancelledMicrophone(microphone, playback: playback).capture()
    var generator = Noise()
    playback.write((0..<48_000 * 5).map { _ in generator.next() })
    async let heard = self.samples(of: plain, count: 16_000 * 4)
    let remaining = try await self.samples(of: cancelled, count: 16_000 * 4)
    let echo = try await heard
    playback.stop()
    // The last second: by then the room is known.
    let loss = self.level(echo.suffix(16_000)) - self.level(remaining.suffix(16_000))
    print("Echo return loss enhancement on a sound server: \(loss.rounded()) dB")
    #expect(self.level(echo.suffix(16_000)) > 50)
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

  private func samples(of capture: AudioCapture, count: Int) async throws -> [Int16] {
    var samples: [Int16] = []
    var position: Int64 = 0
    for try await case .chunk(let chunk) in capture {
      #expect(chunk.position == position)
      position = chunk.endPosition
      samples += chunk.samples
      if samples.count >= count { break }
    }
    capture.stop()
    return samples
  }

  private func level(_ samples: ArraySlice<Int16>) -> Double {
    10 * log10(samples.reduce(1e-9) { $0 + Double($1) * Double($1) } / Double(max(1, samples.count)))
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
