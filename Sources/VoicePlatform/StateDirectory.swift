import Foundation
public import VoiceCore

/// A folder for what a program keeps from one run to the next, readable by its user only.
///
/// Files are replaced as a whole: a reader, another process, and a machine that loses power see the old content or
/// the new, and a full disk leaves the old one. Operations block for as long as the disk takes.
public struct StateDirectory: Hashable, Sendable {
  /// The codes of what can go wrong.
  public struct Codes: Hashable, Sendable {
    /// The folder or a file in it cannot be used, because of rights, a read-only disk, or a wrong path.
    public var notWritable: VoiceFailure.Code
    /// The disk, or the user's share of it, is full.
    public var full: VoiceFailure.Code

    /// Creates codes.
    public init(notWritable: VoiceFailure.Code, full: VoiceFailure.Code) {
      self.notWritable = notWritable
      self.full = full
    }

    /// The codes of a server's data folder.
    public static let server = Codes(notWritable: .dataFolderNotWritable, full: .dataFolderFull)

    /// The codes of a client's token store.
    public static let client = Codes(notWritable: .tokenNotStored, full: .tokenNotStored)
  }

  /// Where the folder is.
  public let path: String

  /// The codes of what can go wrong.
  public let codes: Codes

  /// Creates a value; touches no disk.
  public init(path: String, codes: Codes) {
    self.path = path
    self.codes = codes
  }

  /// The folder for this user's state: `$XDG_STATE_HOME/swift-voice`, else `~/.local/state/swift-voice`.
  ///
  /// See the "XDG Base Directory Specification"; a relative `XDG_STATE_HOME` is ignored, as it says.
  ///
  /// - Parameter environment: The variables to go by; by default those of the process.
  public static func standardPath(environment: [String: String]? = nil) -> String {
    let environment = environment ?? ProcessInfo.processInfo.environment
    if let state = environment["XDG_STATE_HOME"], state.hasPrefix("/") { return state + "/swift-voice" }
    let home = environment["HOME"].flatMap { $0.hasPrefix("/") ? $0 : nil } ?? NSHomeDirectory()
    return home + "/.local/state/swift-voice"
  }

  /// Makes the folder with mode 0700 if it is missing, and checks that it can be written.
  ///
  /// - Throws: ``VoiceFailure`` with one of ``codes``.
  public func prepare() throws(VoiceFailure) {
    try self.makeFolder()
    let probe = self.path + "/" + Self.temporaryName()
    let descriptor = open(probe, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw self.failure(errno) }
    close(descriptor)
    unlink(probe)
  }

  /// Reads a file, or returns `nil` if it is missing.
  ///
  /// - Parameter limit: The most bytes that the file may have.
  /// - Throws: ``VoiceFailure`` with one of ``codes`` if it cannot be read or is larger than the limit.
  public func read(_ name: String, limit: Int = 16_777_216) throws(VoiceFailure) -> [UInt8]? {
    let path = try self.path(of: name)
    // Without O_NONBLOCK a FIFO in place of the file would wait for a writer.
    let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard descriptor >= 0 else {
      if errno == ENOENT || errno == ENOTDIR { return nil }
      throw self.failure(errno)
    }
    defer { close(descriptor) }
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 65_536)
    while true {
      let count = Foundation.read(descriptor, &buffer, buffer.count)
      if count == 0 { return bytes }
      if count < 0 {
        if errno == EINTR { continue }
        throw self.failure(errno)
      }
      bytes += buffer.prefix(count)
      guard bytes.count <= limit else { throw self.failure(EFBIG) }
    }
  }

  /// Replaces a file with mode 0600; makes the folder if it is missing.
  ///
  /// - Throws: ``VoiceFailure`` with one of ``codes``; the file is then as it was before.
  public func write(_ bytes: [UInt8], to name: String) throws(VoiceFailure) {
    let path = try self.path(of: name)
    try self.makeFolder()
    let temporary = self.path + "/" + Self.temporaryName()
    let descriptor = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw self.failure(errno) }
    var number = Self.writeAll(bytes, to: descriptor)
    if close(descriptor) != 0, number == 0 { number = errno }
    if number == 0, rename(temporary, path) != 0 { number = errno }
    guard number == 0 else {
      unlink(temporary)
      throw self.failure(number)
    }
    // The new name is safe only once the folder is on the disk too; an old disk without this is no failure.
    let folder = open(self.path, O_RDONLY | O_CLOEXEC)
    if folder >= 0 {
      fsync(folder)
      close(folder)
    }
  }

  /// Removes a file; does nothing if it is missing.
  ///
  /// - Throws: ``VoiceFailure`` with one of ``codes``.
  public func remove(_ name: String) throws(VoiceFailure) {
    let path = try self.path(of: name)
    guard unlink(path) == 0 || errno == ENOENT || errno == ENOTDIR else { throw self.failure(errno) }
  }

  /// The path of a file in the folder.
  ///
  /// - Throws: ``VoiceFailure`` with the code `client.usage` if the name leads out of the folder.
  public func path(of name: String) throws(VoiceFailure) -> String {
    guard !name.isEmpty, name != ".", name != "..", name.utf8.count <= 255,
      !name.utf8.contains(where: { $0 == UInt8(ascii: "/") || $0 == 0 })
    else {
      throw VoiceFailure(.usage, message: "This is not the name of a file in a state folder.")
    }
    return self.path + "/" + name
  }

  /// The failure for an error number of an operation on the folder or a file in it.
  public func failure(_ number: Int32) -> VoiceFailure {
    let cause = SystemError(number: number)
    switch number {
    case ENOSPC, EDQUOT:
      return VoiceFailure(
        self.codes.full, message: "The disk of the folder “\(self.path)” is full.", cause: cause)
    default:
      let reason =
        switch number {
        case EACCES, EPERM: "this user may not use it"
        case EROFS: "its disk is read-only"
        case ENOENT, ENOTDIR: "it cannot be made there"
        default: cause.text
        }
      return VoiceFailure(
        self.codes.notWritable, message: "The folder “\(self.path)” cannot be used: \(reason).", cause: cause)
    }
  }

  private func makeFolder() throws(VoiceFailure) {
    guard self.path.hasPrefix("/"), !self.path.utf8.contains(0) else { throw self.failure(ENOENT) }
    let parts = self.path.split(separator: "/")
    var path = ""
    for (index, part) in parts.enumerated() {
      path += "/" + part
      // The last folder is private; those on the way are like any other folder of the user.
      if mkdir(path, index == parts.count - 1 ? 0o700 : 0o755) != 0, errno != EEXIST {
        let number = errno
        var status = stat()
        guard stat(path, &status) == 0 else { throw self.failure(number) }
      }
    }
    var status = stat()
    guard stat(self.path, &status) == 0 else { throw self.failure(errno) }
    guard status.st_mode & S_IFMT == S_IFDIR else { throw self.failure(ENOTDIR) }
  }

  private static func writeAll(_ bytes: [UInt8], to descriptor: Int32) -> Int32 {
    var start = 0
    while start < bytes.count {
      let count = bytes[start...].withUnsafeBytes { Foundation.write(descriptor, $0.baseAddress, $0.count) }
      if count < 0 {
        if errno == EINTR { continue }
        return errno
      }
      start += count
    }
    return fsync(descriptor) == 0 ? 0 : errno
  }

  private static func temporaryName() -> String {
    ".new-" + UUID().uuidString
  }
}

/// An error number of the operating system.
struct SystemError: Error, Hashable, CustomStringConvertible {
  let number: Int32

  var text: String { String(cString: strerror(self.number)) }
  var description: String { "\(self.text) (errno \(self.number))" }
}
