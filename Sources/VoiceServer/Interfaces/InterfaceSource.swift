import SpeechUnderstanding
import VoiceCore

/// The files of a configuration as they were sent.
struct InterfaceSource: Hashable, Sendable {
  /// How the files are packed.
  enum Form: String, Codable, Hashable, Sendable {
    /// One file, `app.yaml`.
    case yaml
    /// A tar archive of several.
    case tar
  }

  var form: Form
  var bytes: [UInt8]

  /// The name that the only file of a configuration without an archive has in diagnostics.
  static let fileName = "app.yaml"

  /// The files, without folders in their names.
  ///
  /// - Throws: ``VoiceFailure`` with `server.interface.archive-invalid` or `server.interface.too-large`.
  func files() throws(VoiceFailure) -> [ConfigurationFile] {
    switch self.form {
    case .yaml: [ConfigurationFile(name: Self.fileName, bytes: self.bytes)]
    case .tar: try TarArchive.files(in: self.bytes)
    }
  }
}
