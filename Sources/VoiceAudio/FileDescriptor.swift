import Foundation
import VoiceCore

/// An open file descriptor that closes with its last reference, if it is owned.
final class FileDescriptor: Sendable {
  let number: Int32
  private let isOwned: Bool

  init(_ number: Int32, isOwned: Bool) {
    self.number = number
    self.isOwned = isOwned
  }

  deinit {
    if self.isOwned { close(self.number) }
  }

  /// Opens a file for reading; a FIFO without a writer and a device do not hold up the caller.
  static func open(path: String) throws(VoiceFailure) -> FileDescriptor {
    guard !path.utf8.contains(0) else { throw failure(ENOENT, path: path) }
    while true {
      let number = Foundation.open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
      if number >= 0 { return FileDescriptor(number, isOwned: true) }
      guard errno == EINTR else { throw failure(errno, path: path) }
    }
  }

  /// What kind of thing is open.
  enum Kind: Hashable, Sendable {
    case file(size: Int64)
    case directory
    /// A pipe, a terminal, a socket, a device: read in order, once.
    case stream
  }

  /// Looks up the kind.
  func kind(named name: String) throws(VoiceFailure) -> Kind {
    var status = stat()
    guard fstat(self.number, &status) == 0 else { throw Self.failure(errno, path: name) }
    return switch status.st_mode & S_IFMT {
    case S_IFREG: .file(size: Int64(status.st_size))
    case S_IFDIR: .directory
    default: .stream
    }
  }

  /// Another number for the same open file, for somebody who closes it.
  ///
  /// libsndfile closes a descriptor that it cannot make sense of even if it is told not to; closed a second time, the
  /// number may already be somebody else's.
  func duplicate(named name: String) throws(VoiceFailure) -> Int32 {
    let copy = fcntl(self.number, F_DUPFD_CLOEXEC, 0)
    guard copy >= 0 else {
      let cause = POSIXFailure(number: errno)
      throw VoiceFailure(.fileNotReadable, message: "\(name) cannot be read: \(cause.text).", cause: cause)
    }
    return copy
  }

  /// Reads up to `count` bytes of a regular file at an offset, without moving it; empty at the end or on an error.
  func bytes(at offset: Int64, count: Int) -> [UInt8] {
    [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
      filled = max(0, pread(self.number, buffer.baseAddress, count, off_t(offset)))
    }
  }

  /// The failure of an operation on a file that reported an error number.
  static func failure(_ number: Int32, path: String) -> VoiceFailure {
    let cause = POSIXFailure(number: number)
    return switch number {
    case ENOENT, ENOTDIR, ENAMETOOLONG, ELOOP:
      VoiceFailure(.fileNotFound, message: "There is no file “\(path)”.", cause: cause)
    case EISDIR:
      VoiceFailure(.fileIsDirectory, message: "“\(path)” is a folder, not an audio file.", cause: cause)
    default:
      VoiceFailure(.fileNotReadable, message: "“\(path)” cannot be read: \(cause.text).", cause: cause)
    }
  }
}

/// An error number of the operating system.
struct POSIXFailure: Error, Hashable, CustomStringConvertible {
  let number: Int32

  var text: String { String(cString: strerror(self.number)) }
  var description: String { "\(self.text) (errno \(self.number))" }
}

/// Wakes a thread that waits in `poll`: a pipe of which one end is polled and the other written.
final class WakeSignal: Sendable {
  private let readEnd: FileDescriptor
  private let writeEnd: FileDescriptor

  init() throws(VoiceFailure) {
    var ends: [Int32] = [-1, -1]
    guard pipe(&ends) == 0 else { throw VoiceFailure(.unexpected, cause: POSIXFailure(number: errno)) }
    self.readEnd = FileDescriptor(ends[0], isOwned: true)
    self.writeEnd = FileDescriptor(ends[1], isOwned: true)
    for end in ends {
      _ = fcntl(end, F_SETFD, FD_CLOEXEC)
      _ = fcntl(end, F_SETFL, O_NONBLOCK)
    }
  }

  /// Wakes the waiting thread, now and whenever it waits again.
  func wake() {
    var byte: UInt8 = 1
    _ = write(self.writeEnd.number, &byte, 1)
  }

  /// The descriptor that becomes readable.
  var descriptor: Int32 { self.readEnd.number }
}

/// Reads a descriptor on a thread of its own, and can be interrupted while it waits.
struct InterruptibleReader {
  enum Outcome: Hashable {
    /// So many bytes were read.
    case read(Int)
    /// There was nothing to read for the given time.
    case idle
    /// There will be no more.
    case end
    /// ``WakeSignal/wake()`` was called.
    case interrupted
    /// The operating system reported an error number.
    case failed(Int32)
  }

  let descriptor: FileDescriptor
  let wakeSignal: WakeSignal

  /// Waits for bytes and reads them.
  ///
  /// - Parameter milliseconds: How long to wait at most; -1 for ever.
  func read(into buffer: UnsafeMutableRawBufferPointer, waitingAtMost milliseconds: Int32) -> Outcome {
    while true {
      var waits = [
        pollfd(fd: self.descriptor.number, events: Int16(POLLIN), revents: 0),
        pollfd(fd: self.wakeSignal.descriptor, events: Int16(POLLIN), revents: 0),
      ]
      let ready = poll(&waits, 2, milliseconds)
      if ready < 0, errno != EINTR { return .failed(errno) }
      if ready < 0 { continue }
      if waits[1].revents != 0 { return .interrupted }
      if ready == 0 { return .idle }
      if Int32(waits[0].revents) & POLLNVAL != 0 { return .failed(EBADF) }

      let count = Foundation.read(self.descriptor.number, buffer.baseAddress, buffer.count)
      if count > 0 { return .read(count) }
      if count == 0 { return .end }
      // Another reader of the same pipe was faster, or a signal came.
      guard errno == EAGAIN || errno == EINTR else { return .failed(errno) }
    }
  }
}
