import Foundation
import Synchronization
import VoiceCore

/// Runs a Python peer for as long as the body runs, then kills it, also after an error.
///
/// The interpreter is that of the environment variable `VOICE_PEERS_PYTHON`, else `.peers/bin/python` in the package.
/// The script finds the Python modules generated from the package's `proto` folder, if there is one, on its module path; they
/// are generated once per process.
///
/// - Parameters:
///   - script: The path of the script in the package that `sourceFile` belongs to.
///   - arguments: The script's arguments.
///   - environment: Variables added to those of this process.
///   - sourceFile: A file of the package; by default the caller's.
///   - isolation: The actor on which the body runs, by default that of the caller.
///   - body: Uses the peer.
/// - Throws: What the body throws; ``VoiceFailure`` `client.usage` if there is no interpreter, script or package.
public func withPeerProcess<Result>(
  _ script: String, arguments: [String] = [], environment: [String: String] = [:],
  sourceFile: String = #filePath,
  isolation: isolated (any Actor)? = #isolation,
  _ body: (PeerProcess) async throws -> Result
) async throws -> Result {
  let installation = try PeerInstallation.find(sourceFile: sourceFile)
  let path = installation.packageRoot.appending(path: script).path
  guard FileManager.default.fileExists(atPath: path) else {
    throw VoiceFailure(.usage, message: "There is no peer at \(path).")
  }
  var environment = environment
  if let stubs = try await PeerStubs.shared.folder(for: installation) {
    environment["VOICE_PEERS_STUBS"] = stubs.path
  }
  return try await withProcess(
    installation.python, arguments: [path] + arguments, environment: environment, body)
}

/// Runs a program that prints lines for as long as the body runs, then kills it, also after an error.
func withProcess<Result>(
  _ executable: URL, arguments: [String], environment: [String: String] = [:],
  isolation: isolated (any Actor)? = #isolation,
  _ body: (PeerProcess) async throws -> Result
) async throws -> Result {
  let process = try PeerSubprocess(
    executable: executable, arguments: arguments, environment: environment)
  let peer = PeerProcess(process: process)
  try process.start(reportingTo: peer)
  let result: Swift.Result<Result, any Error>
  do {
    result = .success(try await body(peer))
  } catch {
    result = .failure(error)
  }
  process.kill()
  // A task of its own: the end must be waited for even if this one is cancelled.
  await Task { await peer.waitForExit() }.value
  return try result.get()
}

/// Where the peers' interpreter is.
struct PeerInstallation: Hashable, Sendable {
  var packageRoot: URL
  var python: URL

  static func find(
    sourceFile: String, environment: [String: String] = ProcessInfo.processInfo.environment
  ) throws -> PeerInstallation {
    var root = URL(filePath: sourceFile)
    repeat {
      root.deleteLastPathComponent()
      guard root.path != "/", !root.path.isEmpty else {
        throw VoiceFailure(.usage, message: "No folder above \(sourceFile) holds a Package.swift.")
      }
    } while !FileManager.default.fileExists(atPath: root.appending(path: "Package.swift").path)
    let python =
      environment["VOICE_PEERS_PYTHON"].map { URL(filePath: $0) }
      ?? root.appending(path: ".peers/bin/python")
    guard FileManager.default.isExecutableFile(atPath: python.path) else {
      throw VoiceFailure(
        .usage, message: "The Python of the test peers is missing at \(python.path): run make setup-peers.")
    }
    return PeerInstallation(packageRoot: root, python: python)
  }
}

/// Makes the Python modules of the protocol definitions, once per process and package.
actor PeerStubs {
  static let shared = PeerStubs()

  // Stored, so that peers that start at the same time share one run of the generator.
  private var folders: [PeerInstallation: Task<URL, any Error>] = [:]

  /// The folder with the modules, or `nil` if the package has no definitions.
  func folder(for installation: PeerInstallation) async throws -> URL? {
    let definitions = installation.packageRoot.appending(path: "proto", directoryHint: .isDirectory)
    guard FileManager.default.fileExists(atPath: definitions.path) else { return nil }
    if let task = self.folders[installation] { return try await task.value }
    let task = Task { try await Self.generate(from: definitions, with: installation) }
    self.folders[installation] = task
    do {
      return try await task.value
    } catch {
      self.folders[installation] = nil
      throw error
    }
  }

  private static func generate(from definitions: URL, with installation: PeerInstallation) async throws -> URL
  {
    let folder = try TemporaryFolder.make(named: "voice-peer-stubs")
    PeerStubFolders.removeAtExit(folder)
    let contents = FileManager.default.enumerator(at: definitions, includingPropertiesForKeys: nil)
    let files = (contents?.allObjects as? [URL] ?? []).filter { $0.pathExtension == "proto" }.map(\.path)
      .sorted()
    let generator = try PeerSubprocess(
      executable: installation.python,
      arguments: [
        "-m", "grpc_tools.protoc", "--proto_path=\(definitions.path)", "--python_out=\(folder.path)",
        "--grpc_python_out=\(folder.path)",
      ] + files,
      environment: [:])
    let run = PeerProcess(process: generator)
    try generator.start(reportingTo: run)
    generator.closeInput()
    await run.waitForExit()
    guard run.exitStatus == 0 else {
      throw VoiceFailure(
        .usage, message: "The modules of \(definitions.path) cannot be generated: run make setup-peers.",
        cause: PeerFailure(errorOutput: run.errorOutput))
    }
    return folder
  }
}

private enum PeerStubFolders {
  private static let folders = Mutex<[URL]>([])
  private static let registration: Void = {
    atexit { PeerStubFolders.removeAll() }
    return ()
  }()

  static func removeAtExit(_ folder: URL) {
    self.registration
    self.folders.withLock { $0.append(folder) }
  }

  private static func removeAll() {
    for folder in self.folders.withLock({ $0 }) { TemporaryFolder.remove(folder) }
  }
}
