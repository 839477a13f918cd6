import Foundation
import Synchronization
package import VoiceCore

/// A program that has nothing to read; ends by itself or when it is killed.
///
/// Started with `posix_spawn`, because Foundation's `Process` now and then misses the end of a program.
package final class RunningProgram: Sendable {
  /// `nil` when the identifier may belong to another program.
  private let identifier: Mutex<pid_t?>

  /// Starts the program.
  ///
  /// - Parameters:
  ///   - path: Where it is; nothing is searched.
  ///   - output: The file that takes what it prints, errors as well.
  /// - Throws: ``VoiceFailure`` with `audio.file.not-readable` if it cannot be started.
  package init(
    _ path: String, _ arguments: [String],
    environment: [String: String] = ProcessInfo.processInfo.environment, output: String = "/dev/null"
  ) throws(VoiceFailure) {
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
    posix_spawn_file_actions_addopen(&actions, 1, output, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
    posix_spawn_file_actions_adddup2(&actions, 1, 2)
    SpawnActions.closeInheritedDescriptors(&actions)
    var words = ([path] + arguments).map { strdup($0) } + [nil]
    var settings = environment.map { strdup("\($0.key)=\($0.value)") } + [nil]
    defer { for word in words + settings { free(word) } }
    var identifier: pid_t = 0
    let status = posix_spawn(&identifier, path, &actions, nil, &words, &settings)
    guard status == 0 else {
      throw VoiceFailure(
        .fileNotReadable, message: "\(path) cannot be started.",
        cause: POSIXError(POSIXErrorCode(rawValue: status) ?? .EINVAL))
    }
    self.identifier = Mutex(identifier)
  }

  /// Waits for the end as ``wait()`` does, and blocks no thread of the caller.
  package func status() async -> Int {
    await withCheckedContinuation { continuation in
      // Waiting for a child blocks, so it has a thread of its own, which ends with the program.
      Thread.detachNewThread { continuation.resume(returning: self.wait()) }
    }
  }

  /// Blocks the thread until the program ends; to be called once.
  ///
  /// - Returns: The exit status; 128 plus the signal if a signal ended it.
  package func wait() -> Int {
    guard let identifier = self.identifier.withLock({ $0 }) else { return 0 }
    // The identifier stays the program's until its status is taken, which happens under the lock.
    var information = siginfo_t()
    while waitid(P_PID, id_t(identifier), &information, WEXITED | WNOWAIT) < 0, errno == EINTR {}
    return self.identifier.withLock { held in
      var status: Int32 = 0
      var waited: pid_t
      repeat { waited = waitpid(identifier, &status, 0) } while waited < 0 && errno == EINTR
      held = nil
      // Nobody knows how it ended, so it did not end well.
      guard waited == identifier else { return 127 }
      return Int(status & 0x7F == 0 ? (status >> 8) & 0xFF : 128 + (status & 0x7F))
    }
  }

  /// Ends the program at once; it has nothing to save.
  package func kill() {
    self.identifier.withLock { identifier in
      if let identifier { _ = Foundation.kill(identifier, SIGKILL) }
    }
  }
}
