import Foundation
import VoiceAudio

/// Sentences that a person read, without noise, as raw files at the rate of calls (mono, 48 kHz) in a temporary folder.
struct CallSpeech {
  private static let source = "/usr/share/pocketsphinx/test/data/librivox"
  private static let header = 44

  let folder: URL
  /// One of them.
  let sentence: String

  init() throws {
    self.folder = FileManager.default.temporaryDirectory.appending(path: "voice-bench-speech-\(getpid())")
    try FileManager.default.createDirectory(at: self.folder, withIntermediateDirectories: true)
    let names = try FileManager.default.contentsOfDirectory(atPath: Self.source)
      .filter { $0.hasSuffix(".wav") }.sorted()
    var paths: [String] = []
    for name in names {
      let data = try Data(contentsOf: URL(filePath: "\(Self.source)/\(name)")).dropFirst(Self.header)
      let file = self.folder.appending(path: name).deletingPathExtension().appendingPathExtension("raw")
      try Self.converted(data).withUnsafeBytes { try Data($0).write(to: file) }
      paths.append(file.path)
    }
    guard let sentence = paths.first else { throw CocoaError(.fileNoSuchFile) }
    self.sentence = sentence
  }

  func remove() { try? FileManager.default.removeItem(at: self.folder) }

  /// From 16 kHz.
  private static func converted(_ data: Data) throws -> [Int16] {
    let samples = data.withUnsafeBytes { bytes in
      bytes.bindMemory(to: Int16.self).map { Float($0) / 32_768 }
    }
    let resampler = try Resampler(from: 16_000, to: 48_000)
    var converted: [Float] = []
    samples.withUnsafeBufferPointer { resampler.process($0, into: &converted) }
    resampler.finish(into: &converted)
    return converted.map { Int16(max(-32_768, min(32_767, ($0 * 32_768).rounded()))) }
  }
}
