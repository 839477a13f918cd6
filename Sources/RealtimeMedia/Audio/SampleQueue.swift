/// How a stretch of audio came about.
enum SampleOrigin: Hashable, Sendable {
  /// It was decoded from what came.
  case received
  /// It was recovered from redundancy.
  case recovered
  /// It was made up because it was lost or late.
  case concealed
  /// Nothing was to be played: silence, or noise of comfort.
  case resting
}

/// Audio that is ready to be played, with how it came about.
struct SampleQueue: Sendable {
  struct Run: Hashable, Sendable {
    var origin: SampleOrigin
    var count: Int
  }

  private var samples: [Int16] = []
  private var head = 0
  private var runs: [Run] = []

  init() {
    self.samples.reserveCapacity(16384)
    self.runs.reserveCapacity(64)
  }

  var count: Int { self.samples.count - self.head }

  mutating func append(_ samples: [Int16], origin: SampleOrigin) {
    guard !samples.isEmpty else { return }
    self.samples.append(contentsOf: samples)
    if let last = self.runs.indices.last, self.runs[last].origin == origin {
      self.runs[last].count += samples.count
    } else {
      self.runs.append(Run(origin: origin, count: samples.count))
    }
  }

  /// Moves samples to the end of the output, and calls with each of their runs.
  mutating func take(_ count: Int, into output: inout [Int16], _ body: (Run) -> Void) {
    let count = min(count, self.count)
    output.append(contentsOf: self.samples[self.head..<self.head + count])
    self.head += count
    if self.head == self.samples.count {
      self.samples.removeAll(keepingCapacity: true)
      self.head = 0
    } else if self.head >= 8192 {
      self.samples.removeFirst(self.head)
      self.head = 0
    }
    var left = count
    var finished = 0
    for index in self.runs.indices where left > 0 {
      let part = min(left, self.runs[index].count)
      body(Run(origin: self.runs[index].origin, count: part))
      left -= part
      self.runs[index].count -= part
      if self.runs[index].count == 0 { finished += 1 }
    }
    if finished > 0 { self.runs.removeFirst(finished) }
  }
}
