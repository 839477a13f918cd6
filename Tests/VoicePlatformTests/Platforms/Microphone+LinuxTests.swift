#if os(Linux)
  import Foundation
  import Testing
  import VoiceAudio
  import VoiceCore
  import VoicePlatform

  struct MicrophoneFailureTests {
    @Test(arguments: ["none-such", "hw:99", "plughw:99,7", "", "plug:{SLAVE={type none-such}}", "a\0b"])
    func namesADeviceThatIsNotThere(device: String) async {
      let failure = await self.failure(of: device)
      #expect(failure?.code == .noInputDevice, "\(String(describing: failure))")
    }

    @Test func keepsWhatALSAWouldHavePrintedForDevelopers() async {
      let failure = await self.failure(of: "none-such")
      #expect(failure?.message == "There is no microphone “none-such”.")
      #expect(failure?.debugDescription.contains("Unknown PCM none-such") == true)
    }

    @Test(.enabled(if: PulseServer.isInstalled, "needs ALSA's plugin for PulseAudio"))
    func saysThatTheSoundServerIsNotRunning() async throws {
      let failure = await self.failure(of: "plug:{SLAVE={type pulse server \"unix:/none/such\"}}")
      #expect(failure?.code == .noInputDevice)
      #expect(failure?.message.contains("sound server") == true)
    }

    @Test func listsDevicesWithLabels() async {
      for device in await Microphone.devices() {
        #expect(!device.name.isEmpty && !device.label.isEmpty)
        #expect(!device.label.contains("\n"))
      }
    }

    @Test(.enabled(if: PulseServer.isInstalled, "needs ALSA's plugin for PulseAudio"))
    func listsTheSoundServer() async {
      #expect(await Microphone.devices().contains { $0.name == "pulse" })
    }

    private func failure(of device: String) async -> VoiceFailure? {
      do throws(VoiceFailure) {
        _ = try await Microphone(device: device).capture()
        return nil
      } catch {
        return error
      }
    }
  }

  /// Real captures from a private sound server. One after the other, since each takes the time of its audio.
  @Suite(
    .serialized,
    .enabled(if: PulseServer.isInstalled, "needs pulseaudio, pulseaudio-utils and libasound2-plugins"))
  struct MicrophoneCaptureTests {
    @Test func hearsWhatIsPlayed() async throws {
      let server = try await PulseServer()
      let folder = try TemporaryFolder()
      let path = folder.path + "/tone.wav"
      let sink = WAVFileSink(path: path)
      // Silence around the tone: a sound server may cut the ends of a recording by some milliseconds.
      let tone = try await ConcatenatedSource([
        SilenceSource(duration: .milliseconds(200)),
        ToneSource(frequency: 1_000, amplitude: 0.5, duration: .seconds(1)),
        SilenceSource(duration: .milliseconds(400)),
      ]).capture()
      for try await case .chunk(let chunk) in tone { try await sink.write(chunk) }
      try await sink.finish()

      let capture = try await Microphone(device: server.device).capture()
      async let played: Void = server.play(path)
      var samples: [Int16] = []
      var position: Int64 = 0
      var isContinuous = true
      for try await event in capture {
        guard case .chunk(let chunk) = event else { continue }
        isContinuous = isContinuous && chunk.position == position
        position = chunk.endPosition
        samples += chunk.samples
        if let tone = Self.tone(in: samples), samples.count - tone.upperBound >= 4_800 { break }
      }
      capture.stop()
      try await played
      let heard = try #require(Self.tone(in: samples))
      #expect(isContinuous)
      #expect(abs(heard.count - 16_000) < 32, "\(heard.count) samples")
      let middle = samples[(heard.lowerBound + 1_600)..<(heard.upperBound - 1_600)]
      #expect(abs(Self.amplitude(of: 1_000, in: middle) - 0.5) < 0.02)
      #expect(Self.amplitude(of: 1_500, in: middle) < 0.01)
    }

    @Test func deliversWhatWasRecordedWhenTheDeviceIsUnplugged() async throws {
      let server = try await PulseServer()
      let (samples, failure) = try await self.record(from: server) { try await server.unplug() }
      #expect(failure?.code == .inputDeviceLost)
      #expect(samples > 0)
    }

    @Test func deliversWhatWasRecordedWhenTheSoundServerCrashes() async throws {
      let server = try await PulseServer()
      let (samples, failure) = try await self.record(from: server) { server.kill() }
      #expect(failure?.code == .inputDeviceLost)
      #expect(samples > 0)
    }

    @Test func stopReleasesTheDeviceAndKeepsWhatWasRecorded() async throws {
      let server = try await PulseServer()
      let microphone = Microphone(device: server.device)
      let capture = try await microphone.capture()
      var iterator = capture.makeAsyncIterator()
      #expect(try await iterator.next() != nil)
      #expect(try await server.recorderCount() == 1)
      capture.stop()
      while try await iterator.next() != nil {}
      #expect(try await server.recorderCount() == 0)

      // The device is free for the next capture.
      let again = try await microphone.capture()
      again.stop()
    }

    @Test func aCaptureThatNobodyReadsIsReleased() async throws {
      let server = try await PulseServer()
      do {
        _ = try await Microphone(device: server.device).capture()
      }
      // The capture thread ends within its waiting time; the server tells when.
      while try await server.recorderCount() > 0 {}
    }

    private func record(
      from server: PulseServer, until trouble: () async throws -> Void
    ) async throws -> (samples: Int, failure: VoiceFailure?) {
      let capture = try await Microphone(device: server.device).capture()
      var iterator = capture.makeAsyncIterator()
      var samples = 0
      var isFirst = true
      do throws(VoiceFailure) {
        while let event = try await iterator.next() {
          if case .chunk(let chunk) = event { samples += chunk.samples.count }
          guard isFirst else { continue }
          isFirst = false
          do { try await trouble() } catch { Issue.record(error) }
        }
        return (samples, nil)
      } catch {
        return (samples, error)
      }
    }

    /// From the first to the last loud sample.
    private static func tone(in samples: [Int16]) -> Range<Int>? {
      guard let first = samples.firstIndex(where: { abs(Int($0)) > 1_000 }),
        let last = samples.lastIndex(where: { abs(Int($0)) > 1_000 })
      else { return nil }
      return first..<last + 1
    }

    private static func amplitude(of frequency: Double, in samples: ArraySlice<Int16>) -> Double {
      var (sines, cosines) = (0.0, 0.0)
      for (index, sample) in samples.enumerated() {
        let angle = 2 * .pi * frequency * Double(index) / 16_000
        sines += sin(angle) * Double(sample)
        cosines += cos(angle) * Double(sample)
      }
      return hypot(sines, cosines) * 2 / Double(samples.count) / 32_768
    }
  }
#endif
