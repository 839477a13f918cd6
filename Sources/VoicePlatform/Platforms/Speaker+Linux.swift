#if os(Linux)
  import Foundation
  import VoiceAudio
  import VoiceCore

  /// The loudspeaker through ALSA.
  enum PlatformSpeaker {
    static let cancelsEcho = false

    static func play(_ queue: PlaybackQueue, on speaker: Speaker) async throws(VoiceFailure) {
      let failure: VoiceFailure? = await withCheckedContinuation { continuation in
        DeviceThread.start(named: "loudspeaker") {
          play(queue, on: speaker) { continuation.resume(returning: $0) }
        }
      }
      if let failure { throw failure }
    }

    static func devices() async -> [Speaker.Device] {
      await withCheckedContinuation { continuation in
        DeviceThread.start(named: "loudspeaker list") {
          continuation.resume(
            returning: ALSADeviceList.devices(.output).map { Speaker.Device(name: $0.name, label: $0.label) })
        }
      }
    }

    /// The body of a playback thread: opens the device, fills it with silence, reports it, and plays until it is stopped or
    /// the device breaks.
    private static func play(
      _ queue: PlaybackQueue, on speaker: Speaker, whenOpened report: (VoiceFailure?) -> Void
    ) {
      let device: ALSAOutput
      var blocks: PlaybackBlocks
      do throws(VoiceFailure) {
        device = try ALSAOutput.open(speaker.device, preferredRate: speaker.sampleRate)
        blocks = try PlaybackBlocks(
          queue, sampleRate: device.sampleRate, channels: device.channels, frames: device.periodFrames)
      } catch {
        return report(error)
      }
      let clock = speaker.clock
      var machine = ALSAPlaybackMachine(
        device: speaker.device, sampleRate: device.sampleRate, bufferFrames: device.bufferFrames,
        startedAt: clock.now)

      // While the device is filled it takes faster than it plays: what is written then would not wait as long as it should.
      var framesUntilOpened: Int? = device.bufferFrames
      func opened(_ failure: VoiceFailure?) {
        guard framesUntilOpened != nil else { return }
        framesUntilOpened = nil
        report(failure)
      }
      /// Frees the device before others learn of the end, so that they may open it again.
      func end(_ failure: VoiceFailure? = nil) {
        device.close()
        queue.end(failure)
        opened(failure)
      }

      // After the last sample the device must take as much silence as it holds before that sample was heard.
      var framesUntilHeard: Int?
      var action = ALSAPlaybackMachine.Action.write
      while true {
        if queue.isStopped { return end() }
        switch action {
        case .wait:
          action = machine.waited(device.wait(), at: clock.now)
        case .rest:
          usleep(5_000)
          action = machine.rested(at: clock.now)
        case .write:
          if blocks.isEmpty {
            if let frames = framesUntilHeard {
              if frames <= 0 { return end() }
              framesUntilHeard = frames - device.periodFrames
            } else if queue.isDrained {
              framesUntilHeard = device.delayFrames() + blocks.delayFrames
            }
            let delay = AudioChunk.time(ofSample: Int64(device.delayFrames()), sampleRate: device.sampleRate)
            blocks.fill(heardAt: clock.now.advanced(by: delay), delay: delay)
          }
          let count = blocks.withUnsafeFrames { device.write($0) }
          if count > 0 { blocks.remove(frames: count) }
          if let frames = framesUntilOpened {
            framesUntilOpened = frames - max(0, count)
            if count == 0 || count == -Int(EAGAIN) || frames <= count { opened(nil) }
          }
          action = machine.wrote(count, at: clock.now)
        case .restart:
          queue.countRestart()
          action = machine.restarted(device.restart(), at: clock.now)
        case .fail(let failure):
          return end(failure)
        }
      }
    }
  }
#endif
