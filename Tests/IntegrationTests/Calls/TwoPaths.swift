import Foundation

@testable import VoiceTesting

/// Two network namespaces with two links between them, as a phone with Wi-Fi and a mobile network has: the far side has one
/// address, which can be reached by both.
///
/// ```
/// near  10.98.1.2 ── wifi ── 10.98.1.1  far
///       10.98.2.2 ── cell ── 10.98.2.1  10.99.0.1
/// ```
struct TwoPaths: Sendable {
  enum Link: String, Sendable, CaseIterable {
    case wifi, cell

    fileprivate var network: String { self == .wifi ? "10.98.1" : "10.98.2" }
    /// The lower one is taken first.
    fileprivate var metric: String { self == .wifi ? "100" : "200" }
  }

  struct CommandFailed: Error {
    let command: String
    let output: String
  }

  let near: String
  let far: String
  static let farAddress = "10.99.0.1"

  private static let prefix = "voice-test-"
  private static let program = URL(filePath: "/usr/sbin/ip")

  /// Whether this process may make namespaces.
  static var isPossible: Bool {
    geteuid() == 0 && FileManager.default.isExecutableFile(atPath: self.program.path)
  }

  /// Makes the namespaces for the time of a closure.
  static func with<Result: Sendable>(
    _ body: @Sendable (TwoPaths) async throws -> Result
  ) async throws -> Result {
    try await self.removeLeftovers()
    let name = "\(self.prefix)\(ProcessInfo.processInfo.processIdentifier)"
    let paths = TwoPaths(near: "\(name)-near", far: "\(name)-far")
    try await self.ip("netns", "add", paths.near)
    let result: Swift.Result<Result, any Error>
    do {
      try await self.ip("netns", "add", paths.far)
      try await paths.connect()
      result = .success(try await body(paths))
    } catch {
      result = .failure(error)
    }
    for name in [paths.near, paths.far] { _ = try? await self.ip("netns", "delete", name) }
    return try result.get()
  }

  /// Namespaces of a test process that was killed.
  private static func removeLeftovers() async throws {
    for line in try await self.ip("netns", "list") {
      guard let name = line.split(separator: " ").first, name.hasPrefix(self.prefix),
        let process = name.dropFirst(self.prefix.count).split(separator: "-").first,
        !FileManager.default.fileExists(atPath: "/proc/\(process)")
      else { continue }
      _ = try? await self.ip("netns", "delete", String(name))
    }
  }

  private func connect() async throws {
    for name in [self.near, self.far] { try await Self.ip("-n", name, "link", "set", "lo", "up") }
    try await Self.ip("-n", self.far, "address", "add", "\(Self.farAddress)/32", "dev", "lo")
    for link in Link.allCases {
      let name = link.rawValue
      try await Self.ip(
        "-n", self.near, "link", "add", name, "type", "veth", "peer", "name", name, "netns", self.far)
      for (side, host) in [(self.far, 1), (self.near, 2)] {
        // No IPv6: its addresses would come a while later and be changes of their own.
        try await Self.ip("-n", side, "link", "set", name, "addrgenmode", "none")
        try await Self.ip("-n", side, "address", "add", "\(link.network).\(host)/24", "dev", name)
        try await Self.ip("-n", side, "link", "set", name, "up")
      }
      try await self.addRoute(by: link)
    }
  }

  private func addRoute(by link: Link) async throws {
    try await Self.ip(
      "-n", self.near, "route", "add", "default", "via", "\(link.network).1", "metric", link.metric)
  }

  /// Takes a link down on the near side; what was connected over it stays open and is dead.
  func takeDown(_ link: Link) async throws {
    try await Self.ip("-n", self.near, "link", "set", link.rawValue, "down")
  }

  func bringUp(_ link: Link) async throws {
    try await Self.ip("-n", self.near, "link", "set", link.rawValue, "up")
    try await self.addRoute(by: link)
  }

  /// Runs the program `voice` in a namespace.
  func voice<Result>(
    in namespace: String, _ arguments: [String], environment: [String: String] = [:],
    _ body: (PeerProcess) async throws -> Result
  ) async throws -> Result {
    // The program lies beside the tests.
    let voice = URL(filePath: CommandLine.arguments[0]).deletingLastPathComponent().appending(path: "voice")
    return try await withProcess(
      Self.program, arguments: ["netns", "exec", namespace, voice.path] + arguments,
      environment: environment, body)
  }

  @discardableResult
  private static func ip(_ arguments: String...) async throws -> [String] {
    try await withProcess(self.program, arguments: arguments) { process in
      await process.waitForExit()
      guard process.exitStatus == 0 else {
        throw CommandFailed(command: arguments.joined(separator: " "), output: process.errorOutput)
      }
      var lines: [String] = []
      for await event in process.events { lines.append(event.line) }
      return lines
    }
  }
}
