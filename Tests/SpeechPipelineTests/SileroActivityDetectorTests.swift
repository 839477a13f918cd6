import Foundation
import Testing
import VoiceAudio
import VoiceCore

@testable import SpeechPipeline

struct SileroActivityDetectorTests {
  private static let environment = ProcessInfo.processInfo.environment
  private static let isInstalled =
    environment[SileroActivityDetector.libraryVariable] != nil
    && environment[SileroActivityDetector.modelVariable] != nil

  private func failure(library: String?, model: String?) -> VoiceFailure? {
    do throws(VoiceFailure) {
      _ = try SileroActivityDetector(library: library, model: model)
      return nil
    } catch {
      return error
    }
  }

  /// A library that is on every machine that runs this, and is not ONNX Runtime.
  private static let otherLibrary = ["/lib/x86_64-linux-gnu/libm.so.6", "/lib/aarch64-linux-gnu/libm.so.6"]
    .first { FileManager.default.fileExists(atPath: $0) }

  @Test func aMissingLibraryIsNamed() {
    let failure = failure(library: "/none-such.so", model: "/etc/hostname")
    #expect(failure?.code == .engineLibraryMissing)
    #expect(failure?.message.contains("/none-such.so") == true)
  }

  @Test func aMissingModelIsNamed() {
    let failure = failure(library: "/etc/hostname", model: "/none-such.onnx")
    #expect(failure?.code == .modelMissing)
    #expect(failure?.message.contains("/none-such.onnx") == true)
  }

  @Test func aFileThatIsNoLibraryIsRefused() {
    #expect(failure(library: "/etc/hostname", model: "/etc/hostname")?.code == .engineLibraryMissing)
  }

  @Test(.enabled(if: otherLibrary != nil)) func anotherLibraryIsRefused() {
    let failure = failure(library: Self.otherLibrary, model: "/etc/hostname")
    #expect(failure?.code == .engineLibraryMissing)
    #expect(failure?.message.contains("is not ONNX Runtime") == true)
  }

  @Test(.enabled(if: !isInstalled)) func withoutAPathTheVariableIsNamed() {
    #expect(failure(library: nil, model: "/etc/hostname")?.message.contains("VOICE_ONNXRUNTIME") == true)
  }

  @Test(.enabled(if: isInstalled)) func aFileThatIsNoModelIsInvalid() {
    #expect(failure(library: nil, model: "/etc/hostname")?.code == .modelInvalid)
  }

  @Test(.enabled(if: isInstalled)) func findsTheSpeechInARecording() throws {
    let path = "/usr/share/pocketsphinx/test/data/goforward.raw"
    let file = try #require(FileManager.default.contents(atPath: path))
    let recording = file.withUnsafeBytes { raw in
      (0..<raw.count / 2).map { raw.loadUnaligned(fromByteOffset: 2 * $0, as: Int16.self) }
    }
    let audio = [Int16](repeating: 0, count: 16_000) + recording + [Int16](repeating: 0, count: 16_000)
    let detector = try SileroActivityDetector()
    func run(block: Int) throws -> [Bool] {
      detector.reset()
      return try stride(from: 0, to: audio.count, by: block).map { start in
        try audio[start..<min(start + block, audio.count)].withUnsafeBufferPointer {
          try detector.process($0)
        }
      }
    }
    let speech = try run(block: 1600)
    let first = try #require(speech.firstIndex(of: true))
    let last = try #require(speech.lastIndex(of: true))
    // The first word starts 1.46 s into the audio, the last ends at 3.12 s; the hangover is 0.32 s.
    #expect((13...16).contains(first))
    #expect((30...36).contains(last))
    #expect(try run(block: 1600) == speech)
    #expect(detector.hangover == .milliseconds(320))
  }

  @Test func hysteresisHoldsThroughShortDips() {
    var hysteresis = SpeechHysteresis(onset: 0.5, offset: 0.3, hangover: 3)
    var states: [Bool] = []
    for probability in [0.4, 0.6, 0.2, 0.2, 0.4, 0.2, 0.2, 0.2, 0.4] {
      hysteresis.heard(probability)
      states.append(hysteresis.isSpeaking)
    }
    #expect(states == [false, true, true, true, true, true, true, false, false])
    hysteresis.heard(0.9)
    hysteresis.reset()
    #expect(!hysteresis.isSpeaking)
  }
}
