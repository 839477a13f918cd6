import CallMedia
import VoiceAudio
import VoiceCore
import VoicePlatform

/// The microphone and the loudspeaker of a call. A call goes on without one that is missing.
struct CallDevices: Hashable, Sendable {
  /// The microphone's name; `nil` for the system's preferred one.
  var microphone: String?

  /// Speaks and plays until the call is over, or the task is cancelled.
  ///
  /// - Parameter report: Takes what is missing or breaks, from any thread.
  func run(
    _ audio: CallAudio, clock: any VoiceClock, report: @escaping @Sendable (VoiceFailure) -> Void
  ) async {
    // Before the device is open, so that what is said meanwhile is only late.
    let frames = audio.frames
    let playback = await self.playback(clock: clock, report: report)
    await withTaskGroup(of: Void.self) { group in
      if let playback {
        group.addTask {
          for await frame in frames { playback.write(frame.samples) }
          playback.stop()
        }
        group.addTask {
          if let failure = await playback.waitUntilEnded() { report(failure) }
        }
      }
      group.addTask { await self.speak(audio, playback, clock: clock, report: report) }
      await group.waitForAll()
    }
  }

  private func playback(
    clock: any VoiceClock, report: (VoiceFailure) -> Void
  ) async -> SpeakerPlayback? {
    do throws(VoiceFailure) {
      return try await Speaker(clock: clock).play()
    } catch {
      report(error)
      return nil
    }
  }

  private func speak(
    _ audio: CallAudio, _ playback: SpeakerPlayback?, clock: any VoiceClock,
    report: (VoiceFailure) -> Void
  ) async {
    let microphone = Microphone(
      device: self.microphone ?? Microphone.defaultDevice, chunkDuration: .milliseconds(20), clock: clock)
    do {
      if let playback {
        try await audio.play(EchoCancelledMicrophone(microphone, playback: playback, clock: clock))
      } else {
        try await audio.play(microphone)
      }
    } catch let failure as VoiceFailure where failure.code != .callNotFound {
      report(failure)
    } catch {
      // The call is over, or the command.
    }
  }
}
