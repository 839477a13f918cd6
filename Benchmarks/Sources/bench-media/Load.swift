import CallMedia
import Foundation
import Synchronization

/// Calls that are set up one after the other and talk at once, and of which every end listens to what it hears.
struct Load {
  let calls: Int
  let seconds: Int
  let threads: Int
  /// What everybody says again and again, mono at 48 kHz: speech costs an encoder more than a tone.
  let sound: [Int16]

  func measure() async throws -> [String: Double] {
    let engine = MediaEngine(threads: self.threads, paths: nil)
    let idle = Process.status("VmRSS")
    var pairs: [Pair] = []
    var firstAudio: [Double] = []
    let heard = Heard()
    var talkers: [Task<Void, any Error>] = []
    var listeners: [Task<Void, Never>] = []
    for _ in 0..<self.calls {
      let began = ContinuousClock.now
      let pair = Pair(on: engine)
      talkers += [self.talk(pair.caller.audio), self.talk(pair.callee.audio)]
      let (first, isAudible) = AsyncStream.makeStream(of: Void.self)
      listeners.append(Self.listen(pair.caller.audio, heard) { isAudible.finish() })
      listeners.append(Self.listen(pair.callee.audio, heard) {})
      try await pair.connect()
      for await _ in first {}
      firstAudio.append((ContinuousClock.now - began).milliseconds)
      pairs.append(pair)
    }
    let (cpuBefore, heardBefore) = (Process.cpu, heard.seconds)
    try await Task.sleep(for: .seconds(self.seconds))
    let ends = Double(2 * self.calls)
    let cpu = (Process.cpu - cpuBefore) / Double(self.seconds) / ends
    let share =
      (heard.seconds - heardBefore) / Double(self.seconds) / ends / Tone.audibleShare(of: self.sound)
    let threads = Process.status("Threads")
    let resident = (Process.status("VmRSS") - idle) / 1024 / ends
    for talker in talkers { talker.cancel() }
    for listener in listeners { listener.cancel() }
    for pair in pairs { await pair.close() }
    let sorted = firstAudio.sorted()
    return [
      "firstAudio": sorted[sorted.count / 2], "cpuPerEnd": cpu, "threads": threads,
      "megabytesPerEnd": resident, "heard": share,
    ]
  }

  private func talk(_ audio: CallAudio) -> Task<Void, any Error> {
    Task { [sound] in
      while !Task.isCancelled { try await audio.send(sound) }
    }
  }

  private static func listen(
    _ audio: CallAudio, _ heard: Heard, isAudible: @escaping @Sendable () -> Void
  ) -> Task<Void, Never> {
    Task {
      for await frame in audio.frames where frame.samples.contains(where: Tone.isAudible) {
        heard.add(frame.samples.count)
        isAudible()
      }
    }
  }
}

/// How much of the tone all ends together have heard.
final class Heard: Sendable {
  private let samples = Atomic(0)

  func add(_ count: Int) { self.samples.add(count, ordering: .relaxed) }

  /// In seconds.
  var seconds: Double { Double(self.samples.load(ordering: .relaxed)) / 48_000 }
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
