import Dispatch
import Foundation
import Testing
import VoiceCore
import VoiceTesting

@testable import SpeechStreaming

@Suite(.timeLimit(.minutes(2))) struct AudioRecorderTests {
  @Test func aStopRightAfterTheStartIsTheEnd() async {
    let source = ManualAudioSource()
    let listener = RecorderListener()
    let recorder = Self.recorder(source, listener)
    for _ in 0..<50 {
      try? recorder.start()
      recorder.stop()
      #expect(await listener.next() == "stopped")
      #expect(!source.isCapturing)
    }
  }

  @Test func aStartWhileTheRecorderStopsRecordsAgain() async throws {
    let source = ManualAudioSource()
    let listener = RecorderListener()
    let recorder = Self.recorder(source, listener)
    try recorder.start()
    recorder.stop()
    try recorder.start()
    #expect(await listener.next() == "stopped")
    await Self.opened(source)
    source.send([7])
    #expect(await listener.next() == "audio 2")
    #expect(source.isCapturing)
    recorder.stop()
    #expect(await listener.next() == "stopped")
    #expect(!source.isCapturing)
  }

  /// A recording that was given up may end only when the next one was asked for.
  @Test func aListenerHearsOfItsOwnRecordingAlone() async throws {
    let source = ManualAudioSource()
    let recorder = Self.recorder(source, RecorderListener())
    let first = RecorderListener()
    let second = RecorderListener()
    let third = RecorderListener()
    try recorder.start { first.hear($0) }
    recorder.stop()
    try recorder.start { second.hear($0) }
    recorder.stop()
    await second.ended()
    try recorder.start { third.hear($0) }
    await Self.opened(source)
    await first.ended()
    #expect(await third.next() == "started")
    source.skip(3, notice: VoiceFailure(.inputOverrun))
    #expect(await third.next()?.hasPrefix("noticed") == true)
    source.send([1])
    #expect(await third.next() == "audio at 3")
    recorder.stop()
    #expect(await third.next() == "ended")
    #expect(!source.isCapturing)
  }

  @Test func theLastWishCounts() async throws {
    let source = ManualAudioSource()
    let recorder = Self.recorder(source, RecorderListener())
    let (first, second, third) = (RecorderListener(), RecorderListener(), RecorderListener())
    try recorder.start { first.hear($0) }
    recorder.stop()
    try recorder.start { second.hear($0) }
    try recorder.suspend()
    await first.ended()
    await second.ended()
    #expect(!source.isCapturing)
    #expect(throws: VoiceFailure.self) { try recorder.start() }
    try recorder.resume()
    try recorder.start { third.hear($0) }
    await Self.opened(source)
    source.end()
    await third.ended()
    // A recording that has ended by itself leaves room for the next.
    try recorder.start()
    await Self.opened(source)
    #expect(source.isCapturing)
  }

  /// A recording that was stopped early may have been open, too.
  private static func opened(_ source: ManualAudioSource) async {
    while !source.isCapturing, !Task.isCancelled { await source.captureStarted() }
  }

  private static func recorder(_ source: ManualAudioSource, _ listener: RecorderListener) -> AudioRecorder {
    let recorder = AudioRecorder(
      source: source, audioQueue: DispatchQueue(label: "audio"),
      delegateQueue: DispatchQueue(label: "delegate"))
    recorder.delegate = listener
    return recorder
  }
}

private final class RecorderListener: AudioRecorderDelegate {
  private let stream: AsyncStream<String>
  private let continuation: AsyncStream<String>.Continuation

  init() { (self.stream, self.continuation) = AsyncStream.makeStream() }

  func next() async -> String? {
    var iterator = self.stream.makeAsyncIterator()
    return await iterator.next()
  }

  func ended() async {
    while let event = await self.next(), event != "ended" {}
  }

  func hear(_ event: CaptureEvent) {
    switch event {
    case .audio(let position, _): self.continuation.yield("audio at \(position)")
    case .started, .noticed, .ended, .failed: self.continuation.yield("\(event)")
    }
  }

  func audioRecorderDidCatchError(_: any AudioRecorderProtocol, error: any Error) {
    self.continuation.yield("error \(error)")
  }
  func audioRecorderDidReceiveData(_: any AudioRecorderProtocol, audioData: Data) {
    self.continuation.yield("audio \(audioData.count)")
  }
  func audioRecorderDidStop(_: any AudioRecorderProtocol) { self.continuation.yield("stopped") }
}
