import Foundation
import PocketSphinxRecognition
import SpeechPipeline
import Testing
import VoiceAudio
import VoiceCore
import VoiceTesting

/// Recordings and synthetic voices, and the one pool of real recognisers for all tests: loading is what takes long.
enum RealSpeech {
  static let pool: Result<RecognizerPool, any Error> = Result {
    RecognizerPool(engine: try PocketSphinxEngine(), size: 2)
  }

  static let folder = "/usr/share/pocketsphinx/test/data"

  /// The 16 kHz mono samples of a recording of the package pocketsphinx-testdata.
  static func recording(_ path: String) -> [Int16] {
    let file = FileManager.default.contents(atPath: "\(self.folder)/\(path)") ?? Data()
    return self.samples(path.hasSuffix(".wav") ? file.dropFirst(44) : file)
  }

  /// What flite says with a voice, at 16 kHz.
  static func flite(_ text: String, voice: String) throws -> [Int16] {
    let file = FileManager.default.temporaryDirectory.appending(path: "flite-\(UUID().uuidString).wav")
    defer { try? FileManager.default.removeItem(at: file) }
    let status = try RunningProgram("/usr/bin/flite", ["-voice", voice, "-t", text, "-o", file.path]).wait()
    try #require(status == 0)
    return self.samples(try Data(contentsOf: file).dropFirst(44))
  }

  /// Noise of a quiet room, the same each time.
  static func room(_ duration: Duration) -> [Int16] {
    var state: UInt32 = 12_345
    return (0..<Int(AudioChunk.sample(at: duration, sampleRate: 16_000))).map { _ in
      state = state &* 1_664_525 &+ 1_013_904_223
      return Int16(state >> 28) - 8
    }
  }

  private static func samples(_ bytes: Data) -> [Int16] {
    bytes.withUnsafeBytes { raw in
      (0..<raw.count / 2).map {
        Int16(littleEndian: raw.loadUnaligned(fromByteOffset: 2 * $0, as: Int16.self))
      }
    }
  }
}

/// A recording that is played again and again.
struct LoopedSource: AudioSource {
  let samples: [Int16]
  let times: Int

  func capture() async throws(VoiceFailure) -> AudioCapture {
    try await ConcatenatedSource((0..<self.times).map { _ in SamplesSource(samples: self.samples) }).capture()
  }
}
