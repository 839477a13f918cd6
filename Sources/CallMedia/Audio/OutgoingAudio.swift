import VoiceCore

/// What is to be said in a call and was not sent yet: mono samples at 48 kHz.
///
/// States: *open*, takes samples; *closed*, the call is over and samples go nowhere. A writer that is ahead of the call waits
/// (``Admission/full``); a live source loses its oldest samples instead, so that a call is never late for good.
struct OutgoingAudio: Sendable {
  enum Admission: Hashable, Sendable {
    case taken
    /// Nothing was taken; there is room after so many samples were sent.
    case full
    case closed
  }

  /// A writer is asked to wait beyond this: enough for the jitter of a program, little enough to be stopped at once.
  static let capacity = 9_600
  /// Beyond this live audio is late: the oldest is dropped, down to half of it.
  static let liveLimit = 9_600

  private var samples: [Int16] = []
  private var start = 0
  private(set) var isClosed = false
  /// Samples of live sources that were dropped because they came faster than they were sent.
  private(set) var dropped: Int64 = 0

  var count: Int { self.samples.count - self.start }

  mutating func offered(_ new: ArraySlice<Int16>) -> Admission {
    guard !self.isClosed else { return .closed }
    guard self.count < Self.capacity else { return .full }
    self.samples.append(contentsOf: new)
    return .taken
  }

  mutating func offeredLive(_ new: ArraySlice<Int16>) {
    guard !self.isClosed else { return }
    self.samples.append(contentsOf: new)
    guard self.count > Self.liveLimit else { return }
    let surplus = self.count - Self.liveLimit / 2
    self.dropped += Int64(surplus)
    self.start += surplus
  }

  /// Takes one frame; what is missing at its end is silence.
  ///
  /// - Returns: Whether there was anything.
  mutating func take(_ length: Int, into frame: inout [Int16]) -> Bool {
    frame.removeAll(keepingCapacity: true)
    let taken = min(length, self.count)
    frame.append(contentsOf: self.samples[self.start..<self.start + taken])
    frame.append(contentsOf: repeatElement(0, count: length - taken))
    self.start += taken
    // Moving the rest down now and then is cheaper than a ring and keeps the storage small.
    if self.start >= 4 * Self.capacity || self.start == self.samples.count {
      self.samples.removeFirst(self.start)
      self.start = 0
    }
    return taken > 0
  }

  mutating func discard() {
    self.samples.removeAll(keepingCapacity: true)
    self.start = 0
  }

  mutating func close() {
    self.isClosed = true
    self.samples = []
    self.start = 0
  }
}
