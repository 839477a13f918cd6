import Foundation

/// A folder that is removed with its last reference.
final class TemporaryFolder: Sendable {
  let path: String

  init() throws {
    self.path = NSTemporaryDirectory() + "voice-" + UUID().uuidString.prefix(13)
    try FileManager.default.createDirectory(atPath: self.path, withIntermediateDirectories: true)
  }

  deinit {
    try? FileManager.default.removeItem(atPath: self.path)
  }

  /// The names of all files in a folder within.
  func names(in folder: String) -> [String] {
    (try? FileManager.default.contentsOfDirectory(atPath: self.path + "/" + folder).sorted()) ?? []
  }
}

/// Runs programs.
enum Program {
  /// Runs a program to its end and returns its exit status and output; must not be called on a thread of the pool.
  static func run(_ path: String, _ arguments: [String], environment: [String: String] = [:]) throws -> (
    status: Int32, output: String
  ) {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: path)
    process.arguments = arguments
    process.environment = ProcessInfo.processInfo.environment.merging(environment) { _, new in new }
    let output = Pipe()
    process.standardOutput = output
    process.standardError = FileHandle.nullDevice
    process.standardInput = FileHandle.nullDevice
    try process.run()
    let data = output.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    return (process.terminationStatus, String(decoding: data, as: UTF8.self))
  }

  /// Runs blocking work on a thread of its own.
  static func onThread<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
    try await withCheckedThrowingContinuation { continuation in
      Thread { continuation.resume(with: Result { try body() }) }.start()
    }
  }
}
