import AVFoundation
import Foundation
import Synchronization
import Testing
import VoiceAudio
import VoiceCore
import VoicePlatform

/// A clock that a test moves; its sleepers never wake.
private final class ManualClock: VoiceClock {
  private let time = Mutex(VoiceInstant())

  var now: VoiceInstant { self.time.withLock { $0 } }
  var minimumResolution: Duration { .nanoseconds(1) }

  func advance(by duration: Duration) { self.time.withLock { $0 = $0.advanced(by: duration) } }

  func sleep(until deadline: VoiceInstant, tolerance: Duration?) async throws {
    try await Task.sleep(for: .seconds(86_400))
  }
}

extension AdapterTests {
  struct MicrophoneTests {
    private let clock = ManualClock()
    private let events: AsyncStream<StubAudio.Event>

    init() {
      self.events = StubAudio.shared.reset()
      AVCaptureDevice.status = .authorized
      AVCaptureDevice.answer = .authorized
    }

    private func capture() async throws -> AudioCapture {
      try await Microphone(clock: self.clock).capture()
    }

    /// Waits until the declared classes were told something.
    private func wait(for event: StubAudio.Event, _ iterator: inout AsyncStream<StubAudio.Event>.Iterator)
      async
    {
      while let next = await iterator.next(), next != event {}
    }

    private func post(_ name: Notification.Name, _ info: [String: UInt] = [:]) {
      NotificationCenter.default.post(name: name, object: nil, userInfo: info)
    }

    /// Records a time.
    private func record(_ value: Float, milliseconds: Int) {
      self.clock.advance(by: .milliseconds(milliseconds))
      StubAudio.shared.deliver(value, frames: Int(StubAudio.shared.format.sampleRate) * milliseconds / 1000)
    }

    private struct Heard {
      var chunks: [AudioChunk] = []
      var notices: [VoiceFailure] = []
      var failure: VoiceFailure?

      init(_ capture: AudioCapture) async {
        do throws(VoiceFailure) {
          for try await event in capture {
            switch event {
            case .chunk(let chunk): self.chunks.append(chunk)
            case .notice(let notice): self.notices.append(notice)
            }
          }
        } catch {
          self.failure = error
        }
      }
    }

    @Test func aMicrophoneThatIsNotAllowedIsNotOpened() async {
      AVCaptureDevice.status = .notDetermined
      AVCaptureDevice.answer = .denied
      await #expect(throws: VoiceFailure(.microphoneDenied)) { try await capture() }
      #expect(StubAudio.shared.engineCount == 0)
    }

    @Test func withoutAnInputNothingStarts() async {
      StubAudio.shared.input = nil
      await #expect(throws: VoiceFailure(.noInputDevice)) { try await capture() }
      StubAudio.shared.input = "built-in"
      StubAudio.shared.setFormat(sampleRate: 0, channels: 0)
      await #expect(throws: VoiceFailure(.noInputDevice)) { try await capture() }
    }

    @Test func anEngineThatDoesNotStartIsAFailure() async {
      StubAudio.shared.refuse(times: 1)
      await #expect(throws: VoiceFailure(.inputDeviceFailed)) { try await capture() }
    }

    @Test func onlyThePreferredInputIsThere() async throws {
      await #expect(throws: VoiceFailure.self) { try await Microphone(device: "other").capture() }
      #expect(await Microphone.devices().map(\.name) == ["default"])
    }

    @Test func recordsMonoAtTheRateOfRecognition() async throws {
      let capture = try await capture()
      #expect(AVAudioSession.sharedInstance().category == .record)
      record(0.5, milliseconds: 1000)
      capture.stop()
      let heard = await Heard(capture)
      #expect(heard.failure == nil)
      #expect(heard.notices.isEmpty)
      let samples = heard.chunks.flatMap(\.samples)
      #expect(abs(samples.count - 16_000) < 200)
      #expect(abs(Int(samples[samples.count / 2]) - 16_384) < 400)
    }

    @Test func aCategoryOfTheAppThatRecordsStays() async throws {
      StubAudio.shared.category = .playAndRecord
      let capture = try await capture()
      capture.stop()
      _ = await Heard(capture)
      #expect(AVAudioSession.sharedInstance().category == .playAndRecord)
    }

