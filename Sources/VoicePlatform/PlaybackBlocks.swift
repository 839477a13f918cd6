import VoiceAudio
import VoiceCore

/// Makes blocks in the format of a device of the samples that wait to be played.
struct PlaybackBlocks {
  private let queue: PlaybackQueue
  private let channels: Int
  private let frames: Int
  private let sampleRate: Int
  private let resampler: Resampler?
  private var source: [Int16]
  private var floats: [Float] = []
  private var resampled: [Float] = []
  private var mono: [Int16]
  private var block: [Int16] = []
  private var start = 0

  /// Creates the blocks of a device.
  ///
  /// - Parameter frames: How many frames each block has.
  /// - Throws: ``VoiceFailure`` with the code `audio.format.not-supported`.
  init(_ queue: PlaybackQueue, sampleRate: Int, channels: Int, frames: Int) throws(VoiceFailure) {
    self.queue = queue
    self.channels = max(1, channels)
    self.frames = frames
    self.sampleRate = sampleRate
    self.resampler =
      queue.sampleRate == sampleRate
      ? nil : try Resampler(from: queue.sampleRate, to: sampleRate, quality: 5)
    self.source = [Int16](repeating: 0, count: max(1, frames * queue.sampleRate / sampleRate))
    self.mono = [Int16](repeating: 0, count: frames)
  }

  /// Whether all frames of the block were removed.
  var isEmpty: Bool { self.start >= self.block.count }

  /// How many frames the conversion of the rate may keep back.
  var delayFrames: Int { self.resampler == nil ? 0 : self.frames + self.resampled.count }

  /// Makes the next block, and tells who wants to know what is heard when.
  ///
  /// - Parameters:
  ///   - instant: When the first frame will be heard.
  ///   - delay: How long it takes until then.
  mutating func fill(heardAt instant: VoiceInstant, delay: Duration) {
    if let resampler {
      while self.resampled.count < self.frames {
        self.source.withUnsafeMutableBufferPointer { self.queue.read(into: $0) }
        self.floats.removeAll(keepingCapacity: true)
        self.floats.append(contentsOf: self.source.lazy.map { Float($0) })
        self.floats.withUnsafeBufferPointer { resampler.process($0, into: &self.resampled) }
      }
      for index in 0..<self.frames {
        self.mono[index] = Int16(min(max(self.resampled[index].rounded(), -32_768), 32_767))
      }
      self.resampled.removeFirst(self.frames)
    } else {
      self.mono.withUnsafeMutableBufferPointer { self.queue.read(into: $0) }
    }
    self.queue.setDeviceDelay(delay)
    if let listener = self.queue.playedAudio {
      self.mono.withUnsafeBufferPointer {
        listener.append($0, sampleRate: self.sampleRate, heardAt: instant)
      }
    }
    self.start = 0
    self.block.removeAll(keepingCapacity: true)
    for sample in self.mono {
      // A voice belongs to the front: more than two channels would put it behind the listener, too.
      for channel in 0..<self.channels { self.block.append(channel < 2 ? sample : 0) }
    }
  }

  /// Gives the frames that are left.
  func withUnsafeFrames<Result>(_ body: (UnsafeBufferPointer<Int16>) -> Result) -> Result {
    let start = self.start
    return self.block.withUnsafeBufferPointer { body(UnsafeBufferPointer(rebasing: $0.dropFirst(start))) }
  }

  /// Removes frames that the device has taken.
  mutating func remove(frames: Int) {
    self.start += frames * self.channels
  }
}
