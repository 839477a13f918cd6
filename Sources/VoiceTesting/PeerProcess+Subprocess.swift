import Foundation
import Synchronization
import VoiceCore

/// A program with its three pipes; tells a ``PeerProcess`` what happens.
///
/// Started with `posix_spawn` and waited for with `waitpid`: Foundation's `Process` learns of the end of a program by a run loop
/// and now and then misses it when several threads run programs at once.
final class PeerSubprocess: Sendable {
  private struct State {
    var input: FileHandle?
    var identifier: pid_t?
  }

  private let executable: URL
  private let arguments: [String]
  private let environment: [String: String]
  private let state = Mutex(State())

  init(executable: URL, arguments: [String], environment: [String: String]) throws {
    self.executable = executable
    self.arguments = arguments
    self.environment = ProcessInfo.processInfo.environment
      .merging(["PYTHONUNBUFFERED": "1", "PYTHONDONTWRITEBYTECODE": "1"]) { $1 }
      .merging(environment) { $1 }
  }

  func start(reportingTo peer: PeerProcess) throws {
    // One at a time: a pipe that another child inherits before it is marked would never end.
    let (pipes, identifier) = try Self.spawning.withLock { _ in try self.spawn() }
    self.state.withLock {
      $0.input = FileHandle(fileDescriptor: pipes.input.write, closeOnDealloc: true)
      $0.identifier = identifier
    }
    // Reading a pipe and waiting for a child block, so they have threads of their own, which end with the program.
    let (output, errorOutput) = (pipes.output.read, pipes.errorOutput.read)
    Thread.detachNewThread {
      var lines = LineSplitter()
      Self.readAll(output) { peer.printed(lines.add($0)) }
      peer.printed(lines.finish())
      peer.pipeEnded()
    }
    Thread.detachNewThread {
      Self.readAll(errorOutput) { peer.printedError($0) }
      peer.pipeEnded()
    }
    Thread.detachNewThread {
      var status: Int32 = 0
      while waitpid(identifier, &status, 0) < 0, errno == EINTR {}
      self.state.withLock { $0.identifier = nil }
      // The exit status, or 128 and the signal, as a shell gives it.
      peer.exited(status: Int(status & 0x7F == 0 ? (status >> 8) & 0xFF : 128 + (status & 0x7F)))
    }
  }

  private static let spawning = Mutex(())

  private struct Ends: Sendable {
    var read: Int32 = -1
    var write: Int32 = -1

    init() throws {
      var ends: [Int32] = [-1, -1]
      guard Foundation.pipe(&ends) == 0 else {
        throw VoiceFailure(.unexpected, message: "No pipe can be made.", cause: POSIXError(.EMFILE))
      }
      for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
      (self.read, self.write) = (ends[0], ends[1])
    }

    func closeBoth() {
      close(self.read)
      close(self.write)
    }
  }

  private struct Pipes: Sendable {
    var input: Ends
    var output: Ends
    var errorOutput: Ends
  }

  private func spawn() throws -> (Pipes, pid_t) {
    let pipes = Pipes(input: try Ends(), output: try Ends(), errorOutput: try Ends())
    do {
      let identifier = try self.spawn(pipes.input.read, pipes.output.write, pipes.errorOutput.write)
      for end in [pipes.input.read, pipes.output.write, pipes.errorOutput.write] { close(end) }
      return (pipes, identifier)
    } catch {
      for ends in [pipes.input, pipes.output, pipes.errorOutput] { ends.closeBoth() }
      throw VoiceFailure(.usage, message: "The peer cannot be started: run make setup-peers.", cause: error)
    }
  }

  private func spawn(_ input: Int32, _ output: Int32, _ errorOutput: Int32) throws -> pid_t {
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_adddup2(&actions, input, 0)
    posix_spawn_file_actions_adddup2(&actions, output, 1)
    posix_spawn_file_actions_adddup2(&actions, errorOutput, 2)
    SpawnActions.closeInheritedDescriptors(&actions)
    var words = ([self.executable.path] + self.arguments).map { strdup($0) } + [nil]
    var settings = self.environment.map { strdup("\($0.key)=\($0.value)") } + [nil]
    defer { for word in words + settings { free(word) } }
    var identifier: pid_t = 0
    let status = posix_spawn(&identifier, self.executable.path, &actions, nil, &words, &settings)
    guard status == 0 else { throw POSIXError(POSIXErrorCode(rawValue: status) ?? .EINVAL) }
    return identifier
  }

  private static func readAll(_ descriptor: Int32, _ take: (Data) -> Void) {
    defer { close(descriptor) }
    var buffer = [UInt8](repeating: 0, count: 65_536)
    while true {
      let count = read(descriptor, &buffer, buffer.count)
      if count > 0 { take(Data(buffer.prefix(count))) } else if count == 0 || errno != EINTR { return }
    }
  }

  func write(_ data: Data) {
    // Under the lock, so that lines of several writers do not mix; the pipe takes 64 KiB without waiting.
    self.state.withLock { state in
      do { try state.input?.write(contentsOf: data) } catch { state.input = nil }
    }
  }

  func closeInput() {
    self.state.withLock { state in
      try? state.input?.close()
      state.input = nil
    }
  }

  /// Ends the program at once; it has nothing to save.
  func kill() {
    self.signal(SIGKILL)
    self.closeInput()
  }

  func signal(_ signal: Int32) {
    self.state.withLock { state in
      if let identifier = state.identifier { _ = Foundation.kill(identifier, signal) }
    }
  }
}

/// Splits bytes into lines, wherever they were cut.
struct LineSplitter {
  private var rest = Data()

  mutating func add(_ data: Data) -> [String] {
    self.rest += data
    var lines: [String] = []
    while let end = self.rest.firstIndex(of: UInt8(ascii: "\n")) {
      lines.append(String(decoding: self.rest[self.rest.startIndex..<end], as: UTF8.self))
      self.rest = Data(self.rest[self.rest.index(after: end)...])
    }
    return lines
  }

  /// What came after the last line end.
  mutating func finish() -> [String] {
    defer { self.rest = Data() }
    return self.rest.isEmpty ? [] : [String(decoding: self.rest, as: UTF8.self)]
  }
}
