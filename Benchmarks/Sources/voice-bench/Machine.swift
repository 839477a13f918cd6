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
    self.processor = info.first { $0.hasPrefix("model name") }?.split(separator: ":").last.map { $0.trimmingCharacters(in: .whitespaces) } ?? "?"
    self.cores = ProcessInfo.processInfo.activeProcessorCount
    self.memory = "\(ProcessInfo.processInfo.physicalMemory >> 30) GiB"
    self.system = ProcessInfo.processInfo.operatingSystemVersionString
    self.load = Self.load
    let packages = ["libgrpc++1.51", "libprotobuf32", "libpocketsphinx3", "pocketsphinx", "pocketsphinx-en-us"]
    let debian = packages.map { name in
      "\(name) \(Self.output("dpkg-query", ["--show", "--showformat=${Version}", name]))"
    }
    self.versions = [Self.output("swift", ["--version"])] + debian
  }

  static var load: String { self.text("/proc/loadavg").split(separator: " ").prefix(3).joined(separator: " ") }

  var description: String {
    """
    \(self.processor), \(self.cores) cores, \(self.memory), \(self.system); load \(self.load)
    \(self.versions.joined(separator: ", "))
    """
  }

  private static func text(_ path: String) -> String {
    (try? String(contentsOfFile: path, encoding: .utf8)) ?? ""
  }

  private static func output(_ program: String, _ arguments: [String]) -> String {
    let result = try? Child.run(program, arguments, seconds: 30)
    return String(decoding: result?.output ?? Data(), as: UTF8.self).split(separator: "\n").first.map(String.init) ?? "?"
  }
}
