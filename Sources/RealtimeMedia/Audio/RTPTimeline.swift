/// The time of packets in samples at 48 kHz, over changes of the codec and of its clock.
///
/// With each new clock rate the timestamps of a source begin anew or go on in other steps (RFC 7160 section 4): the
/// first packet with another clock is placed by its sequence number behind the newest one before.
struct RTPTimeline: Sendable {
  static let rate = 48000

  private struct Clock: Sendable {
    var rate: Int
    var unwrapper = TimestampUnwrapper()
    var offset: Int64 = 0
  }

  private var sequences = SequenceUnwrapper()
  private var clocks: [Clock] = []
  private var current: Int?
  private var newest: Int64?
  private var newestEnd: Int64 = 0
  private var lastLength: Int64 = 960

  /// The end of the newest packet.
  var end: Int64 { self.newestEnd }

  /// The place of a packet; `nil` if its clock cannot be, or it is older than the first one with its clock.
  mutating func place(sequence: UInt16, timestamp: UInt32, clockRate: Int, length: Int) -> Int64? {
    guard clockRate > 0, Self.rate % clockRate == 0 else { return nil }
    let sequence = self.sequences.unwrap(sequence)
    let isNewest = self.newest.map { sequence > $0 } ?? true
    if self.current != clockRate {
      if isNewest {
        self.change(to: clockRate, timestamp: timestamp, sequence: sequence)
      } else if !self.clocks.contains(where: { $0.rate == clockRate }) {
        return nil
      }
    }
    guard let place = self.place(timestamp, clockRate: clockRate) else { return nil }
    if isNewest {
      self.newest = sequence
      self.newestEnd = place + Int64(length)
      self.lastLength = Int64(length)
    }
    return place
  }

  /// The place of a timestamp that is not one of audio; `nil` for a clock that no audio has.
  mutating func place(_ timestamp: UInt32, clockRate: Int) -> Int64? {
    guard let index = self.clocks.firstIndex(where: { $0.rate == clockRate }) else { return nil }
    return self.clocks[index].unwrapper.unwrap(timestamp) &* Int64(Self.rate / clockRate)
      &+ self.clocks[index].offset
  }

  private mutating func change(to clockRate: Int, timestamp: UInt32, sequence: Int64) {
    var clock = Clock(rate: clockRate)
    if let newest = self.newest {
      // More than a few packets in between are an outage, whose length is not known.
      let between = min(50, sequence - newest - 1)
      let place = self.newestEnd + between * self.lastLength
      clock.offset = place &- clock.unwrapper.unwrap(timestamp) &* Int64(Self.rate / clockRate)
    }
    self.clocks.removeAll { $0.rate == clockRate }
    self.clocks.append(clock)
    self.current = clockRate
  }
}
