import AVFoundation
import Foundation
import Testing
import VoiceAudio
import VoiceCore
import VoicePlatform

extension AdapterTests {
  struct SpeakerTests {
    private let events: AsyncStream<StubAudio.Event>

    init() {
      self.events = StubAudio.shared.reset()
      AVCaptureDevice.status = .authorized
    }

    private func wait(
      for event: StubAudio.Event, times: Int = 1, _ iterator: inout AsyncStream<StubAudio.Event>.Iterator
    ) async {
      for _ in 0..<times { while let next = await iterator.next(), next != event {} }
    }

    private func post(_ name: Notification.Name, _ info: [String: UInt] = [:]) {
      NotificationCenter.default.post(name: name, object: nil, userInfo: info)
    }

    private func end(_ playback: SpeakerPlayback) async {
      playback.stop()
      _ = await playback.waitUntilEnded()
    }

    @Test func withoutAnOutputNothingStarts() async {
      StubAudio.shared.output = nil
      await #expect(throws: VoiceFailure(.noOutputDevice)) { try await Speaker().play() }
      StubAudio.shared.output = "receiver"
      StubAudio.shared.setFormat(sampleRate: 0, channels: 0)
      await #expect(throws: VoiceFailure(.noOutputDevice)) { try await Speaker().play() }
    }

    @Test func anEngineThatDoesNotStartIsAFailure() async {
      StubAudio.shared.refuse(times: 1)
      await #expect(throws: VoiceFailure(.outputDeviceFailed)) { try await Speaker().play() }
    }

    @Test func onlyThePreferredOutputIsThere() async {
      await #expect(throws: VoiceFailure.self) { try await Speaker(device: "other").play() }
      #expect(await Speaker.devices().map(\.label) == ["receiver"])
    }

    @Test func playsWhatIsWritten() async throws {
      var events = self.events.makeAsyncIterator()
      let playback = try await Speaker().play()
      #expect(AVAudioSession.sharedInstance().category == .playAndRecord)
      playback.write([Int16](repeating: 16_384, count: 2_880))
      // 60 ms are with the engine and 60 ms here.
      #expect(playback.delay > .milliseconds(100))
      await self.wait(for: .scheduled, times: 3, &events)
      for _ in 0..<3 {
        #expect(StubAudio.shared.playNext())
        await self.wait(for: .scheduled, &events)
      }
      let played = StubAudio.shared.played
      #expect(played.prefix(2_880).allSatisfy { $0 == 0 })
      #expect(played.dropFirst(2_880).allSatisfy { $0 == 0.5 })
      #expect(played.count == 5_760)
      await self.end(playback)
      #expect(playback.statistics.playedCount == 2_880)
    }

    @Test func theEndIsToldWhenAllWasPlayed() async throws {
      var events = self.events.makeAsyncIterator()
      let playback = try await Speaker().play()
      playback.write([Int16](repeating: 1, count: 960))
      async let failure = playback.finish()
      // The engine plays until it is stopped.
      while let event = await events.next(), event != .stopped {
        if event == .scheduled { _ = StubAudio.shared.playNext() }
      }
      #expect(await failure == nil)
      #expect(playback.statistics.playedCount == 960)
    }

    @Test func anInterruptionPausesAndGoesOn() async throws {
      var events = self.events.makeAsyncIterator()
      let playback = try await Speaker().play()
      await self.wait(for: .started, &events)
      self.post(AVAudioSession.interruptionNotification, [AVAudioSessionInterruptionTypeKey: 1])
      await self.wait(for: .paused, &events)
      self.post(
        AVAudioSession.interruptionNotification,
        [AVAudioSessionInterruptionTypeKey: 0, AVAudioSessionInterruptionOptionKey: 1])
      await self.wait(for: .started, &events)
      #expect(StubAudio.shared.engineCount == 1)
      await self.end(playback)
    }

    @Test func anInterruptionThatMustNotBeResumedIsALoss() async throws {
      var events = self.events.makeAsyncIterator()
      let playback = try await Speaker().play()
      self.post(AVAudioSession.interruptionNotification, [AVAudioSessionInterruptionTypeKey: 1])
      await self.wait(for: .paused, &events)
      self.post(AVAudioSession.interruptionNotification, [AVAudioSessionInterruptionTypeKey: 0])
      #expect(await playback.waitUntilEnded()?.code == .outputDeviceLost)
    }

    @Test func anEngineWhoseHardwareChangedIsReplacedAndGoesOnPlaying() async throws {
      var events = self.events.makeAsyncIterator()
      let playback = try await Speaker().play()
      await self.wait(for: .scheduled, times: 3, &events)
      StubAudio.shared.changeConfiguration()
      await self.wait(for: .started, &events)
      await self.wait(for: .scheduled, times: 3, &events)
      #expect(StubAudio.shared.engineCount == 2)
      #expect(playback.statistics.restartCount == 1)
      await self.end(playback)
    }

    @Test func withoutAnyOutputLeftThePlaybackIsLost() async throws {
      let playback = try await Speaker().play()
      StubAudio.shared.output = nil
      self.post(AVAudioSession.routeChangeNotification, [AVAudioSessionRouteChangeReasonKey: 2])
      #expect(await playback.waitUntilEnded()?.code == .outputDeviceLost)
    }

    @Test func theMicrophoneDoesNotHearALoudspeakerThatPlays() async throws {
      let playback = try await Speaker().play()
      let capture = try await EchoCancelledMicrophone(playback: playback).capture()
      #expect(StubAudio.shared.isVoiceProcessing)
      #expect(AVAudioSession.sharedInstance().category == .playAndRecord)
      capture.stop()
      await self.end(playback)
    }

    @Test func aMicrophoneThatRunsGetsAnotherEngineWhenALoudspeakerStarts() async throws {
      var events = self.events.makeAsyncIterator()
      let capture = try await Microphone().capture()
      await self.wait(for: .started, &events)
      #expect(!StubAudio.shared.isVoiceProcessing)
      let playback = try await Speaker().play()
      // The loudspeaker's engine and the microphone's new one.
      await self.wait(for: .started, times: 2, &events)
      #expect(StubAudio.shared.engineCount == 3)
      #expect(StubAudio.shared.isVoiceProcessing)
      capture.stop()
      await self.end(playback)
    }

    @Test func voiceProcessingThatIsRefusedIsTold() async throws {
      let playback = try await Speaker().play()
      StubAudio.shared.refuseVoiceProcessing()
      let failure = await #expect(throws: VoiceFailure.self) { try await Microphone().capture() }
      #expect(failure?.code == .inputDeviceFailed)
      await self.end(playback)
    }

    @Test func theSessionEndsWithItsLastUser() async throws {
      var events = self.events.makeAsyncIterator()
      let playback = try await Speaker().play()
      let capture = try await Microphone().capture()
      await self.end(playback)
      capture.stop()
      for try await _ in capture {}
      playback.stop()
      await self.wait(for: .deactivated, &events)
    }

    @Test func aPlaybackThatNobodyKeepsIsReleased() async throws {
      var events = self.events.makeAsyncIterator()
      _ = try await Speaker().play()
      await self.wait(for: .stopped, &events)
      await self.wait(for: .deactivated, &events)
    }
  }
}
