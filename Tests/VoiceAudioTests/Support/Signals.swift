import Foundation
import VoiceAudio
import VoiceCore

/// Test signals and measurements of them.
enum Signals {
  static func sine(_ frequency: Double, rate: Int, count: Int, amplitude: Double = 0.5) -> [Float] {
    (0..<count).map { Float(sin(2 * .pi * frequency * Double($0) / Double(rate)) * amplitude) }
  }

  static func sine16(_ frequency: Double, rate: Int, count: Int, amplitude: Double = 0.5) -> [Int16] {
    sine(frequency, rate: rate, count: count, amplitude: amplitude).map { Int16(($0 * 32_767).rounded()) }
  }

  /// Amplitude (1.0 is full scale) and phase (radians, 0 for a sine that starts at position 0) of one frequency.
  static func measure(_ frequency: Double, in samples: ArraySlice<Int16>, rate: Double = 16_000) -> (
    amplitude: Double, phase: Double
  ) {
    var (sines, cosines) = (0.0, 0.0)
    for index in samples.indices {
      let angle = 2 * .pi * frequency * Double(index) / rate
      sines += sin(angle) * Double(samples[index])
      cosines += cos(angle) * Double(samples[index])
    }
    let scale = 2 / Double(samples.count) / 32_768
    return (hypot(sines, cosines) * scale, atan2(cosines, sines))
  }
}

/// All that a capture delivered.
struct Heard {
  var samples: [Int16] = []
  var chunks: [AudioChunk] = []
  var notices: [VoiceFailure] = []
  var failure: VoiceFailure?

  init(_ capture: AudioCapture) async {
    do throws(VoiceFailure) {
      for try await event in capture {
        switch event {
        case .chunk(let chunk):
          self.chunks.append(chunk)
          self.samples += chunk.samples
        case .notice(let notice):
          self.notices.append(notice)
        }
      }
    } catch {
      self.failure = error
    }
  }

  init(_ source: some AudioSource) async {
    do throws(VoiceFailure) {
      self = await Heard(try await source.capture())
    } catch {
      self.failure = error
    }
  }

  private init() {}

  /// Whether each chunk starts where the one before it ended.
  var isGapless: Bool {
    zip(self.chunks, self.chunks.dropFirst()).allSatisfy { $0.endPosition == $1.position }
  }
}

/// A folder that is removed with its last reference.
final class TemporaryFolder {
  let path: String

  init() throws {
    self.path = NSTemporaryDirectory() + "voice-audio-tests-" + UUID().uuidString
    try FileManager.default.createDirectory(atPath: self.path, withIntermediateDirectories: true)
  }

  deinit {
    try? FileManager.default.removeItem(atPath: self.path)
  }

  /// Writes a file and returns its path.
  func file(_ name: String, _ bytes: [UInt8]) throws -> String {
    let path = self.path + "/" + name
    try Data(bytes).write(to: URL(fileURLWithPath: path))
    return path
  }
}

/// Compares long recordings; what `==` would print of a difference takes minutes.
func same(_ left: [Int16], _ right: [Int16]) -> Bool {
  left == right
}
