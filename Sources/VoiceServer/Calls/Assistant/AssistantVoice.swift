import CFlite
import Foundation
import PocketSphinxRecognition
import Synchronization
import VoiceCore

/// Speaks for the assistant.
protocol AssistantVoice: Sendable {
  /// Speaks a text.
  ///
  /// - Returns: Mono samples with their rate.
  /// - Throws: ``VoiceFailure`` with `audio.file.empty` if the voice fails.
  func speech(_ text: String) async throws(VoiceFailure) -> Speech
}

/// Mono samples.
struct Speech: Hashable, Sendable {
  var samples: [Int16]
  var sampleRate: Int
}

/// The voice *slt* of flite, which is loaded with its first sentence and stays.
///
/// Sentences are made one after the other on a thread of the voice's own, and short ones are kept: the assistant says the same
/// things to everybody.
final class FliteVoice: AssistantVoice {
  private static let longestKept = 80
  private static let mostKept = 64

  private let queue = DispatchQueue(label: "swift-voice.server.assistant.voice")
  private let kept = Mutex<[String: Speech]>([:])

  func speech(_ text: String) async throws(VoiceFailure) -> Speech {
    if let speech = self.kept.withLock({ $0[text] }) { return speech }
    let speech = await withCheckedContinuation { continuation in
      self.queue.async { continuation.resume(returning: Self.synthesize(text)) }
    }
    guard let speech else {
      throw VoiceFailure(
        .audioEmpty, message: "The voice of the assistant has said nothing.",
        recovery: .changeConfiguration("the package flite"))
    }
    if text.utf8.count <= Self.longestKept {
      self.kept.withLock { kept in
        if kept.count >= Self.mostKept { kept = [:] }
        kept[text] = speech
      }
    }
    return speech
  }

  private static func synthesize(_ text: String) -> Speech? {
    FliteLibrary.exclusively { () -> Speech? in
      // Both do nothing but the first time.
      _ = flite_init()
      guard let voice = register_cmu_us_slt(nil), let wave = flite_text_to_wave(text, voice) else {
        return nil
      }
      defer { delete_wave(wave) }
      let header = wave.pointee
      let count = Int(header.num_samples)
      guard let samples = header.samples, count > 0, header.num_channels == 1, header.sample_rate > 0 else {
        return nil
      }
      return Speech(
        samples: Array(UnsafeBufferPointer(start: samples, count: count)), sampleRate: Int(header.sample_rate)
      )
    }
  }
}
