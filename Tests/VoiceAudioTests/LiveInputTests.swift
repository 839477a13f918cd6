import Synchronization
import Testing
import VoiceAudio
import VoiceCore

struct LiveInputTests {
  @Test func refusesFormatsThatCannotBeConverted() {
    #expect(throws: VoiceFailure.self) { try LiveInput(sampleRate: 0, channels: 1, onStop: {}) }
    #expect(throws: VoiceFailure.self) { try LiveInput(sampleRate: 16_000, channels: 0, onStop: {}) }
  }

  @Test func deliversWhatWasRecordedBeforeTheDeviceBroke() async throws {
    let input = try LiveInput(sampleRate: 16_000, channels: 1, onStop: {})
    write([1, 2, 3], to: input)
    input.end(VoiceFailure(.inputDeviceLost))
    let heard = await Heard(input.makeCapture())
    #expect(heard.samples == [1, 2, 3])
    #expect(heard.failure?.code == .inputDeviceLost)
  }

  @Test func theFailureIsThrownOnce() async throws {
    let input = try LiveInput(sampleRate: 16_000, channels: 1, onStop: {})
    input.end(VoiceFailure(.inputDeviceLost))
    var iterator = input.makeCapture().makeAsyncIterator()
    await #expect(throws: VoiceFailure.self) { _ = try await iterator.next() }
    #expect(try await iterator.next() == nil)
  }

  @Test func tellsOfAnOverrunWhereItHappened() async throws {
    let input = try LiveInput(
      sampleRate: 16_000, channels: 1, bufferDuration: .milliseconds(100), onStop: {})
    write([Int16](repeating: 1, count: 1_600), to: input)
    write([Int16](repeating: 2, count: 800), to: input)
    let capture = input.makeCapture()
    var iterator = capture.makeAsyncIterator()
    guard case .chunk(let first) = try await iterator.next() else {
      Issue.record("no chunk")
      return
    }
    #expect(first.samples == [Int16](repeating: 1, count: 1_600))
    write([3], to: input)
    input.end()
    let rest = await Heard(capture)
    #expect(rest.notices.map(\.code) == [.inputOverrun])
    #expect(rest.notices.first?.message.contains("0.050 s") == true)
    #expect(rest.chunks == [AudioChunk(position: 2_400, samples: [3])])
  }

  @Test func tellsOfWhatTheDeviceLostAtTheVeryEnd() async throws {
    let input = try LiveInput(sampleRate: 48_000, channels: 2, onStop: {})
    input.skip(frames: 48_000)
    input.end()
    let heard = await Heard(input.makeCapture())
    #expect(heard.notices.first?.message.contains("1.000 s") == true)
  }

  @Test func tellsAnInterruptionFromAMachineThatWasTooSlow() async throws {
    let input = try LiveInput(sampleRate: 16_000, channels: 2, onStop: {})
    write([1, 1], to: input)
    input.interrupted(frames: 32_000)
    input.skip(frames: 8_000)
    write([2, 2], to: input)
    input.interrupted(frames: 1_600)
    input.end()
    let heard = await Heard(input.makeCapture())
    #expect(heard.notices.map(\.code) == [.inputInterrupted, .inputOverrun, .inputInterrupted])
    #expect(heard.notices.first?.message.contains("2.000 s") == true)
    #expect(heard.notices.dropFirst().first?.message.contains("0.500 s") == true)
    #expect(heard.chunks.last?.position == 40_001)
  }

  @Test func anInterruptionOfNoLengthIsNotTold() async throws {
    let input = try LiveInput(sampleRate: 16_000, channels: 1, onStop: {})
    input.interrupted(frames: 0)
    input.interrupted(frames: -5)
    write([1], to: input)
    input.end()
    #expect(await Heard(input.makeCapture()).notices.isEmpty)
  }

  @Test func mixesAndConvertsOnTheReadersSide() async throws {
    let input = try LiveInput(sampleRate: 48_000, channels: 2, onStop: {})
    let tone = Signals.sine16(1_000, rate: 48_000, count: 48_000)
    for start in stride(from: 0, to: 48_000, by: 480) {
      write(tone[start..<start + 480].flatMap { [$0, $0] }, to: input)
    }
    input.end()
    let heard = await Heard(input.makeCapture())
    #expect(heard.samples.count == 16_000)
    #expect(abs(Signals.measure(1_000, in: heard.samples[1_600..<14_400]).phase) < 0.004)
  }

  @Test func wakesAReaderThatWaits() async throws {
    let input = try LiveInput(sampleRate: 16_000, channels: 1, onStop: {})
    let capture = input.makeCapture()
    async let heard = Heard(capture)
    for _ in 0..<50 {
      write([Int16](repeating: 1, count: 160), to: input)
      await Task.yield()
    }
    input.end()
    #expect(await heard.samples.count == 8_000)
  }

  @Test func stopsTheDeviceWhenAskedAndWhenNobodyListens() async throws {
    let stops = Counter()
    let input = try LiveInput(sampleRate: 16_000, channels: 1, onStop: { stops.increment() })
    do {
      let capture = input.makeCapture()
      capture.stop()
      #expect(stops.value == 1)
    }
    #expect(stops.value == 2)
  }

  @Test func cancellationEndsTheWait() async throws {
    let input = try LiveInput(sampleRate: 16_000, channels: 1, onStop: {})
    let capture = input.makeCapture()
    let reader = Task { await Heard(capture) }
    reader.cancel()
    #expect(await reader.value.failure == nil)
  }

  private func write(_ samples: [Int16], to input: LiveInput) {
    samples.withUnsafeBufferPointer { input.write($0) }
  }

  private final class Counter: Sendable {
    private let count = Mutex(0)

    var value: Int { self.count.withLock { $0 } }

    func increment() {
      self.count.withLock { $0 += 1 }
    }
  }
}
