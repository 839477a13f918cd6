import VoiceCore

/// What is to be said in a call and was not sent yet: mono samples at 48 kHz.
///
/// | state | a writer's samples | a live source's samples |
/// |---|---|---|
/// | *waiting* for the call to be connected | are kept, the writer waits (``Admission/full``) | are dropped: nobody is there yet |
/// | *flowing* | are sent | are sent; if there are too many, the oldest are dropped and counted |
/// | *interrupted*: nobody would hear them | are kept, the writer waits | are given out all the same, never late |
/// | *closed* | go nowhere | go nowhere |
struct OutgoingAudio: Sendable {
  enum Admission: Hashable, Sendable {
    case taken
    /// Nothing was taken; there is room after so many samples were sent.
    case full
    case closed
  }

  private enum State: Hashable {
    case waiting
    case flowing
    case interrupted
    case closed(unsent: Int)
  }

  /// A writer is asked to wait beyond this: enough for the jitter of a program, little enough to be stopped at once.
  static let capacity = 9_600
  /// A writer that waits is woken when no more than this is left: there is room for some frames then, and time for it to come.
  static let roomBelow = capacity * 3 / 4
  /// Beyond this live audio is late: the oldest is dropped, down to half of it.
  static let liveLimit = 9_600

  private var state = State.waiting
  private var samples: [Int16] = []
  private var start = 0
  /// Whether the newest samples are of a live source.
  private var isLive = false
  /// Samples of live sources that were dropped because they came faster than they were sent.
  private(set) var dropped: Int64 = 0

  var count: Int { self.samples.count - self.start }

  /// Whether it is time to wake writers that wait.
  var hasRoom: Bool { self.count <= Self.roomBelow }

  /// How many samples the storage holds, sent or not.
  var stored: Int { self.samples.count }

  var isClosed: Bool { self.unsentAtEnd != nil }

  /// How much was not sent before the end; `nil` before it.
  var unsentAtEnd: Int? {
    switch self.state {
    case .waiting, .flowing, .interrupted: nil
    case .closed(let unsent): unsent
    }
  }

  /// The other side can hear what is sent from now on, or cannot.
  mutating func wayChanged(isOpen: Bool) {
    switch self.state {
    case .waiting: if isOpen { self.state = .flowing }
    case .flowing, .interrupted: self.state = isOpen ? .flowing : .interrupted
    case .closed: break
    }
  }

  mutating func offered(_ new: ArraySlice<Int16>) -> Admission {
    guard !self.isClosed else { return .closed }
    guard self.count < Self.capacity else { return .full }
    self.samples.append(contentsOf: new)
    self.isLive = false
    return .taken
  }

  mutating func offeredLive(_ new: ArraySlice<Int16>) {
    switch self.state {
    case .waiting, .closed: return
    case .flowing, .interrupted: break
    }
    self.samples.append(contentsOf: new)
    self.isLive = true
    guard self.count > Self.liveLimit else { return }
    let surplus = self.count - Self.liveLimit / 2
    self.dropped += Int64(surplus)
    self.start += surplus
    self.compact()
  }

  /// Takes one frame; what is missing at its end is silence.
  ///
  /// - Returns: Whether there was anything.
  mutating func take(_ length: Int, into frame: inout [Int16]) -> Bool {
    frame.removeAll(keepingCapacity: true)
    let gives =
      switch self.state {
      case .flowing: true
      case .interrupted: self.isLive
      case .waiting, .closed: false
      }
    let taken = gives ? min(length, self.count) : 0
    frame.append(contentsOf: self.samples[self.start..<self.start + taken])
    frame.append(contentsOf: repeatElement(0, count: length - taken))
    self.start += taken
    self.compact()
    return taken > 0
  }

  /// Moves the rest down now and then, which is cheaper than a ring and keeps the storage small.
  private mutating func compact() {
    guard self.start >= 4 * Self.capacity || self.start == self.samples.count else { return }
    self.samples.removeFirst(self.start)
    self.start = 0
  }

  mutating func discard() {
    self.samples.removeAll(keepingCapacity: true)
    self.start = 0
  }

  mutating func close() {
    guard !self.isClosed else { return }
    self.state = .closed(unsent: self.count)
    self.samples = []
    self.start = 0
  }
}
