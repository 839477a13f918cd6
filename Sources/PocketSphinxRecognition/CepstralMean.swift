/// The mean of the cepstra of a channel, which is subtracted from each frame while somebody speaks.
///
/// It begins with what an earlier utterance taught, or with the model's, and moves with every frame.
struct CepstralMean: Hashable, Sendable {
  /// How many frames the beginning counts for; with fewer the mean follows the first word instead of the channel.
  private static let priorWeight: Float = 100
  /// More frames than this are forgotten, so that a channel may change.
  private static let window: Float = 500

  private var sum: [Float]
  private var count: Float

  init(_ channel: ChannelState) {
    let count = min(max(Float(channel.frameCount), Self.priorWeight), Self.window)
    self.count = count
    self.sum = channel.mean.map { $0 * count }
  }

  var mean: [Float] { self.sum.map { $0 / self.count } }

  /// What is to be given to the next utterance.
  func channel(levels: SignalLevels) -> ChannelState {
    ChannelState(mean: self.mean, frameCount: Int32(self.count), levels: levels)
  }

  /// Takes frames, one after the other in `frames`, and subtracts the mean as it is known after them.
  mutating func normalize(_ frames: UnsafeMutableBufferPointer<Float>) {
    let dimension = self.sum.count
    guard dimension > 0 else { return }
    for start in stride(from: 0, to: frames.count - dimension + 1, by: dimension) {
      for index in 0..<dimension { self.sum[index] += frames[start + index] }
      self.count += 1
      if self.count > Self.window {
        for index in 0..<dimension { self.sum[index] *= Self.window / self.count }
        self.count = Self.window
      }
    }
    for start in stride(from: 0, to: frames.count - dimension + 1, by: dimension) {
      for index in 0..<dimension { frames[start + index] -= self.sum[index] / self.count }
    }
  }

  /// Subtracts from each frame of a whole utterance the mean of all.
  static func normalizeWhole(_ frames: inout [Float], dimension: Int) {
    let count = dimension > 0 ? frames.count / dimension : 0
    guard count > 0 else { return }
    var sum = [Double](repeating: 0, count: dimension)
    for frame in 0..<count {
      for index in 0..<dimension { sum[index] += Double(frames[frame * dimension + index]) }
    }
    let mean = sum.map { Float($0 / Double(count)) }
    for frame in 0..<count {
      for index in 0..<dimension { frames[frame * dimension + index] -= mean[index] }
    }
  }
}
