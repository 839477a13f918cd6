#if os(Linux)
  import Foundation
  import Testing
  import VoiceAudio
  import VoiceCore
  import VoicePlatform

  struct SpeakerFailureTests {
    @Test(arguments: ["none-such", "hw:99", "plughw:99,7", "", "plug:{SLAVE={type none-such}}", "a\0b"])
    func namesADeviceThatIsNotThere(device: String) async {
      let failure = await self.failure(of: Speaker(device: device))
      #expect(failure?.code == .noOutputDevice, "\(String(describing: failure))")
    }

    @Test(arguments: [0, -1, 1, 10_000_000])
    func aRateThatCannotBeConvertedIsRefused(sampleRate: Int) async {
      let failure = await self.failure(of: Speaker(device: "null", sampleRate: sampleRate))
      #expect(failure?.code == .formatNotSupported)
    }

    @Test(.enabled(if: PulseServer.isInstalled, "needs ALSA's plugin for PulseAudio"))
    func saysThatTheSoundServerIsNotRunning() async throws {
      let failure = await self.failure(
        of: Speaker(device: "plug:{SLAVE={type pulse server \"unix:/none/such\"}}"))
      #expect(failure?.code == .noOutputDevice)
      #expect(failure?.message.contains("sound server") == true)
    }

    @Test(.enabled(if: PulseServer.isInstalled, "needs ALSA's plugin for PulseAudio"))
    func listsTheSoundServer() async {
      let devices = await Speaker.devices()
      #expect(devices.contains { $0.name == "pulse" })
      #expect(devices.allSatisfy { !$0.label.isEmpty && !$0.label.contains("\n") })
    }

    private func failure(of speaker: Speaker) async -> VoiceFailure? {
      do throws(VoiceFailure) {
        try await speaker.check()
        return nil
      } catch {
        return error
      }
    }
  }

  /// Playbacks into a file, which takes as fast as it is given.
  struct SpeakerFileTests {
    @Test(arguments: [1, 2])
    func everySampleArrivesOnceAndInOrder(channels: Int) async throws {
      let samples = (0..<9_600).map { Int16(truncatingIfNeeded: $0 % 20_000 + 1) }
      let file = try await self.play(samples, rate: 48_000, deviceRate: 48_000, channels: channels)
      for channel in 0..<channels {
        let heard = stride(from: channel, to: file.count, by: channels).map { file[$0] }
        #expect(heard.filter { $0 != 0 } == samples)
        let start = try #require(heard.firstIndex(of: 1))
        #expect(Array(heard[start..<min(heard.count, start + samples.count)]) == samples)
      }
    }

    @Test func anotherRateIsConverted() async throws {
      let samples = (0..<4_800).map { Int16(10_000 * sin(2 * .pi * 500 * Double($0) / 16_000)) }
      let file = try await self.play(samples, rate: 16_000, deviceRate: 44_100, channels: 1)
      let first = try #require(file.firstIndex { abs(Int($0)) > 200 })
      let last = try #require(file.lastIndex { abs(Int($0)) > 200 })
      #expect(abs(last - first - 13_230) < 100, "\(last - first) samples")
      #expect(abs(tone(500, in: file[(first + 500)..<(last - 500)], rate: 44_100) - 10_000) < 150)
    }

    @Test func anUnusedPlaybackEndsAtOnce() async throws {
      let playback = try await Speaker(device: "null").play()
      #expect(await playback.finish() == nil)
      playback.write([1, 2, 3])
      #expect(playback.statistics.writtenCount == 0)
      #expect(playback.delay == .zero)
    }

    @Test func whoWaitsForTheEndMayGiveUp() async throws {
      let playback = try await Speaker(device: "null").play()
      let waiting = Task { await playback.waitUntilEnded() }
      waiting.cancel()
      #expect(await waiting.value == nil)
      playback.stop()
      #expect(await playback.waitUntilEnded() == nil)
    }

    private func play(
      _ samples: [Int16], rate: Int, deviceRate: Int, channels: Int
    ) async throws -> [Int16] {
      let folder = try TemporaryFolder()
      let path = folder.path + "/out.raw"
      let slave =
        "{type plug slave {pcm {type file file \"\(path)\" format raw slave.pcm {type null}} "
        + "rate \(deviceRate) channels \(channels) format S16_LE}}"
      let playback = try await Speaker(
        device: "plug:{SLAVE=\(slave)}", sampleRate: rate, longestDelay: .seconds(5)
      ).play()
      playback.write(samples)
      #expect(await playback.finish() == nil)
      #expect(playback.statistics.playedCount == samples.count)
      let data = try Data(contentsOf: URL(fileURLWithPath: path))
      return stride(from: 0, to: data.count - 1, by: 2).map {
        Int16(bitPattern: UInt16(data[$0]) | UInt16(data[$0 + 1]) << 8)
      }
    }
  }

  /// Real playbacks on a private sound server. One after the other, since each takes the time of its audio.
  @Suite(
    .serialized,
    .enabled(if: PulseServer.isInstalled, "needs pulseaudio, pulseaudio-utils and libasound2-plugins"))
  struct SpeakerPlaybackTests {
    @Test func whatIsWrittenIsHeard() async throws {
      let server = try await PulseServer()
      let capture = try await Microphone(device: server.device).capture()
      let playback = try await Speaker(device: server.speaker, longestDelay: .seconds(5)).play()
      playback.write((0..<48_000).map { Int16(16_384 * sin(2 * .pi * 1_000 * Double($0) / 48_000)) })
      #expect(await playback.finish() == nil)
      #expect(playback.statistics.underrunCount == 0)
      #expect(playback.statistics.droppedCount == 0)

      var samples: [Int16] = []
      for try await case .chunk(let chunk) in capture {
        samples += chunk.samples
        if let last = samples.lastIndex(where: { abs(Int($0)) > 1_000 }), samples.count - last > 3_200 {
          break
        }
      }
      capture.stop()
      // A busy machine may let the sound server run empty for a moment, but nothing is lost or played twice.
      let blocks = stride(from: 0, to: samples.count - 160, by: 160).map { samples[$0..<$0 + 160] }
      let loud = blocks.filter { $0.contains { abs(Int($0)) > 8_000 } }
      #expect((99...110).contains(loud.count), "\(loud.count) blocks of 10 ms")
      let whole = loud.filter { abs(tone(1_000, in: $0, rate: 16_000) - 16_384) < 330 }
      #expect(whole.count > 80, "\(whole.count) blocks of 10 ms")
      #expect(whole.allSatisfy { tone(1_500, in: $0, rate: 16_000) < 330 })
    }

    @Test func theLossOfTheDeviceIsTold() async throws {
      let server = try await PulseServer()
      let playback = try await Speaker(device: server.speaker).play()
      playback.write([Int16](repeating: 0, count: 4_800))
      // At least what was just written waits: the device takes 10 ms at once.
      #expect(playback.delay >= .milliseconds(60))
      try await server.unplug()
      #expect(await playback.waitUntilEnded()?.code == .outputDeviceLost)
    }

    @Test func theCrashOfTheSoundServerIsTold() async throws {
      let server = try await PulseServer()
      let playback = try await Speaker(device: server.speaker).play()
      server.kill()
      #expect(await playback.waitUntilEnded()?.code == .outputDeviceLost)
      #expect(await playback.waitUntilEnded()?.code == .outputDeviceLost)
    }

    @Test func stopReleasesTheDevice() async throws {
      let server = try await PulseServer()
      let speaker = Speaker(device: server.speaker)
      let playback = try await speaker.play()
      #expect(try await server.playerCount() == 1)
      playback.stop()
      #expect(await playback.waitUntilEnded() == nil)
      #expect(try await server.playerCount() == 0)
      try await speaker.check()
    }

    @Test func aPlaybackThatNobodyKeepsIsReleased() async throws {
      let server = try await PulseServer()
      do {
        _ = try await Speaker(device: server.speaker).play()
      }
      // The playback thread ends within its waiting time; the server tells when.
      while try await server.playerCount() > 0 {}
    }
  }

  /// The amplitude of a frequency.
  private func tone(_ frequency: Double, in samples: ArraySlice<Int16>, rate: Double) -> Double {
    var (sines, cosines) = (0.0, 0.0)
    for (index, sample) in samples.enumerated() {
      let angle = 2 * .pi * frequency * Double(index) / rate
      sines += sin(angle) * Double(sample)
      cosines += cos(angle) * Double(sample)
    }
    return hypot(sines, cosines) * 2 / Double(samples.count)
  }
#endif
