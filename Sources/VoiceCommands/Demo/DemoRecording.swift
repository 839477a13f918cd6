import Foundation
import VoiceCore

/// A recording with the text that was read.
struct DemoRecording: Hashable, Sendable {
  var path: String
  var reference: String

  /// A sentence from LibriVox, in Debian's package `pocketsphinx-testdata`.
  static let standard = DemoRecording(
    path: "/usr/share/pocketsphinx/test/data/librivox/sense_and_sensibility_01_austen_64kb-0870.wav",
    reference: "and mister john dashwood had then leisure to consider how much there might be prudently in his power "
      + "to do for them")

  /// Checks that the recording is there.
  ///
  /// - Throws: ``VoiceFailure`` with `audio.file.not-found`, saying which command installs it.
  func check() throws(VoiceFailure) {
    guard FileManager.default.isReadableFile(atPath: self.path) else {
      throw VoiceFailure(
        .fileNotFound,
        message: "The recording for the demonstration is not installed. This command installs it: "
          + "sudo apt-get install pocketsphinx-testdata",
        recovery: .changeConfiguration("the packages of this machine"))
    }
  }
}
