import Foundation
import VoiceAudio
import VoiceCore

/// A recording with the text that was read.
struct DemoRecording: Hashable, Sendable {
  var path: String
  /// How the samples are written, for a file without a header.
  var raw: RawAudioFormat?
  /// What it is, for people.
  var title: String
  var reference: String

  private static let folder = "/usr/share/pocketsphinx/test/data"

  /// A short command, in Debian's package `pocketsphinx-testdata`.
  static let command = DemoRecording(
    path: folder + "/goforward.raw", raw: RawAudioFormat(), title: "a command",
    reference: "go forward ten meters")

  /// A sentence from a book read for LibriVox, in the same package.
  static let sentence = DemoRecording(
    path: folder + "/librivox/sense_and_sensibility_01_austen_64kb-0870.wav", raw: nil,
    title: "a sentence from a book",
    reference:
      "and mister john dashwood had then leisure to consider how much there might be prudently in his power "
      + "to do for them")

  var isInstalled: Bool { FileManager.default.isReadableFile(atPath: self.path) }

  /// Checks that the recording is there.
  ///
  /// - Throws: ``VoiceFailure`` with `audio.file.not-found`, saying which command installs it.
  func check() throws(VoiceFailure) {
    guard self.isInstalled else {
      throw VoiceFailure(
        .fileNotFound,
        message: "The recordings for the demonstration are not installed. This command installs them: "
          + "sudo apt-get install pocketsphinx-testdata",
        recovery: .changeConfiguration("the packages of this machine"))
    }
  }

  /// How many samples at 16 kHz a client sends of it.
  func sampleCount() async throws(VoiceFailure) -> Int {
    let source: any AudioSource =
      if let raw { PipeSource(path: self.path, rawFormat: raw) } else { AudioFileSource(path: self.path) }
    var count = 0
    for try await event in try await source.capture() {
      if case .chunk(let chunk) = event { count += chunk.samples.count }
    }
    return count
  }
}
