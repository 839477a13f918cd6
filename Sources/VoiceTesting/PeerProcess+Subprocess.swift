import Foundation
import Synchronization
import VoiceCore

/// A program with its three pipes; tells a ``PeerProcess`` what happens.
final class PeerSubprocess: Sendable {
  private struct State {
    var input: FileHandle?
    var identifier: Int32?
  }

  private let process: Process
  private let output = Pipe()
  private let errorOutput = Pipe()
  private let state: Mutex<State>

  init(executable: URL, arguments: [String], environment: [String: String]) throws {
    let process = Process()
    let input = Pipe()
    process.executableURL = executable
    process.arguments = arguments
    process.environment = ProcessInfo.processInfo.environment
      .merging(["PYTHONUNBUFFERED": "1", "PYTHONDONTWRITEBYTECODE": "1"]) { $1 }
      .merging(environment) { $1 }
    process.standardInput = input
    process.standardOutput = self.output
    process.standardError = self.errorOutput
    self.process = process
    self.state = Mutex(State(input: input.fileHandleForWriting))
  }

  func start(reportingTo peer: PeerProcess) throws {
    self.process.terminationHandler = { [weak self] process in
      self?.state.withLock { $0.identifier = nil }
      let status = Int(process.terminationStatus)
      peer.exited(status: process.terminationReason == .uncaughtSignal ? 128 + status : status)
    }
    do {
      try self.process.run()
    } catch {
      throw VoiceFailure(
        .usage, message: "The peer cannot be started: run make setup-peers.", cause: error)
    }
    self.state.withLock { $0.identifier = self.process.isRunning ? self.process.processIdentifier : nil }
    // Reading a pipe blocks, so it has threads of its own, which end with the program.
    let (output, errorOutput) = (self.output.fileHandleForReading, self.errorOutput.fileHandleForReading)
    Thread.detachNewThread {
      var lines = LineSplitter()
      while case let data = output.availableData, !data.isEmpty { peer.printed(lines.add(data)) }
      peer.printed(lines.finish())
      peer.pipeEnded()
    }
    Thread.detachNewThread {
      while case let data = errorOutput.availableData, !data.isEmpty { peer.printedError(data) }
      peer.pipeEnded()
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
    self.state.withLock { state in
      if let identifier = state.identifier { _ = Foundation.kill(identifier, SIGKILL) }
    }
    self.closeInput()
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
