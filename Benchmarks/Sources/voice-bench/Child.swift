import Foundation

/// A program that is run to its end, or killed when it takes too long.
struct Child {
  struct Failure: Error, CustomStringConvertible {
    let description: String
  }

  /// What a program said, and the CPU time that it and the children it waited for took.
  struct Result {
    var output: Data
    var cpu: Double

    func decoded<Value: Decodable>(_ type: Value.Type) throws -> Value {
      do {
        return try JSONDecoder().decode(type, from: self.output)
      } catch {
        throw Failure(
          description: "unexpected output: \(String(decoding: self.output.prefix(200), as: UTF8.self))")
      }
    }
  }

  static func run(
    _ program: String, _ arguments: [String], environment: [String: String] = [:], seconds: Double = 120
  ) throws -> Result {
    let output = FileManager.default.temporaryDirectory.appending(path: "voice-bench-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: output) }
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
    posix_spawn_file_actions_addopen(&actions, 1, output.path, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
    let merged = ProcessInfo.processInfo.environment.merging(environment) { $1 }
    var argv = ([program] + arguments).map { strdup($0) } + [nil]
    var envp = merged.map { strdup("\($0)=\($1)") } + [nil]
    defer { (argv + envp).forEach { free($0) } }
    var pid: pid_t = 0
    guard posix_spawnp(&pid, program, &actions, nil, &argv, &envp) == 0 else {
      throw Failure(description: "\(program) cannot be started")
    }
    var usage = rusage()
    var status: Int32 = 0
    let deadline = Date().addingTimeInterval(seconds)
    while wait4(pid, &status, WNOHANG, &usage) == 0 {
      if Date() > deadline {
        kill(pid, SIGKILL)
        wait4(pid, &status, 0, &usage)
        throw Failure(description: "\(program) took longer than \(seconds) s")
      }
      usleep(5_000)
    }
    let data = (try? Data(contentsOf: output)) ?? Data()
    guard status == 0 else {
      throw Failure(description: "\(program) \(arguments.prefix(3)) failed with status \(status)")
    }
    return Result(output: data, cpu: Self.seconds(usage.ru_utime) + Self.seconds(usage.ru_stime))
  }

  private static func seconds(_ time: timeval) -> Double {
    Double(time.tv_sec) + Double(time.tv_usec) * 1e-6
  }
}

/// A server that runs until it is stopped; it also ends when this process does, because its standard input ends then.
final class ServerChild {
  let process = Process()
  private let input = Pipe()
  let port: Int

  var pid: Int32 { self.process.processIdentifier }

  init(_ program: String, _ arguments: [String]) throws {
    let output = Pipe()
    self.process.executableURL = URL(filePath: program)
    self.process.arguments = arguments
    self.process.standardInput = self.input
    self.process.standardOutput = output
    try self.process.run()
    var line = Data()
    while !line.contains(UInt8(ascii: "\n")) {
      let data = output.fileHandleForReading.availableData
      if data.isEmpty { break }
      line += data
    }
    let words = String(decoding: line, as: UTF8.self).split(whereSeparator: \.isWhitespace)
    guard words.first == "PORT", let port = words.last.flatMap({ Int($0) }) else {
      self.process.terminate()
      throw Child.Failure(description: "\(program) did not say its port")
    }
    self.port = port
  }

  func stop() {
    guard self.process.isRunning else { return }
    kill(self.pid, SIGKILL)
    self.process.waitUntilExit()
  }

  deinit { self.stop() }
}
