import CallMedia
import Foundation

/// Calls between sessions of this process, and what they cost and sound like, as one JSON object.
///
/// - `load CALLS SECONDS [THREADS] [FILE]`: milliseconds from the offer to the first sound (`firstAudio`, median), CPU seconds per second
///   and call end (`cpuPerEnd`), the share of the sound sent that is heard (`heard`), threads of the process, and resident
///   megabytes per call end above those of the idle process. All say a tone, or what the file holds (as below).
/// - `allocations CALLS SECONDS`: how often memory is asked for per packet that is sent or received (`allocationsPerPacket`).
/// - `delay COUNT`: milliseconds from when a frame was captured to when its sound is handed to the listener (`p50`, `p95`).
/// - `speech FOLDER`: sends each `NAME.raw` (mono, 16 bits, 48 kHz) through a call of its own, all at once, and writes what the
///   other side hears to `NAME.heard`.
@main
enum BenchMedia {
  static func main() async throws {
    var arguments = CommandLine.arguments.dropFirst()
    let measurement = arguments.popFirst()
    let result: [String: Double]
    switch measurement {
    case "load":
      let numbers = arguments.compactMap { Int($0) }
      let file = arguments.first { Int($0) == nil }
      result = try await Load(
        calls: numbers.first ?? 50, seconds: numbers.dropFirst().first ?? 10,
        threads: numbers.dropFirst(2).first ?? 1, sound: try file.map(Tone.samples) ?? Tone.second
      ).measure()
    case "allocations":
      let numbers = arguments.compactMap { Int($0) }
      result = try await Allocations(
        calls: numbers.first ?? 5, seconds: numbers.dropFirst().first ?? 10
      ).measure()
    case "delay":
      result = try await Delay(count: arguments.first.flatMap { Int($0) } ?? 50).measure()
    case "speech":
      result = try await Speech(folder: URL(filePath: arguments.first ?? ".")).measure()
    default:
      FileHandle.standardError.write(Data("usage: bench-media load|allocations|delay|speech …\n".utf8))
      exit(64)
    }
    FileHandle.standardOutput.write(try JSONEncoder().encode(result))
  }
}

/// Two ends of a call.
struct Pair {
  let caller: MediaSession
  let callee: MediaSession

  init(on engine: MediaEngine) {
    self.caller = engine.makeSession(.init(), report: Self.report)
    self.callee = engine.makeSession(.init(), report: Self.report)
  }

  /// A call that fails would be waited for in vain, and what is left measures something else.
  private static func report(_ event: MediaSession.Event) {
    guard case .failed(let failure) = event else { return }
    FileHandle.standardError.write(Data("A call failed: \(failure)\n".utf8))
    exit(1)
  }

  func connect() async throws {
    let answer = try await self.callee.receivedOffer(try await self.caller.makeOffer())
    try await self.caller.receivedAnswer(answer)
  }

  func close() async {
    await self.caller.close()
    await self.callee.close()
  }
}

/// What is sent where no speech is asked for.
enum Tone {
  static let second = (0..<48_000).map { Int16(9_000 * sin(2 * .pi * 440 * Double($0) / 48_000)) }

  /// Whether a sample belongs to the tone and not to the silence before it.
  static func isAudible(_ sample: Int16) -> Bool { abs(Int(sample)) > 1_000 }

  /// The samples of a file without a header.
  static func samples(_ path: String) throws -> [Int16] {
    try Data(contentsOf: URL(filePath: path)).withUnsafeBytes { Array($0.bindMemory(to: Int16.self)) }
  }

  /// How many of its frames can be heard, because speech has pauses.
  static func audibleShare(of samples: [Int16]) -> Double {
    let frames = stride(from: 0, to: samples.count, by: 960).map {
      samples[$0..<min($0 + 960, samples.count)]
    }
    return Double(frames.count { $0.contains(where: Self.isAudible) }) / Double(max(1, frames.count))
  }
}

extension Duration {
  var milliseconds: Double {
    Double(self.components.seconds) * 1e3 + Double(self.components.attoseconds) / 1e15
  }
}
