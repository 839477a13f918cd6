import Synchronization
import Testing
import VoiceCore
import VoiceTesting

@testable import SpeechStreaming

@Suite(.timeLimit(.minutes(2))) struct SourceCaptureTests {
  @Test func aRecordingThatWasStoppedBeforeItBeginsOpensNothing() async {
    let source = ManualAudioSource()
    let run = SourceCapture(source: source).order()
    run.stop()
    let events = Mutex<[String]>([])
    await run.run { event in events.withLock { $0.append("\(event)") } }
    #expect(events.withLock { $0 } == ["ended"])
    #expect(source.captureCount == 0)
  }

  @Test func aStopIsForTheRecordingThatItWasMeantFor() async {
    let source = ManualAudioSource()
    let capture = SourceCapture(source: source)
    let first = capture.order()
    let second = capture.order()
    first.stop()
    await first.run { _ in }
    await withTaskGroup(of: Void.self) { group in
      group.addTask { await second.run { _ in } }
      await source.captureStarted()
      first.stop()
      #expect(source.isCapturing)
      second.stop()
    }
    #expect(source.captureCount == 1)
  }
}
