import Foundation
import VoiceCore

/// Writes bytes to a file descriptor as `write(2)` does; a test can make the disk full.
typealias WriteCall = @Sendable (Int32, UnsafeRawPointer, Int) -> Int

extension SigningKey {
  /// The kept key of a data folder; makes folder and key if there are none.
  ///
  /// Two servers that start at once in one folder get the same key.
  ///
  /// - Returns: The key, and whether other users of the machine may read its file.
  /// - Throws: ``VoiceFailure`` with `server.signing-key.invalid`, `server.data-folder.not-writable` or
  ///   `server.data-folder.full`; then no half-written file is left behind.
  static func load(
    folder: String,
    using generator: inout some RandomNumberGenerator,
    write: WriteCall = { Foundation.write($0, $1, $2) }
  ) throws(VoiceFailure) -> (key: SigningKey, isExposed: Bool) {
    let path = folder + "/" + fileName
    if let kept = try Self.read(path) { return kept }
    do {
      try FileManager.default.createDirectory(
        atPath: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    } catch {
      throw Self.failure(folder: folder, code: Self.posixCode(of: error), cause: error)
    }
    let key = SigningKey(using: &generator)
    let suffix = String(UInt64.random(in: 0 ... .max, using: &generator), radix: 36)
    try key.create(at: path, temporary: "\(path).\(suffix)", folder: folder, write: write)
    // Another server may have been faster; what is in the folder now is the key of both.
    guard let kept = try Self.read(path) else {
      throw Self.failure(folder: folder, code: .ENOENT, cause: nil)
    }
    return kept
  }

  private func create(
    at path: String, temporary: String, folder: String, write: WriteCall
  ) throws(VoiceFailure) {
    let descriptor = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else {
      throw Self.failure(folder: folder, code: POSIXErrorCode(rawValue: errno), cause: nil)
    }
    defer { unlink(temporary) }
    let problem = Self.writeAll(self.fileContent, to: descriptor, write: write)
    let closed = close(descriptor)
    if let problem = problem ?? (closed == 0 ? nil : POSIXErrorCode(rawValue: errno)) {
      throw Self.failure(folder: folder, code: problem, cause: POSIXError(problem))
    }
    // A link appears whole or not at all, and never replaces a file.
    if link(temporary, path) != 0, errno != EEXIST {
      throw Self.failure(folder: folder, code: POSIXErrorCode(rawValue: errno), cause: nil)
    }
  }

  private static func writeAll(
    _ bytes: [UInt8], to descriptor: Int32, write: WriteCall
  ) -> POSIXErrorCode? {
    var rest = bytes[...]
    while !rest.isEmpty {
      let written = rest.withUnsafeBytes { buffer in
        buffer.baseAddress.map { write(descriptor, $0, buffer.count) } ?? 0
      }
      if written < 0 {
        let code = POSIXErrorCode(rawValue: errno) ?? .EIO
        if code == .EINTR { continue }
        return code
      }
      rest = rest.dropFirst(written)
      if written == 0 { return .EIO }
    }
    return fsync(descriptor) == 0 ? nil : POSIXErrorCode(rawValue: errno) ?? .EIO
  }

  private static func read(
    _ path: String
  ) throws(VoiceFailure) -> (key: SigningKey, isExposed: Bool)? {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else {
      if errno == ENOENT || errno == ENOTDIR { return nil }
      throw VoiceFailure(
        .signingKeyInvalid,
        message: "The signing key \(path) cannot be read. Give the server's user the right to read it.",
        cause: POSIXErrorCode(rawValue: errno).map { POSIXError($0) })
    }
    defer { close(descriptor) }
    let attributes = try? FileManager.default.attributesOfItem(atPath: path)
    guard let mode = attributes?[.posixPermissions] as? NSNumber else {
      throw Self.invalid(path, "cannot be read")
    }
    var buffer = [UInt8](repeating: 0, count: 256)
    let count = buffer.withUnsafeMutableBytes { bytes in
      bytes.baseAddress.map { Foundation.read(descriptor, $0, bytes.count) } ?? -1
    }
    guard count >= 0 else { throw Self.invalid(path, "cannot be read") }
    guard count > 0 else { throw Self.invalid(path, "is empty") }
    guard let key = SigningKey(fileContent: Array(buffer.prefix(count))) else {
      throw Self.invalid(path, "does not hold a key")
    }
    return (key, mode.intValue & 0o077 != 0)
  }

  private static func invalid(_ path: String, _ what: String) -> VoiceFailure {
    VoiceFailure(
      .signingKeyInvalid,
      message: "The signing key \(path) \(what). Restore it, or remove it to get a new key "
        + "(then all clients have to sign in again).")
  }

  private static func failure(
    folder: String, code: POSIXErrorCode?, cause: (any Error)?
  ) -> VoiceFailure {
    switch code {
    case .ENOSPC, .EDQUOT:
      VoiceFailure(
        .dataFolderFull,
        message: "The disk of the data folder \(folder) is full. Free some space, or name another folder.",
        cause: cause)
    default:
      VoiceFailure(
        .dataFolderNotWritable,
        message:
          "The data folder \(folder) cannot be written\(code.map { " (\(String(cString: strerror($0.rawValue))))" } ?? ""). "
          + "Give the server's user the right to write it, or name another folder.",
        cause: cause ?? code.map { POSIXError($0) })
    }
  }

  private static func posixCode(of error: any Error) -> POSIXErrorCode? {
    if let error = error as? POSIXError { return error.code }
    if let error = error as? CocoaError {
      if error.code == .fileWriteOutOfSpace { return .ENOSPC }
      if let under = error.userInfo[NSUnderlyingErrorKey] as? POSIXError { return under.code }
    }
    return nil
  }
}
