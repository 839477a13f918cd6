import Foundation
import VoiceTesting

/// Runs programs.
///
/// Foundation's `Process` learns of the end of a program by a run loop, and now and then misses it when several threads
/// run programs at once; `waitpid` does not.
enum Program {
  struct CannotStart: Error {
    let path: String
    let number: Int32
  }

  /// Runs a program to its end and returns its exit status and output; must not be called on a thread of the pool.
  static func run(_ path: String, _ arguments: [String], environment: [String: String] = [:]) throws -> (
    status: Int32, output: String
  ) {
    var ends: [Int32] = [-1, -1]
    guard pipe(&ends) == 0 else { throw CannotStart(path: path, number: errno) }
    defer { close(ends[0]) }
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }

    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
    posix_spawn_file_actions_adddup2(&actions, ends[1], 1)
    posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0)
    SpawnActions.closeInheritedDescriptors(&actions)

    let variables = ProcessInfo.processInfo.environment.merging(environment) { _, new in new }
    var words = ([path] + arguments).map { strdup($0) } + [nil]
    var settings = variables.map { strdup("\($0.key)=\($0.value)") } + [nil]
    defer { for word in words + settings { free(word) } }
    var child: pid_t = 0
    let status = posix_spawn(&child, path, &actions, nil, &words, &settings)
    close(ends[1])
    guard status == 0 else { throw CannotStart(path: path, number: status) }

    var output: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 4_096)
    while true {
      let count = read(ends[0], &buffer, buffer.count)
      if count > 0 { output += buffer.prefix(count) } else if count == 0 || errno != EINTR { break }
    }
    var result: Int32 = 0
    while waitpid(child, &result, 0) < 0, errno == EINTR {}
    // The exit status, or 128 and the signal, as a shell gives it.
    let exitStatus = result & 0x7F == 0 ? (result >> 8) & 0xFF : 128 + (result & 0x7F)
    return (exitStatus, String(decoding: output, as: UTF8.self))
  }

  /// Runs blocking work on a thread of its own.
  static func onThread<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value
  {
    try await withCheckedThrowingContinuation { continuation in
      Thread { continuation.resume(with: Result { try body() }) }.start()
    }
  }
}
