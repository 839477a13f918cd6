import Foundation
import Testing
import VoiceAudio
import VoiceCore

struct WAVFileSinkTests {
  @Test(arguments: ["/none-such-folder/a.wav", "/", "a\0b"])
  func namesAPlaceThatCannotBeWritten(path: String) async {
    let sink = WAVFileSink(path: path)
    do throws(VoiceFailure) {
      try await sink.write(AudioChunk(position: 0, samples: [1]))
      Issue.record("no failure")
    } catch {
      #expect(error.code == .fileNotWritable)
    }
  }

  @Test(
    .enabled(if: FileManager.default.fileExists(atPath: "/dev/full"), "needs a device that is always full"))
  func namesAFullDisk() async {
    let sink = WAVFileSink(path: "/dev/full")
    do throws(VoiceFailure) {
      for index in 0..<100 {
        try await sink.write(
          AudioChunk(position: Int64(index) * 16_000, samples: .init(repeating: 1, count: 16_000)))
      }
      Issue.record("no failure")
    } catch {
      #expect(error.code == .fileNotWritable)
    }
  }

  @Test func refusesAudioOfAnotherRateAndAfterTheEnd() async throws {
    let folder = try TemporaryFolder()
    let sink = WAVFileSink(path: folder.path + "/a.wav")
    await #expect(throws: VoiceFailure.self) {
      try await sink.write(AudioChunk(position: 0, samples: [1], sampleRate: 8_000))
    }
    try await sink.finish()
    try await sink.finish()
    await #expect(throws: VoiceFailure.self) { try await sink.write(AudioChunk(position: 0, samples: [1])) }
  }

  @Test func fillsGapsWithSilence() async throws {
    let folder = try TemporaryFolder()
    let path = folder.path + "/a.wav"
    let sink = WAVFileSink(path: path)
    try await sink.write(AudioChunk(position: 500, samples: [1, 2]))
    try await sink.write(AudioChunk(position: 505, samples: [3]))
    // Readable before the end: a recording survives the process.
    #expect(await Heard(AudioFileSource(path: path)).samples == [1, 2, 0, 0, 0, 3])
    try await sink.finish()
    let heard = await Heard(AudioFileSource(path: path))
    #expect(heard.samples == [1, 2, 0, 0, 0, 3])
    #expect(heard.notices.isEmpty)
  }

  @Test func aWrongPositionDoesNotFillTheDisk() async throws {
    let folder = try TemporaryFolder()
    let path = folder.path + "/a.wav"
    let sink = WAVFileSink(path: path)
    try await sink.write(AudioChunk(position: 0, samples: [1]))
    try await sink.write(AudioChunk(position: .max - 1, samples: [2]))
    try await sink.finish()
    #expect(
      try await AudioFileSource(path: path).information().duration == .seconds(600) + .microseconds(125))
  }
}
