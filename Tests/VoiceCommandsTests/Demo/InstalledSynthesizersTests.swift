import Foundation
import Testing
import VoiceCore
import VoiceTesting

@testable import VoiceCommands

/// With scripts of the shell in place of the synthesisers; they find no other program by its name alone.
@Suite(.timeLimit(.minutes(4)))
struct InstalledSynthesizersTests {
  private let rms = SynthesizedVoice(program: .flite, name: "rms")
  private let kal = SynthesizedVoice(program: .festival, name: "kal_diphone")

  private func withPrograms(
    _ programs: [String: String], clock: any VoiceClock = MonotonicClock(),
    _ body: (InstalledSynthesizers, URL) async throws -> Void
  ) async throws {
    try await withTemporaryFolder { folder in
      let bin = folder.appending(path: "bin")
      try FileManager.default.createDirectory(at: bin, withIntermediateDirectories: true)
      for (name, script) in programs {
        // Written by another process: a file that a child of this one has inherited open cannot be started.
        let write = #"printf '#!/bin/sh\n%s\n' "$1" > "$2" && /bin/chmod 700 "$2""#
        let outcome = try await ProgramRun.run(
          "/bin/sh", ["-c", write, "sh", script, bin.appending(path: name).path], environment: [:],
          output: folder.path + "/output.txt", patience: .seconds(20), clock: MonotonicClock())
        try #require(outcome.status == 0, "\(outcome.output)")
      }
      let synthesizers = InstalledSynthesizers(
        environment: ["PATH": "/none-such:\(bin.path)"], folder: folder.appending(path: "work").path,
        clock: clock)
      try await body(synthesizers, folder)
    }
  }

  private func failure(_ synthesizers: InstalledSynthesizers, _ voice: SynthesizedVoice, _ path: String)
    async -> VoiceFailure?
  {
    do throws(VoiceFailure) {
      try await synthesizers.speak("turn on", with: voice, to: path)
      return nil
    } catch {
      return error
    }
  }

  @Test func saysWhichCommandInstallsFliteIfItIsMissing() async throws {
    try await self.withPrograms([:]) { synthesizers, folder in
      let (voices, missing) = await synthesizers.voices()
      #expect(voices.isEmpty)
      #expect(missing.map(\.code) == [.fileNotFound])
      #expect(missing.first?.message.contains("sudo apt-get install flite") == true)
      #expect(await self.failure(synthesizers, self.rms, folder.path + "/a.wav")?.code == .fileNotFound)
    }
  }

  @Test func goesOnWithFestivalIfFliteIsMissing() async throws {
    try await self.withPrograms(["festival": "echo '(ked_diphone kal_diphone another)'"]) {
      synthesizers, _ in
      let (voices, missing) = await synthesizers.voices()
      #expect(voices.map(\.description) == ["festival kal_diphone", "festival ked_diphone"])
      #expect(missing.count == 1)
    }
  }

  @Test func aProgramThatFailsHasNoVoices() async throws {
    try await self.withPrograms(["flite": "echo rms slt; exit 1", "festival": "kill -9 $$"]) {
      synthesizers, _ in
      #expect(await synthesizers.voices().voices.isEmpty)
    }
  }

  @Test func aVoiceThatFailsIsNamed() async throws {
    try await self.withPrograms(["flite": "echo no such voice >&2; exit 3", "festival": "kill -9 $$"]) {
      synthesizers, folder in
      let first = try #require(await self.failure(synthesizers, self.rms, folder.path + "/a.wav"))
      #expect(first.code == .audioEmpty)
      #expect(first.message == "The voice rms of flite failed: status 3.")
      #expect(first.debugDescription.contains("no such voice"))
      let second = try #require(await self.failure(synthesizers, self.kal, folder.path + "/b.wav"))
      #expect(second.message.contains("status 137"))
    }
  }

  @Test func successWithoutAudioIsAFailure() async throws {
    try await self.withPrograms(["flite": "exit 0", "festival": "echo SIOD ERROR"]) { synthesizers, folder in
      let path = folder.path + "/a.wav"
      #expect(await self.failure(synthesizers, self.rms, path)?.message.contains("no audio") == true)
      let festival = await self.failure(synthesizers, self.kal, path)
      #expect(festival?.debugDescription.contains("SIOD ERROR") == true)
    }
  }

  @Test func aProgramThatDoesNotEndIsKilled() async throws {
    let clock = TestClock()
    try await self.withPrograms(["flite": "exec /bin/sleep 1000"], clock: clock) { synthesizers, folder in
      async let failure = self.failure(synthesizers, self.rms, folder.path + "/a.wav")
      clock.advance(to: await clock.nextTimer())
      #expect(await failure?.message.contains("status 137") == true)
    }
  }

  @Test func aProgramEndsWithTheTask() async throws {
    let clock = TestClock()
    try await self.withPrograms(["flite": "exec /bin/sleep 1000"], clock: clock) { synthesizers, folder in
      let task = Task { await self.failure(synthesizers, self.rms, folder.path + "/a.wav") }
      _ = await clock.nextTimer()
      task.cancel()
      #expect(await task.value?.message.contains("status 137") == true)
    }
  }

  @Test func tellsProgramsWhatToSay() async throws {
    let programs = [
      "flite": #"echo "$@" > "$6"; /usr/bin/head -c 2000 /dev/zero >> "$6""#,
      "festival":
        #"/usr/bin/head -c 2000 /dev/zero > "${0%/bin/festival}/b.wav"; /bin/cp "$2" "${0%/bin/festival}/script""#,
    ]
    try await self.withPrograms(programs) { synthesizers, folder in
      let path = folder.path + "/a.wav"
      try await synthesizers.speak("turn on the lights", with: self.rms, to: path)
      let heard = String(decoding: try Data(contentsOf: URL(filePath: path)), as: UTF8.self)
      #expect(heard.hasPrefix("-voice rms -t turn on the lights -o \(path)\n"))
      try await synthesizers.speak(#"say "a\b""#, with: self.kal, to: folder.path + "/b.wav")
      let script = try String(contentsOf: folder.appending(path: "script"), encoding: .utf8)
      #expect(script.hasPrefix("(voice_kal_diphone)\n"))
      #expect(script.contains(#"(Utterance Text "say \"a\\b\"")"#))
    }
  }
}
