#if os(Linux)
  import Foundation
  import VoiceAudio
  import VoiceCore

  /// The microphone through ALSA.
  enum PlatformMicrophone {
    static func capture(_ microphone: Microphone) async throws(VoiceFailure) -> AudioCapture {
      let stop = StopFlag()
      let result: Result<AudioCapture, VoiceFailure> = await withCheckedContinuation { continuation in
        DeviceThread.start(named: "microphone") {
          record(microphone, until: stop) { continuation.resume(returning: $0) }
        }
      }
      return try result.get()
    }

    static func devices() async -> [Microphone.Device] {
      await withCheckedContinuation { continuation in
        DeviceThread.start(named: "microphone list") {
          continuation.resume(
            returning: ALSADeviceList.devices(.input).map {
              Microphone.Device(name: $0.name, label: $0.label)
            })
        }
      }
    }

    /// The body of a capture thread: opens the device, reports it, and records until it is stopped or the device
    /// breaks.
    private static func record(
      _ microphone: Microphone, until stop: StopFlag,
      whenOpened report: (Result<AudioCapture, VoiceFailure>) -> Void
    ) {
      let device: ALSADevice
      let input: LiveInput
      do throws(VoiceFailure) {
        device = try ALSADevice.open(microphone.device)
        input = try LiveInput(
          sampleRate: device.sampleRate, channels: device.channels, chunkDuration: microphone.chunkDuration,
          onStop: { stop.raise() })
      } catch {
        return report(.failure(error))
      }
      let clock = microphone.clock
      var machine = ALSACaptureMachine(
        device: microphone.device, sampleRate: device.sampleRate, startedAt: clock.now)
      let buffer = UnsafeMutableBufferPointer<Int16>.allocate(capacity: device.periodFrames * device.channels)
      defer { buffer.deallocate() }
      report(.success(input.makeCapture()))

      // After a stop the device's buffer is read out; a device that never runs empty must not go on for ever.
      var framesLeftAfterStop = device.sampleRate
      /// Frees the device before the reader learns of the end, so that the reader may open it again.
      func end(_ failure: VoiceFailure? = nil) {
        device.close()
        input.end(failure)
      }

      var action = ALSACaptureMachine.Action.wait
      while true {
        switch action {
        case .read where framesLeftAfterStop <= 0:
          return end()
        case .wait where stop.isRaised:
          // Nothing was left to read: all that was recorded has been delivered.
          return end()
        case .wait:
          action = machine.waited(device.wait(), at: clock.now)
          if stop.isRaised, case .wait = action { action = .read }
        case .read:
          action = machine.read(device.read(into: buffer), at: clock.now)
        case .deliver(let frames, let missing):
          input.skip(frames: missing)
          input.write(UnsafeBufferPointer(rebasing: buffer.prefix(frames * device.channels)))
          if stop.isRaised { framesLeftAfterStop -= frames }
          action = .read
        case .restart where stop.isRaised:
          return end()
        case .restart:
          action = machine.restarted(device.restart())
        case .fail(let failure):
          return end(stop.isRaised ? nil : failure)
        }
      }
    }
  }
#endif