    @Test func anInterruptionPausesAndIsToldWithItsLength() async throws {
      var events = self.events.makeAsyncIterator()
      let capture = try await capture()
      record(0.1, milliseconds: 1000)
      post(AVAudioSession.interruptionNotification, [AVAudioSessionInterruptionTypeKey: 1])
      await wait(for: .paused, &events)
      clock.advance(by: .seconds(3))
      post(
        AVAudioSession.interruptionNotification,
        [AVAudioSessionInterruptionTypeKey: 0, AVAudioSessionInterruptionOptionKey: 1])
      await wait(for: .started, &events)
      #expect(StubAudio.shared.engineCount == 1)
      record(0.2, milliseconds: 500)
      capture.stop()
      let heard = await Heard(capture)
      #expect(heard.failure == nil)
      #expect(heard.notices.map(\.code) == [.inputInterrupted])
      #expect(heard.notices.first?.message.contains("3.0") == true)
      let end = try #require(heard.chunks.last?.endPosition)
      #expect(abs(Int(end) - 72_000) < 400)
    }

    @Test func anInterruptionThatMustNotBeResumedEndsTheCapture() async throws {
      var events = self.events.makeAsyncIterator()
      let capture = try await capture()
      record(0.1, milliseconds: 100)
      post(AVAudioSession.interruptionNotification, [AVAudioSessionInterruptionTypeKey: 1])
      await wait(for: .paused, &events)
      post(AVAudioSession.interruptionNotification, [AVAudioSessionInterruptionTypeKey: 0])
      let heard = await Heard(capture)
      #expect(heard.failure?.code == .inputInterrupted)
      #expect(!heard.chunks.isEmpty)
    }

    @Test func aNotificationWithoutWhatItShouldSayIsIgnored() async throws {
      let capture = try await capture()
      post(AVAudioSession.interruptionNotification)
      post(AVAudioSession.interruptionNotification, [AVAudioSessionInterruptionTypeKey: 77])
      post(AVAudioSession.routeChangeNotification, [AVAudioSessionRouteChangeReasonKey: 77])
      capture.stop()
      #expect(await Heard(capture).failure == nil)
    }

    @Test func aHeadsetThatIsPulledOutWithNothingLeftEndsTheCapture() async throws {
      let capture = try await capture()
      record(0.1, milliseconds: 100)
      StubAudio.shared.input = nil
      post(AVAudioSession.routeChangeNotification, [AVAudioSessionRouteChangeReasonKey: 2])
      #expect(await Heard(capture).failure?.code == .inputDeviceLost)
    }

    @Test func anotherInputGetsAnotherEngineAtItsOwnRate() async throws {
      var events = self.events.makeAsyncIterator()
      let capture = try await capture()
      await wait(for: .started, &events)
      StubAudio.shared.input = "headset"
      StubAudio.shared.setFormat(sampleRate: 16_000, channels: 1)
      post(AVAudioSession.routeChangeNotification, [AVAudioSessionRouteChangeReasonKey: 1])
      await wait(for: .started, &events)
      #expect(StubAudio.shared.engineCount == 2)
      record(0.25, milliseconds: 500)
      capture.stop()
      let samples = await Heard(capture).chunks.flatMap(\.samples)
      #expect(abs(samples.count - 8_000) < 200)
    }

    @Test func servicesThatWereResetGetANewEngine() async throws {
      var events = self.events.makeAsyncIterator()
      let capture = try await capture()
      await wait(for: .started, &events)
      post(AVAudioSession.mediaServicesWereLostNotification)
      await wait(for: .paused, &events)
      post(AVAudioSession.mediaServicesWereResetNotification)
      await wait(for: .started, &events)
      #expect(StubAudio.shared.engineCount == 2)
      capture.stop()
      #expect(await Heard(capture).failure == nil)
    }

    @Test func anEngineWhoseHardwareChangedIsReplaced() async throws {
      var events = self.events.makeAsyncIterator()
      let capture = try await capture()
      await wait(for: .started, &events)
      StubAudio.shared.changeConfiguration()
      await wait(for: .stopped, &events)
      await wait(for: .started, &events)
      #expect(StubAudio.shared.engineCount == 2)
      capture.stop()
      #expect(await Heard(capture).failure == nil)
    }

    @Test func aCaptureThatNobodyKeepsReleasesTheMicrophone() async throws {
      var events = self.events.makeAsyncIterator()
      _ = try await capture()
      await wait(for: .stopped, &events)
      await wait(for: .deactivated, &events)
    }
  }
}
