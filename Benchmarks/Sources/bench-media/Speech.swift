import CallMedia
import Foundation

/// Recordings that cross a call each.
struct Speech {
  let folder: URL

  func measure() async throws -> [String: Double] {
    let engine = MediaEngine(paths: nil)
    let names = try FileManager.default.contentsOfDirectory(atPath: self.folder.path)
      .filter { $0.hasSuffix(".raw") }.sorted()
    let heard = try await withThrowingTaskGroup(of: Double.self) { group in
      for name in names {
        group.addTask { try await self.cross(self.folder.appending(path: name), on: engine) }
      }
      return try await group.reduce(0, +)
    }
    return ["calls": Double(names.count), "seconds": heard]
  }

  /// Returns how many seconds were heard.
  private func cross(_ file: URL, on engine: MediaEngine) async throws -> Double {
    let data = try Data(contentsOf: file)
    let samples = [Int16](unsafeUninitializedCapacity: data.count / 2) { buffer, count in
      count = data.copyBytes(to: buffer) / 2
    }
    let pair = Pair(on: engine)
    let frames = pair.callee.audio.frames
    let listener = Task {
      var heard: [Int16] = []
      for await frame in frames { heard += frame.samples }
      return heard
    }
    try await pair.connect()
    try await pair.caller.audio.send(samples)
    // What is on its way is heard too.
    while pair.caller.audio.queued > .zero { try await Task.sleep(for: .milliseconds(20)) }
    try await Task.sleep(for: .seconds(1))
    await pair.close()
    let heard = await listener.value
    try heard.withUnsafeBytes {
      try Data($0).write(to: file.deletingPathExtension().appendingPathExtension("heard"))
    }
    return Double(heard.count) / 48_000
  }
}
