/// Where the decoder's frames are in the audio.
///
/// The front end passes on only the frames in which somebody speaks, so the decoder's count stands still in
/// silence. Each run of passed frames is kept with its place in the audio.
struct FrameTimes: Hashable, Sendable {
  private struct Run: Hashable, Sendable {
    var decoderFrame: Int
    var audioFrame: Int
  }

  private var runs: [Run] = []
  /// How many frames the decoder got.
  private(set) var decoderFrameCount = 0

  /// Takes that the decoder got `count` frames, which are contiguous in the audio and begin at `audioFrame`.
  mutating func passed(_ count: Int, from audioFrame: Int) {
    guard count > 0 else { return }
    let continues = self.runs.last.map {
      $0.audioFrame - $0.decoderFrame == audioFrame - self.decoderFrameCount
    }
    if continues != true {
      self.runs.append(Run(decoderFrame: self.decoderFrameCount, audioFrame: audioFrame))
    }
    self.decoderFrameCount += count
  }

  /// The place in the audio of a frame of the decoder.
  func audioFrame(of decoderFrame: Int) -> Int {
    var low = 0
    var high = self.runs.count
    while low < high {
      let middle = (low + high) / 2
      if self.runs[middle].decoderFrame <= decoderFrame { low = middle + 1 } else { high = middle }
    }
    guard low > 0 else { return self.runs.first?.audioFrame ?? 0 }
    let run = self.runs[low - 1]
    return run.audioFrame + max(0, decoderFrame - run.decoderFrame)
  }
}
