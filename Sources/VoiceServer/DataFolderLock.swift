import Foundation
import Logging
import Synchronization
import VoiceCore
import VoicePlatform

/// Keeps a second server out of a data folder: two of them would remove each other's recordings.
///
/// The lock belongs to the process: however that ends, the folder is free again. Commands that read and change the
/// folder beside a server do not take it.
final class DataFolderLock: Sendable {
  /// The file that is locked; it stays, because removing it would let two servers in.
  static let fileName = "lock"

  private let descriptor: Mutex<Int32>

  /// Takes the folder, which is made if it is missing.
  ///
  /// - Throws: ``VoiceFailure`` with `server.data-folder.in-use`, `server.data-folder.not-writable` or
  ///   `server.data-folder.full`; nothing else in the folder was touched.
  init(folder: String, logger: Logger) throws(VoiceFailure) {
    let directory = StateDirectory(path: folder, codes: .server)
    try directory.prepare()
    let descriptor = open(try directory.path(of: Self.fileName), O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw directory.failure(errno) }
    if flock(descriptor, LOCK_EX | LOCK_NB) != 0 {
      let number = errno
      guard number != EWOULDBLOCK else {
        close(descriptor)
        throw VoiceFailure(
          .dataFolderInUse,
          message: "Another server uses the folder “\(folder)”. Stop it, or name another folder with --data.")
      }
      // Some network disks know no locks; a server that is alone there works all the same.
      logger.warning(
        "the data folder cannot be locked: make sure that only one server uses it",
        metadata: ["folder": "\(folder)", "reason": "\(String(cString: strerror(number)))"])
    }
    self.descriptor = Mutex(descriptor)
  }

  deinit { self.release() }

  /// Lets the next server in; may be called repeatedly.
  func release() {
    self.descriptor.withLock { descriptor in
      if descriptor >= 0 { close(descriptor) }
      descriptor = -1
    }
  }
}
