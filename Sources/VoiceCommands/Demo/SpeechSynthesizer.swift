import VoiceCore

/// Somebody who speaks.
struct SynthesizedVoice: Hashable, Sendable, CustomStringConvertible {
  enum Program: String, Hashable, Sendable, CaseIterable {
    case flite
    case festival
  }

  var program: Program
  /// As the program names it.
  var name: String

  var description: String { "\(self.program.rawValue) \(self.name)" }
}

/// Makes recordings of sentences.
protocol SpeechSynthesizer: Sendable {
  /// Who can speak, and what is missing for more.
  func voices() async -> (voices: [SynthesizedVoice], missing: [VoiceFailure])

  /// Speaks a text into a WAV file.
  ///
  /// - Throws: ``VoiceFailure`` with `audio.file.empty` if the voice fails.
  func speak(_ text: String, with voice: SynthesizedVoice, to path: String) async throws(VoiceFailure)
}

/// Who speaks next: the voices take turns, and those that failed speak no more.
struct VoiceRotation: Hashable, Sendable {
  private var voices: [SynthesizedVoice]

  init(_ voices: [SynthesizedVoice]) {
    self.voices = voices
  }

  mutating func next() -> SynthesizedVoice? {
    guard !self.voices.isEmpty else { return nil }
    let voice = self.voices.removeFirst()
    self.voices.append(voice)
    return voice
  }

  mutating func failed(_ voice: SynthesizedVoice) {
    self.voices.removeAll { $0 == voice }
  }
}
