package import SpeechUnderstanding
package import VoiceCore

/// Reads and writes the tar archives in which configurations travel (POSIX.1-2017, pax, "ustar Interchange Format").
///
/// Reading is strict, because archives come from outside: files at the top only, no links, no names that lead elsewhere,
/// sizes that fit, checksums that hold. Extended headers (pax) may give names and sizes; files other than `.yaml`, `.yml`,
/// `.sal` and `.csv` are left out, as the hosted service's tools do.
package enum TarArchive {
  private static let blockSize = 512
  /// The most entries that an archive may have.
  static let entryLimit = 1000

  /// The files of an archive.
  ///
  /// - Throws: ``VoiceFailure`` with `server.interface.archive-invalid`; the message names the entry.
  package static func files(in bytes: [UInt8]) throws(VoiceFailure) -> [ConfigurationFile] {
    var files: [ConfigurationFile] = []
    var names: Set<String> = []
    var extended = Extended()
    var offset = 0
    var entries = 0
    while true {
      guard bytes.count - offset >= self.blockSize else {
        throw self.invalid(
          offset == 0
            ? "It has \(bytes.count) bytes, less than the smallest archive."
            : "It ends after \(bytes.count) bytes, before the mark of its end.")
      }
      let block = bytes[offset..<offset + self.blockSize]
      if block.allSatisfy({ $0 == 0 }) { return files }
      entries += 1
      guard entries <= self.entryLimit else {
        throw self.invalid("It has more than \(self.entryLimit) entries.")
      }
      let header = try Header(block, at: offset)
      let size = extended.size ?? header.size
      let start = offset + self.blockSize
      guard size <= bytes.count - start else {
        throw self.invalid(
          "The entry “\(extended.name ?? header.name)” should have \(size) bytes, "
            + "but the archive ends \(bytes.count - start) bytes after its header.")
      }
      let content = bytes[start..<start + size]
      switch header.kind {
      case UInt8(ascii: "x"): extended = try Extended(content)
      // For all entries that follow: names and sizes never come this way.
      case UInt8(ascii: "g"): break
      case UInt8(ascii: "5"): extended = Extended()
      case UInt8(ascii: "0"), 0:
        let name = try self.name(of: extended.name ?? header.name)
        extended = Extended()
        guard self.isWanted(name) else { break }
        guard names.insert(name).inserted else { throw self.invalid("It holds the file “\(name)” twice.") }
        files.append(ConfigurationFile(name: name, bytes: Array(content)))
      case UInt8(ascii: "L"), UInt8(ascii: "K"):
        throw self.invalid("A name in it has more than 100 bytes.")
      default:
        throw self.invalid("The entry “\(extended.name ?? header.name)” is a link or a device, not a file.")
      }
      let padded = (size + self.blockSize - 1) / self.blockSize * self.blockSize
      guard padded <= bytes.count - start else {
        throw self.invalid("It ends within the entry “\(header.name)”.")
      }
      offset = start + padded
    }
  }

  /// Whether a file of a folder belongs into the archive of a configuration.
  package static func isWanted(_ name: String) -> Bool {
    // macOS puts files named ._app.yaml into archives, which hold attributes.
    guard !name.hasPrefix(".") else { return false }
    return [".yaml", ".yml", ".sal", ".csv"].contains { name.lowercased().hasSuffix($0) }
  }

  private static func name(of path: String) throws(VoiceFailure) -> String {
    var name = path[...]
    while name.hasPrefix("./") { name = name.dropFirst(2) }
    let parts = name.split(separator: "/", omittingEmptySubsequences: false)
    guard !name.hasPrefix("/"), !parts.contains(".."), !name.contains("\\") else {
      throw self.invalid("The name “\(path)” leads out of the archive.")
    }
    guard parts.count == 1, !name.isEmpty, name.utf8.count <= 200,
      name.unicodeScalars.allSatisfy({ $0.value >= 32 && $0.value != 127 })
    else {
      throw self.invalid(
        path.contains("/")
          ? "The file “\(path)” is in a folder. Put all files at the top of the archive."
          : "An entry has a name that no file can have.")
    }
    return String(name)
  }

  static func invalid(_ problem: String) -> VoiceFailure {
    VoiceFailure(.archiveInvalid, message: "The archive cannot be used. \(problem)")
  }
}

