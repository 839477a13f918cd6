import Foundation
import SpeechPipeline
import Testing
import VoiceCore
import VoiceTesting

@testable import SherpaOnnxRecognition

/// The model of `Support/sherpa-tiny-model`, to which a tone is a word, and the library that runs it.
enum TinyModel {
  static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent()
  static let script = root.appending(path: "Support/sherpa-tiny-model/make.py").path
  static let folder = root.appending(path: "Support/sherpa-tiny-model/model").path
  static let files = ["encoder.onnx", "decoder.onnx", "joiner.onnx", "tokens.txt", "bpe.vocab"]

  /// The library that `VOICE_SHERPA_ONNX` names, else that of the Python environment of the test peers.
  static func library() throws -> String {
    if let path = ProcessInfo.processInfo.environment[SherpaOnnxEngine.libraryVariable] { return path }
    return try self.peerLibrary()
  }

  static func peerLibrary() throws -> String {
    let versions = root.appending(path: ".peers/lib").path
    let names = (try? FileManager.default.contentsOfDirectory(atPath: versions)) ?? []
    let python = names.first { $0.hasPrefix("python3") }
    let path = "\(versions)/\(python ?? "python3")/site-packages/sherpa_onnx/lib/libsherpa-onnx-c-api.so"
    try #require(
      FileManager.default.fileExists(atPath: path),
      "There is no sherpa-onnx at \(path): run make setup-peers.")
    return path
  }

  static func engine(
    folder: String = Self.folder, search: SherpaOnnxEngine.Search = .greedy
  ) throws -> SherpaOnnxEngine {
    try SherpaOnnxEngine(library: Self.library(), modelFolder: folder, language: "en-US", search: search)
  }

  static let frequencies = ["one": 500.0, "two": 800, "three": 1250, "four": 2000, "five": 3000]

  /// A word, 0.24 s.
  static func tone(_ word: String, count: Int = 3840) -> [Int16] {
    let step = 2 * Double.pi * (frequencies[word] ?? 0) / 16_000
    return (0..<count).map { Int16(9830 * sin(step * Double($0))) }
  }

  static func silence(_ milliseconds: Int) -> [Int16] { [Int16](repeating: 0, count: 16 * milliseconds) }

  /// Words with pauses of a length before each.
  static func speech(_ words: [String], pause: Int = 150) -> [Int16] {
    words.flatMap { silence(pause) + tone($0) }
  }

  /// Calls a body with a copy of the model that it may break.
  static func withCopy<Value>(_ body: (URL) async throws -> Value) async throws -> Value {
    try await withTemporaryFolder(named: "sherpa-model") { folder in
      for file in files {
        try FileManager.default.copyItem(
          atPath: "\(Self.folder)/\(file)", toPath: folder.appending(path: file).path)
      }
      return try await body(folder)
    }
  }
}

extension Recognizer {
  /// Hears an utterance in blocks of some length.
  func hear(_ samples: [Int16], block: Int = 1600) throws {
    for start in stride(from: 0, to: samples.count, by: block) {
      _ = try samples[start..<min(start + block, samples.count)].withUnsafeBufferPointer {
        try self.process($0)
      }
    }
  }

  func recognize(
    _ samples: [Int16], block: Int = 1600, task: RecognitionTask = RecognitionTask()
  ) throws -> [RecognizedWord] {
    try self.begin(task)
    try self.hear(samples, block: block)
    return try self.finish(alternatives: 0).words
  }
}

/// The failure that a body throws.
func failure(of body: () throws -> Void) -> VoiceFailure? {
  do {
    try body()
    return nil
  } catch {
    return error as? VoiceFailure
  }
}
