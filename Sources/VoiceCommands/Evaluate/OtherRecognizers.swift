import Foundation
import SpeechUnderstanding
import VoiceAudio
import VoiceCore

/// What another recogniser heard, read from a file.
struct HeardWords: EvaluationRecognizer {
  private let path: String
  private let words: [String: [String]]

  private struct Line: Decodable {
    var file: String
    var text: String
  }

  /// Reads lines `{"file": "clean/a.wav", "text": "turn on"}`.
  ///
  /// - Throws: ``VoiceFailure`` with code `audio.file.not-found` or `evaluation.labels.invalid`.
  init(path: String) throws(VoiceFailure) {
    guard let data = FileManager.default.contents(atPath: path) else {
      throw VoiceFailure(.fileNotFound, message: "\(path) cannot be read.")
    }
    var words: [String: [String]] = [:]
    for (index, line) in String(decoding: data, as: UTF8.self)
      .split(omittingEmptySubsequences: false, whereSeparator: \.isNewline).enumerated() where !line.isEmpty
    {
      guard let line = try? JSONDecoder().decode(Line.self, from: Data(line.utf8)) else {
        throw VoiceFailure(
          .labelsInvalid, message: "\(path):\(index + 1): this is not {\"file\": \"…\", \"text\": \"…\"}.")
      }
      words[line.file] = line.text.split(whereSeparator: \.isWhitespace).map(String.init)
    }
    self.path = path
    self.words = words
  }

  func prepare() async throws(VoiceFailure) {}

  func hear(_ audio: EvaluationAudio, app: EvaluationApp) async throws(VoiceFailure) -> EvaluationHearing {
    guard let words = self.words[audio.path] else {
      throw VoiceFailure(.labelsInvalid, message: "\(self.path) has no line for \(audio.path).")
    }
    let meaning =
      words.isEmpty
      ? nil : app.understanding.understand(words.joined(separator: " "), in: app.values)?.annotated
    return EvaluationHearing(words: words, meaning: meaning)
  }
}

/// Writes recordings as they are heard before it gives them on.
struct KeepingRecognizer: EvaluationRecognizer {
  let next: any EvaluationRecognizer
  let folder: String

  func prepare() async throws(VoiceFailure) { try await self.next.prepare() }

  func hear(_ audio: EvaluationAudio, app: EvaluationApp) async throws(VoiceFailure) -> EvaluationHearing {
    let file = URL(fileURLWithPath: self.folder).appending(path: audio.path)
    do {
      try FileManager.default.createDirectory(
        at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
    } catch {
      throw VoiceFailure(.fileNotWritable, message: "\(file.path) cannot be written.", cause: error)
    }
    let sink = WAVFileSink(path: file.path)
    try await sink.write(AudioChunk(position: 0, samples: try audio.resampled()))
    try await sink.finish()
    return try await self.next.hear(audio, app: app)
  }
}
