import CallMedia
import Foundation

/// `bench-media CALLS SECONDS`: sets calls up between sessions of this process, lets both ends talk, and prints what that costs.
///
/// The output is one JSON object: milliseconds from the offer to the first sound (`firstAudio`, median), CPU seconds per
/// second and call end (`cpuPerEnd`), threads, and resident megabytes per call end above those of the idle process.
@main
enum BenchMedia {
  static func main() async throws {
    let arguments = CommandLine.arguments.dropFirst().compactMap { Int($0) }
    let calls = arguments.first ?? 50
    let seconds = arguments.dropFirst().first ?? 10
    let engine = MediaEngine(paths: nil)
    let idle = Process.status("VmRSS")
    var pairs: [(MediaSession, MediaSession)] = []
    var firstAudio: [Double] = []
    var talkers: [Task<Void, any Error>] = []
    for _ in 0..<calls {
      let began = ContinuousClock.now
      let caller = engine.makeSession(.init()) { _ in }
      let callee = engine.makeSession(.init()) { _ in }
      talkers += [Self.talk(caller.audio), Self.talk(callee.audio)]
      let answer = try await callee.receivedOffer(try await caller.makeOffer())
      try await caller.receivedAnswer(answer)
      await Self.sound(in: caller.audio)
      let took = ContinuousClock.now - began
      firstAudio.append(Double(took.components.seconds) * 1e3 + Double(took.components.attoseconds) / 1e15)
      pairs.append((caller, callee))
    }
    let before = Process.cpu
    try await Task.sleep(for: .seconds(seconds))
    let cpu = (Process.cpu - before) / Double(seconds) / Double(2 * calls)
    let threads = Process.status("Threads")
    let resident = (Process.status("VmRSS") - idle) / 1024 / Double(2 * calls)
    for talker in talkers { talker.cancel() }
    for (caller, callee) in pairs {
      await caller.close()
      await callee.close()
    }
    let sorted = firstAudio.sorted()
    let result = [
      "firstAudio": sorted[sorted.count / 2], "cpuPerEnd": cpu, "threads": threads,
      "megabytesPerEnd": resident,
    ]
    FileHandle.standardOutput.write(try JSONEncoder().encode(result))
  }

  private static func talk(_ audio: CallAudio) -> Task<Void, any Error> {
    Task {
      let tone = (0..<48_000).map { Int16(9_000 * sin(2 * .pi * 440 * Double($0) / 48_000)) }
      while !Task.isCancelled { try await audio.send(tone) }
    }
  }

  private static func sound(in audio: CallAudio) async {
    for await frame in audio.frames where frame.samples.contains(where: { abs(Int($0)) > 1_000 }) { return }
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