extension TarArchive {
  /// What a header block says.
  private struct Header {
    var name: String
    var size: Int
    var kind: UInt8

    init(_ block: ArraySlice<UInt8>, at offset: Int) throws(VoiceFailure) {
      let field = { (start: Int, count: Int) in block.dropFirst(start).prefix(count) }
      guard field(257, 5).elementsEqual("ustar".utf8) else {
        throw TarArchive.invalid(
          offset == 0 ? "It is not a tar archive." : "There is no header at byte \(offset).")
      }
      // The checksum counts its own field as blanks.
      let sum = block.reduce(0) { $0 + Int($1) }
      let own = field(148, 8).reduce(0) { $0 + Int($1) }
      guard let expected = Self.number(field(148, 8)), sum - own + 8 * 32 == expected else {
        throw TarArchive.invalid("The checksum of the header at byte \(offset) is wrong.")
      }
      guard let size = Self.number(field(124, 12)) else {
        throw TarArchive.invalid("The size in the header at byte \(offset) is not a number.")
      }
      guard let name = Self.text(field(0, 100)), let prefix = Self.text(field(345, 155)) else {
        throw TarArchive.invalid("The name in the header at byte \(offset) is not in UTF-8.")
      }
      self.size = size
      // Other programs than those that follow POSIX use the bytes of the prefix for times.
      let isPOSIX = field(257, 6).elementsEqual("ustar\0".utf8)
      self.name = isPOSIX && !prefix.isEmpty ? prefix + "/" + name : name
      self.kind = field(156, 1).first ?? 0
    }

    /// A number in octal digits, with blanks or zeros around them; 8 GB at most.
    private static func number(_ field: ArraySlice<UInt8>) -> Int? {
      let digits = field.drop { $0 == 32 }.prefix { $0 != 32 && $0 != 0 }
      guard !digits.isEmpty, digits.count <= 11, digits.allSatisfy({ (48...55).contains($0) }) else {
        return nil
      }
      return digits.reduce(0) { $0 * 8 + Int($1 - 48) }
    }

    private static func text(_ field: ArraySlice<UInt8>) -> String? {
      String(validating: field.prefix { $0 != 0 }, as: UTF8.self)
    }
  }

  /// What a pax header says of the entry that follows.
  private struct Extended {
    var name: String?
    var size: Int?

    init() {}

    /// Reads records of the form `LENGTH KEY=VALUE\n`.
    init(_ content: ArraySlice<UInt8>) throws(VoiceFailure) {
      let invalid = TarArchive.invalid("An extended header cannot be read.")
      var rest = content
      while !rest.isEmpty {
        let digits = rest.prefix { (48...57).contains($0) }
        guard (1...6).contains(digits.count) else { throw invalid }
        let length = digits.reduce(0) { $0 * 10 + Int($1 - 48) }
        let record = rest.prefix(length)
        guard length > digits.count + 2, record.count == length, record.last == 10,
          record[record.startIndex + digits.count] == 32,
          let text = String(validating: record.dropFirst(digits.count + 1).dropLast(), as: UTF8.self),
          let mark = text.firstIndex(of: "=")
        else { throw invalid }
        let value = String(text[text.index(after: mark)...])
        switch text[..<mark] {
        case "path": self.name = value
        case "size":
          guard let size = Int(value), size >= 0 else { throw invalid }
          self.size = size
        default: break
        }
        rest = rest.dropFirst(length)
      }
    }
  }
}
