import CallMedia
import Foundation

/// Calls that are set up one after the other and talk at once.
struct Load {
  let calls: Int
  let seconds: Int

  func measure() async throws -> [String: Double] {
    let engine = MediaEngine(paths: nil)
    let idle = Process.status("VmRSS")
    var pairs: [Pair] = []
    var firstAudio: [Double] = []
    var talkers: [Task<Void, any Error>] = []
    for _ in 0..<self.calls {
      let began = ContinuousClock.now
      let pair = Pair(on: engine)
      talkers += [Self.talk(pair.caller.audio), Self.talk(pair.callee.audio)]
      try await pair.connect()
      for await frame in pair.caller.audio.frames where frame.samples.contains(where: Tone.isAudible) {
        break
      }
      firstAudio.append((ContinuousClock.now - began).milliseconds)
      pairs.append(pair)
    }
    let before = Process.cpu
    try await Task.sleep(for: .seconds(self.seconds))
    let ends = Double(2 * self.calls)
    let cpu = (Process.cpu - before) / Double(self.seconds) / ends
    let threads = Process.status("Threads")
    let resident = (Process.status("VmRSS") - idle) / 1024 / ends
    for talker in talkers { talker.cancel() }
    for pair in pairs { await pair.close() }
    let sorted = firstAudio.sorted()
    return [
      "firstAudio": sorted[sorted.count / 2], "cpuPerEnd": cpu, "threads": threads,
      "megabytesPerEnd": resident,
    ]
  }

  private static func talk(_ audio: CallAudio) -> Task<Void, any Error> {
    Task {
      while !Task.isCancelled { try await audio.send(Tone.second) }
    }
  }
}

/// What the system says of this process.
enum Process {
  static var cpu: Double {
    var usage = rusage()
    getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
    func seconds(_ time: timeval) -> Double { Double(time.tv_sec) + Double(time.tv_usec) / 1e6 }
    return seconds(usage.ru_utime) + seconds(usage.ru_stime)
  }

  /// A number of `/proc/self/status`, in its unit there.
  static func status(_ name: String) -> Double {
    let text = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
    let line = text.split(separator: "\n").first { $0.hasPrefix("\(name):") } ?? ""
    return line.split(whereSeparator: \.isWhitespace).dropFirst().first.flatMap { Double($0) } ?? .nan
  }
}
