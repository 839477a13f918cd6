#if os(Linux)
  import CALSA
  import Foundation
  import Synchronization
  import VoiceAudio
  import VoiceCore

  /// The microphone through ALSA.
  enum PlatformMicrophone {
    static func capture(_ microphone: Microphone) async throws(VoiceFailure) -> AudioCapture {
      let stop = StopFlag()
      let result: Result<AudioCapture, VoiceFailure> = await withCheckedContinuation { continuation in
        onThread(named: "microphone") {
          record(microphone, until: stop) { continuation.resume(returning: $0) }
        }
      }
      return try result.get()
    }

    static func devices() async -> [Microphone.Device] {
      await withCheckedContinuation { continuation in
        onThread(named: "microphone list") {
          continuation.resume(returning: listDevices())
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

    private static func listDevices() -> [Microphone.Device] {
      ALSAMessages.keepOnThisThread()
      var hints: UnsafeMutablePointer<UnsafeMutableRawPointer?>?
      guard snd_device_name_hint(-1, "pcm", &hints) == 0, let hints else { return [] }
      defer { snd_device_name_free_hint(hints) }
      var devices: [Microphone.Device] = []
      var next = hints
      while let hint = next.pointee {
        next += 1
        // No direction means both.
        guard let name = text(of: hint, "NAME"), text(of: hint, "IOID") ?? "Input" == "Input", name != "null"
        else { continue }
        let label = text(of: hint, "DESC")?.split(separator: "\n").joined(separator: ", ")
        devices.append(Microphone.Device(name: name, label: label ?? name))
      }
      return devices
    }

    private static func text(of hint: UnsafeMutableRawPointer, _ key: String) -> String? {
      guard let value = snd_device_name_get_hint(hint, key) else { return nil }
      defer { free(value) }
      return String(cString: value)
    }

    private static func onThread(named name: String, _ body: @escaping @Sendable () -> Void) {
      let thread = Thread(block: body)
      thread.name = name
      thread.start()
    }
  }

  /// Tells a capture thread to end.
  private final class StopFlag: Sendable {
    private let flag = Atomic<Bool>(false)

    var isRaised: Bool { self.flag.load(ordering: .acquiring) }

    func raise() {
      self.flag.store(true, ordering: .releasing)
    }
  }
#endif
