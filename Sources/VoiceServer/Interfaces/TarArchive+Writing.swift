package import SpeechUnderstanding
package import VoiceCore

extension TarArchive {
  /// An archive of files, the same for the same files.
  ///
  /// - Throws: ``VoiceFailure`` with `server.interface.archive-invalid` if a name is longer than 100 bytes.
  package static func archive(of files: [ConfigurationFile]) throws(VoiceFailure) -> [UInt8] {
    var bytes: [UInt8] = []
    for file in files {
      guard (1...100).contains(file.name.utf8.count) else {
        throw self.invalid("The name “\(file.name)” has more than 100 bytes.")
      }
      bytes += self.header(of: file)
      bytes += file.bytes
      bytes += [UInt8](repeating: 0, count: (512 - file.bytes.count % 512) % 512)
    }
    return bytes + [UInt8](repeating: 0, count: 1024)
  }

  private static func header(of file: ConfigurationFile) -> [UInt8] {
    var block = [UInt8](repeating: 0, count: 512)
    func put(_ text: String, at offset: Int) {
      for (index, byte) in text.utf8.enumerated() { block[offset + index] = byte }
    }
    func octal(_ number: Int, digits: Int) -> String {
      let text = String(number, radix: 8)
      return String(repeating: "0", count: max(0, digits - text.utf8.count)) + text
    }
    put(file.name, at: 0)
    put(octal(0o644, digits: 7), at: 100)
    put(octal(0, digits: 7), at: 108)
    put(octal(0, digits: 7), at: 116)
    put(octal(file.bytes.count, digits: 11), at: 124)
    put(octal(0, digits: 11), at: 136)
    put("        ", at: 148)
    put("0", at: 156)
    put("ustar", at: 257)
    put("00", at: 263)
    put(octal(block.reduce(0) { $0 + Int($1) }, digits: 6) + "\0 ", at: 148)
    return block
  }
}
