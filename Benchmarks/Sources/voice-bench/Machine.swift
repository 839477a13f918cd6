import Foundation

/// Where a run took place.
struct Machine: Codable, CustomStringConvertible {
  var processor: String
  var cores: Int
  var memory: String
  var system: String
  var load: String
  var versions: [String]

  init() {
    let info = Self.text("/proc/cpuinfo").split(separator: "\n")
    self.processor =
      info.first { $0.hasPrefix("model name") }?.split(separator: ":").last.map {
        $0.trimmingCharacters(in: .whitespaces)
      } ?? "?"
    self.cores = ProcessInfo.processInfo.activeProcessorCount
    self.memory = "\(ProcessInfo.processInfo.physicalMemory >> 30) GiB"
    self.system = ProcessInfo.processInfo.operatingSystemVersionString
    self.load = Self.load
    let packages = [
      "libgrpc++1.51", "libprotobuf32", "libpocketsphinx3", "pocketsphinx", "pocketsphinx-en-us",
    ]
    let debian = packages.map { name in
      "\(name) \(Self.output("dpkg-query", ["--show", "--showformat=${Version}", name]))"
    }
    self.versions = [Self.output("swift", ["--version"])] + debian
  }

  static var load: String {
    self.text("/proc/loadavg").split(separator: " ").prefix(3).joined(separator: " ")
  }

  var description: String {
    """
    \(self.processor), \(self.cores) cores, \(self.memory), \(self.system); load \(self.load)
    \(self.versions.joined(separator: ", "))
    """
  }

  /// The core that was idle most in the last second.
  static func idlestCore() -> Int {
    let before = self.idleTimes()
    usleep(1_000_000)
    let idle = zip(self.idleTimes(), before).map { $0 - $1 }
    return idle.indices.max { idle[$0] < idle[$1] } ?? 0
  }

  private static func idleTimes() -> [Int] {
    self.text("/proc/stat").split(separator: "\n").compactMap { line in
      let words = line.split(separator: " ")
      guard words.count > 4, words[0].hasPrefix("cpu"), words[0] != "cpu" else { return nil }
      return Int(words[4])
    }
  }

  private static func text(_ path: String) -> String {
    (try? String(contentsOfFile: path, encoding: .utf8)) ?? ""
  }

  private static func output(_ program: String, _ arguments: [String]) -> String {
    let result = try? Child.run(program, arguments, seconds: 30)
    return String(decoding: result?.output ?? Data(), as: UTF8.self).split(separator: "\n").first.map(
      String.init) ?? "?"
  }
}
