import Foundation
import Synchronization
public import VoiceCore

/// Samples that are in memory already.
public struct SamplesSource: AudioSource {
  private let samples: [Int16]
  private let sampleRate: Int
  private let chunkDuration: Duration

  /// Creates a source.
  ///
  /// - Parameters:
  ///   - samples: Mono samples.
  ///   - sampleRate: Their rate, 1,000 to 768,000 Hz; ``capture()`` refuses others with
  ///     `audio.format.not-supported`.
  ///   - chunkDuration: How long each chunk is.
  public init(
    samples: [Int16],
    sampleRate: Int = AudioFormat.recognition.sampleRate,
    chunkDuration: Duration = .milliseconds(100)
  ) {
    self.samples = samples
    self.sampleRate = sampleRate
    self.chunkDuration = chunkDuration
  }

  public func capture() async throws(VoiceFailure) -> AudioCapture {
    let converted = try self.converted()
    return GeneratedAudio.capture(count: Int64(converted.count), chunkDuration: self.chunkDuration) { range in
      Array(converted[Int(range.lowerBound)..<Int(range.upperBound)])
    }
  }

  private func converted() throws(VoiceFailure) -> [Int16] {
    guard self.sampleRate != AudioFormat.recognition.sampleRate else { return self.samples }
    let converter = try PCMConverter(format: RawAudioFormat(sampleRate: self.sampleRate))
    let chunks = self.samples.withUnsafeBufferPointer { converter.append(samples: $0) } + converter.finish()
    return chunks.flatMap(\.samples)
  }
}

/// Silence, for as long as one likes.
public struct SilenceSource: AudioSource {
  private let duration: Duration?
  private let chunkDuration: Duration

  /// Creates a source.
  ///
  /// - Parameters:
  ///   - duration: How long the silence is, or `nil` for silence without end.
  ///   - chunkDuration: How long each chunk is.
  public init(duration: Duration? = nil, chunkDuration: Duration = .milliseconds(100)) {
    self.duration = duration
    self.chunkDuration = chunkDuration
  }

  public func capture() async throws(VoiceFailure) -> AudioCapture {
    GeneratedAudio.capture(count: GeneratedAudio.count(of: self.duration), chunkDuration: self.chunkDuration)
    {
      [Int16](repeating: 0, count: $0.count)
    }
  }
}

/// A sine tone, for as long as one likes.
public struct ToneSource: AudioSource {
  private let frequency: Double
  private let amplitude: Double
  private let duration: Duration?
  private let chunkDuration: Duration

  /// Creates a source.
  ///
  /// - Parameters:
  ///   - frequency: The frequency in Hz.
  ///   - amplitude: The height of the peaks, from 0 to 1 (full scale).
  ///   - duration: How long the tone is, or `nil` for a tone without end.
  ///   - chunkDuration: How long each chunk is.
  public init(
    frequency: Double, amplitude: Double = 0.5, duration: Duration? = nil,
    chunkDuration: Duration = .milliseconds(100)
  ) {
    self.frequency = frequency.isFinite ? frequency : 0
    self.amplitude = amplitude.isFinite ? min(max(amplitude, 0), 1) : 0
    self.duration = duration
    self.chunkDuration = chunkDuration
  }

  public func capture() async throws(VoiceFailure) -> AudioCapture {
    let step = self.frequency / Double(AudioFormat.recognition.sampleRate)
    let peak = self.amplitude * 32_767
    return GeneratedAudio.capture(
      count: GeneratedAudio.count(of: self.duration), chunkDuration: self.chunkDuration
    ) { range in
      range.map { index in
        // The phase is reduced to one turn first: a tone stays pure for days.
        let turns = (Double(index) * step).truncatingRemainder(dividingBy: 1)
        return Int16((sin(turns * 2 * .pi) * peak).rounded())
      }
    }
  }
}

/// Captures of audio that is computed when its reader asks for it.
enum GeneratedAudio {
  static func count(of duration: Duration?) -> Int64 {
    guard let duration else { return .max }
    return max(0, AudioChunk.sample(at: duration, sampleRate: AudioFormat.recognition.sampleRate))
  }

  static func capture(
    count: Int64, chunkDuration: Duration, samples: @escaping @Sendable (Range<Int64>) -> [Int16]
  ) -> AudioCapture {
    let step = Int64(PCMConverter.samples(in: chunkDuration))
    let cursor = Cursor(end: count)
    return AudioCapture(
      isLive: false,
      next: { () async throws(VoiceFailure) -> AudioEvent? in
        guard !Task.isCancelled, let range = cursor.advance(by: step) else { return nil }
        return .chunk(AudioChunk(position: range.lowerBound, samples: samples(range)))
      },
      stop: { cursor.stop() })
  }

  private final class Cursor: Sendable {
    private let state: Mutex<(position: Int64, end: Int64)>

    init(end: Int64) {
      self.state = Mutex((0, end))
    }

    func advance(by step: Int64) -> Range<Int64>? {
      self.state.withLock { state in
        guard state.position < state.end else { return nil }
        let start = state.position
        state.position += min(step, state.end - start)
        return start..<state.position
      }
    }

    func stop() {
      self.state.withLock { $0.end = min($0.end, $0.position) }
    }
  }
}
