public struct CMTime: Sendable {
  public var seconds: Double

  public init(seconds: Double, preferredTimescale: Int32) {
    self.seconds = seconds
  }
}

public struct CMTimeRange: Hashable, Sendable {
  public var start: CMTime
  public var duration: CMTime

  public init(start: CMTime, duration: CMTime) {
    self.start = start
    self.duration = duration
  }
}

extension CMTime: Hashable {}
