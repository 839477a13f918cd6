import Foundation
import Testing
import VoiceCore
import VoiceTesting

@testable import PocketSphinxRecognition

struct RNNoiseLibraryTests {
  private func failure(_ path: String) -> VoiceFailure? {
    do throws(VoiceFailure) {
      _ = try RNNoiseLibrary.load(path)
      return nil
    } catch {
      return error
    }
  }

  // MARK: What cannot be used

  @Test func aMissingLibraryIsNamed() {
    let failure = self.failure("/none-such.so")
    #expect(failure?.code == .engineLibraryMissing)
    #expect(failure?.message.contains("/none-such.so") == true)
    #expect(failure?.message.contains("VOICE_RNNOISE") == true)
  }

  @Test func aFileThatIsNoLibraryIsRefused() {
    #expect(self.failure("/tmp")?.code == .engineLibraryMissing)
    #expect(self.failure(Recording.folder + "/goforward.raw")?.code == .engineLibraryMissing)
  }

  @Test func anotherLibraryIsRefused() {
    let failure = self.failure("/usr/lib/x86_64-linux-gnu/libpocketsphinx.so.3")
    #expect(failure?.code == .engineLibraryMissing)
  }

  @Test func aLibraryWithOtherFramesIsRefused() async throws {
    try await withTemporaryFolder(named: "rnnoise") { folder in
      let failure = self.failure(try DelayLibrary.make(in: folder, frameSize: 441))
      #expect(failure?.code == .engineLibraryMissing)
      #expect(failure?.message.contains("441") == true)
    }
  }

  @Test(arguments: [0, -1]) func aLibraryThatGivesNoSpeechBackIsRefused(gain: Int) async throws {
    try await withTemporaryFolder(named: "rnnoise") { folder in
      let failure = self.failure(try DelayLibrary.make(in: folder, gain: gain))
      #expect(failure?.code == .engineLibraryUnsupported)
      #expect(failure?.message.contains("make setup-noise") == true)
    }
  }

  @Test func anEngineWithoutItsLibraryMakesNoRecognizer() throws {
    var configuration = try PocketSphinxEngine().configuration
    configuration.noiseLibrary = "/none-such.so"
    #expect(throws: VoiceFailure.self) {
      _ = try PocketSphinxEngine(configuration: configuration).makeRecognizer()
    }
  }

  // MARK: How late it is

  @Test(arguments: 0...4) func theDelayIsFoundOut(frames: Int) async throws {
    try await withTemporaryFolder(named: "rnnoise") { folder in
      let library = try RNNoiseLibrary.load(try DelayLibrary.make(in: folder, frames: frames))
      #expect(library.delay == 480 * frames)
    }
  }

  @Test func whatIsNotTheSoundHasNoDelay() {
    #expect(RNNoiseProbe.delay(of: []) == nil)
    #expect(RNNoiseProbe.delay(of: RNNoiseProbe.sound.map { _ in 0 }) == nil)
    #expect(RNNoiseProbe.delay(of: RNNoiseProbe.sound.map { _ in .nan }) == nil)
    #expect(RNNoiseProbe.delay(of: RNNoiseProbe.sound.reversed()) == nil)
  }
}
