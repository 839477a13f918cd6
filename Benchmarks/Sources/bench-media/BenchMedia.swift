import CallMedia
import Foundation

/// Calls between sessions of this process, and what they cost and sound like, as one JSON object.
///
/// - `load CALLS SECONDS`: milliseconds from the offer to the first sound (`firstAudio`, median), CPU seconds per second and
///   call end (`cpuPerEnd`), threads, and resident megabytes per call end above those of the idle process.
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
      result = try await Load(calls: numbers.first ?? 50, seconds: numbers.dropFirst().first ?? 10).measure()
    case "delay":
      result = try await Delay(count: arguments.first.flatMap { Int($0) } ?? 50).measure()
    case "speech":
      result = try await Speech(folder: URL(filePath: arguments.first ?? ".")).measure()
    default:
      FileHandle.standardError.write(Data("usage: bench-media load|delay|speech …\n".utf8))
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
    self.caller = engine.makeSession(.init()) { _ in }
    self.callee = engine.makeSession(.init()) { _ in }
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
}

extension Duration {
  var milliseconds: Double {
    Double(self.components.seconds) * 1e3 + Double(self.components.attoseconds) / 1e15
  }
}
