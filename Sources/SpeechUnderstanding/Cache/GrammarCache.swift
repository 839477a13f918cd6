import Foundation
public import VoiceCore

/// Keeps compiled grammars in a folder, so that a large one is compiled once and not at every start.
///
/// Files are named after a hash of what was compiled, and hold it too: a file is used only if its content is the same to the
/// last byte. A file that is damaged or not ours is ignored, reported and replaced; nothing in it is believed. Several
/// processes may share a folder, which should be writable by its user alone.
public struct GrammarCache: Hashable, Sendable {
  /// The folder; made when it is needed.
  public let folder: String
  /// The most that the files may hold together, in bytes; those that were not used for longest go first.
  public let maximumBytes: Int

  /// Where a grammar came from.
  public struct Outcome: Sendable {
    /// Where a grammar came from.
    public enum Source: Hashable, Sendable {
      /// From the folder.
      case loaded
      /// It was compiled, and is in the folder now.
      case stored
      /// It was compiled, and is not in the folder: see ``Outcome/problems``, or it is larger than all files may be together.
      case compiled
    }

    /// Where the grammar came from.
    public var source: Source
    /// What was wrong with the folder, with codes `speech.understanding.cache-damaged` and
    /// `speech.understanding.cache-not-writable`; the grammar is right all the same.
    public var problems: [VoiceFailure]
  }

  /// Creates a cache; nothing is read or written yet.
  public init(folder: String, maximumBytes: Int = 256 << 20) {
    self.folder = folder
    self.maximumBytes = max(0, maximumBytes)
  }

  static let fileExtension = "grammar"
  private static let mark = Array("swift-voice grammar\n".utf8)
  /// The form of the files.
  private static let version: UInt32 = 1

  /// The grammar of a program, from the folder or from the compiler.
  func grammar(
    for program: SALProgram, language: any LanguagePack, compile: () throws(GrammarFailure) -> Grammar
  ) throws(GrammarFailure) -> (Grammar, Outcome) {
    let content = program.encoded(for: language)
    let path = self.path(of: content)
    var outcome = Outcome(source: .compiled, problems: [])
    switch self.read(path, content: content) {
    case .grammar(let grammar):
      // Used now; where that cannot be written down, the file only goes earlier.
      try? FileManager.default.setAttributes([.modificationDate: Date()], ofItemAtPath: path)
      outcome.source = .loaded
      return (grammar, outcome)
    case .nothing: break
    case .damaged(let reason):
      outcome.problems.append(
        VoiceFailure(
          .cacheDamaged, message: "The compiled grammar \(path) \(reason). It was compiled again."))
    }
    let grammar = try compile()
    do throws(VoiceFailure) {
      if try self.write(grammar, content: content, to: path) { outcome.source = .stored }
    } catch {
      outcome.problems.append(error)
    }
    return (grammar, outcome)
  }

  func path(of content: [UInt8]) -> String {
    let name = content.withUnsafeBytes { ContentHash($0).hexadecimal }
    return "\(self.folder)/\(name).\(Self.fileExtension)"
  }

  // MARK: Files

  private enum Reading {
    case grammar(Grammar)
    case nothing
    case damaged(String)
  }

  private func read(_ path: String, content: [UInt8]) -> Reading {
    // Not following what the name may lead to, and not waiting for what is no file.
    guard let attributes = try? FileManager.default.attributesOfItem(atPath: path) else { return .nothing }
    guard attributes[.type] as? FileAttributeType == .typeRegular else { return .damaged("is no file") }
    let size = (attributes[.size] as? NSNumber)?.intValue ?? 0
    guard size <= self.maximumBytes else { return .damaged("is too large") }
    guard let file = FileManager.default.contents(atPath: path) else { return .damaged("cannot be read") }
    return file.withUnsafeBytes { Self.decode($0, content: content) }
  }

  private static func decode(_ bytes: UnsafeRawBufferPointer, content: [UInt8]) -> Reading {
    var reader = ByteReader(bytes)
    guard let mark = reader.read(self.mark.count), mark.elementsEqual(self.mark) else {
      return .damaged("is something else")
    }
    guard let version = reader.number(), let checksum = reader.longNumber(),
      let rest = reader.read(reader.rest)
    else { return .damaged("is cut off") }
    // Written by another release, which is nothing to report.
    guard version == self.version else { return .nothing }
    guard ContentHash(rest).number == checksum else { return .damaged("is damaged") }
    var body = ByteReader(rest)
    guard let length = body.longNumber().flatMap(Int.init(exactly:)), let own = body.read(length) else {
      return .damaged("is damaged")
    }
    guard content.withUnsafeBytes({ Self.areEqual($0, own) }) else { return .nothing }
    guard let bytes = body.read(body.rest), let grammar = Grammar(decoding: bytes) else {
      return .damaged("holds no grammar")
    }
    return .grammar(grammar)
  }

  private static func areEqual(_ left: UnsafeRawBufferPointer, _ right: UnsafeRawBufferPointer) -> Bool {
    guard left.count == right.count else { return false }
    guard let one = left.baseAddress, let other = right.baseAddress else { return true }
    return memcmp(one, other, left.count) == 0
  }

  /// Writes a file whole or not at all; `false` if it is too large.
  private func write(_ grammar: Grammar, content: [UInt8], to path: String) throws(VoiceFailure) -> Bool {
    var body = ByteWriter()
    body.write(UInt64(content.count))
    body.write(content)
    body.write(grammar.encoded())
    guard body.bytes.count + 64 <= self.maximumBytes else { return false }
    var file = ByteWriter()
    file.write(Self.mark)
    file.write(Self.version)
    file.write(body.bytes.withUnsafeBytes { ContentHash($0).number })
    file.write(body.bytes)
    do {
      try FileManager.default.createDirectory(
        atPath: self.folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
      try Data(file.bytes).write(to: URL(fileURLWithPath: path), options: .atomic)
    } catch {
      throw VoiceFailure(
        .cacheNotWritable, message: "The compiled grammar cannot be kept in \(self.folder).", cause: error)
    }
    self.shrink(keeping: path)
    return true
  }

  /// Removes the files that were not used for longest until the others are small enough together.
  private func shrink(keeping kept: String) {
    let manager = FileManager.default
    let names = (try? manager.contentsOfDirectory(atPath: self.folder)) ?? []
    var files: [(path: String, size: Int, used: Date)] = names.compactMap { name in
      let path = "\(self.folder)/\(name)"
      guard Self.isOurs(name), let attributes = try? manager.attributesOfItem(atPath: path),
        attributes[.type] as? FileAttributeType == .typeRegular
      else { return nil }
      return (
        path, (attributes[.size] as? NSNumber)?.intValue ?? 0,
        attributes[.modificationDate] as? Date ?? .distantPast
      )
    }
    var total = files.reduce(0) { $0 + $1.size }
    files.sort { ($0.used, $0.path) < ($1.used, $1.path) }
    for file in files where total > self.maximumBytes && file.path != kept {
      guard (try? manager.removeItem(atPath: file.path)) != nil else { continue }
      total -= file.size
    }
  }

  private static func isOurs(_ name: String) -> Bool {
    let parts = name.split(separator: ".", omittingEmptySubsequences: false)
    return parts.count == 2 && parts[1] == Self.fileExtension && parts[0].utf8.count == 32
      && parts[0].allSatisfy { $0.isHexDigit && $0.isASCII }
  }
}
