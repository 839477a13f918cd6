/// A key press or its continuation as it stands in a packet (RFC 4733 section 2.3).
public struct TelephoneEvent: Hashable, Sendable {
  /// A key (RFC 4733 section 3.2).
  public enum Key: UInt8, Hashable, Sendable, CaseIterable {
    case zero, one, two, three, four, five, six, seven, eight, nine, star, pound, a, b, c, d

    /// The key of a character: digits, `*`, `#`, and `A` to `D` in either case.
    public init?(_ character: Character) {
      guard let index = Array("0123456789*#ABCD").firstIndex(of: Character(character.uppercased())) else {
        return nil
      }
      self.init(rawValue: UInt8(index))
    }

    /// The character of the key.
    public var character: Character { Array("0123456789*#ABCD")[Int(self.rawValue)] }
  }

  /// The code; 0 to 15 are keys.
  public var code: UInt8
  /// Whether it is over.
  public var isEnd: Bool
  /// How much quieter than 0 dBm0, in decibels, from 0 to 63.
  public var attenuation: UInt8
  /// How long it is so far, in units of the timestamp.
  public var duration: UInt16

  /// Creates an event.
  public init(code: UInt8, isEnd: Bool, attenuation: UInt8 = 10, duration: UInt16) {
    self.code = code
    self.isEnd = isEnd
    self.attenuation = min(63, attenuation)
    self.duration = duration
  }

  /// Reads a payload; of several events in it the first one.
  public init?(parsing payload: ArraySlice<UInt8>) {
    var reader = ByteReader(payload)
    guard let code = reader.uint8(), let flags = reader.uint8(), let duration = reader.uint16() else {
      return nil
    }
    self.init(code: code, isEnd: flags & 0x80 != 0, attenuation: flags & 0x3f, duration: duration)
  }

  /// The payload of four bytes.
  public var payload: [UInt8] {
    [
      self.code, (self.isEnd ? 0x80 : 0) | min(63, self.attenuation), UInt8(self.duration >> 8),
      UInt8(self.duration & 0xff),
    ]
  }

  /// The key, if it is one.
  public var key: Key? { Key(rawValue: self.code) }
}

/// Sends keys one after the other (RFC 4733 section 2.5.1).
///
/// States: *idle*, *pressed* (packets with a growing duration), *ending* (the last packet, three times in all),
/// *paused* (the silence between two keys). It is asked once for each packet of audio, whose place its packets take.
public struct TelephoneEventSender: Hashable, Sendable {
  /// What to send instead of audio.
  public enum Output: Hashable, Sendable {
    /// Nothing to send: audio goes on.
    case audio
    /// A packet with this payload, timestamp and marker.
    case event(TelephoneEvent, timestamp: UInt32, marker: Bool)
    /// Neither: the silence between two keys.
    case silence
  }

  private enum State: Hashable, Sendable {
    case idle
    case pressed(TelephoneEvent.Key, start: UInt32, length: Int, sent: Int)
    case ending(TelephoneEvent, start: UInt32, left: Int, pause: Int)
    case paused(until: UInt32)
  }

  private struct Press: Hashable, Sendable {
    var key: TelephoneEvent.Key
    var length: Int
    var pause: Int
  }

  /// How many keys may wait.
  public static let capacity = 64
  private let clockRate: Int
  private var state = State.idle
  private var waiting: [Press] = []
  private var pause = 0

  /// Creates a sender.
  public init(clockRate: Int) {
    self.clockRate = max(1000, min(192_000, clockRate))
  }

  /// Whether keys are being sent or wait.
  public var isBusy: Bool { self.state != .idle || !self.waiting.isEmpty }

  /// Adds a key.
  ///
  /// - Parameters:
  ///   - duration: From 40 ms to what 16 bits of the clock can say.
  ///   - pause: The silence after it, at least 30 ms.
  /// - Returns: False if too many keys wait.
  public mutating func press(
    _ key: TelephoneEvent.Key, duration: Duration = .milliseconds(100), pause: Duration = .milliseconds(70)
  ) -> Bool {
    guard self.waiting.count < Self.capacity else { return false }
    let length = max(.milliseconds(40), duration).units(of: self.clockRate)
    let silence = max(.milliseconds(30), min(.seconds(10), pause)).units(of: self.clockRate)
    self.waiting.append(Press(key: key, length: Int(min(65535, length)), pause: Int(silence)))
    return true
  }

  /// Takes the time of the next packet of audio.
  ///
  /// - Parameters:
  ///   - timestamp: The timestamp that the packet of audio would have.
  ///   - length: How many units it is long.
  public mutating func nextPacket(at timestamp: UInt32, length: Int) -> Output {
    switch self.state {
    case .paused(let until) where Int32(bitPattern: until &- timestamp) > 0: return .silence
    case .idle, .paused:
      self.state = .idle
      guard !self.waiting.isEmpty else { return .audio }
      let press = self.waiting.removeFirst()
      self.pause = press.pause
      self.state = .pressed(press.key, start: timestamp, length: press.length, sent: 0)
      return self.nextPacket(at: timestamp, length: length)
    case .pressed(let key, let start, let total, let sent):
      let elapsed = Int(timestamp &- start) + max(1, length)
      let isEnd = elapsed >= total
      let event = TelephoneEvent(
        code: key.rawValue, isEnd: isEnd, duration: UInt16(clamping: min(elapsed, total)))
      self.state =
        isEnd
        ? .ending(event, start: start, left: 2, pause: self.pause)
        : .pressed(key, start: start, length: total, sent: sent + 1)
      return .event(event, timestamp: start, marker: sent == 0)
    case .ending(let event, let start, let left, let pause):
      self.state =
        left > 1
        ? .ending(event, start: start, left: left - 1, pause: pause)
        : .paused(until: start &+ UInt32(event.duration) &+ UInt32(truncatingIfNeeded: pause))
      return .event(event, timestamp: start, marker: false)
    }
  }
}

/// Receives keys (RFC 4733 section 2.5.2): each once, however many of its packets are lost or come twice.
///
/// States: *idle*, *pressed*. A key whose last packets are all lost ends when the next one begins, or when nothing of it
/// came for a while. A key that is longer than 16 bits can say comes in segments, which are joined (section 2.5.2.3).
public struct TelephoneEventReceiver: Hashable, Sendable {
  /// What was noticed.
  public enum Output: Hashable, Sendable {
    case began(TelephoneEvent.Key)
    /// The duration is in units of the timestamp.
    case ended(TelephoneEvent.Key, duration: Int)
  }

  private struct Current: Hashable, Sendable {
    var key: TelephoneEvent.Key
    /// Of the present segment.
    var start: UInt32
    /// Of the segments before.
    var before = 0
    var duration: Int
    var isOver: Bool
    var lastSeen: UInt32

    var total: Int { self.before + self.duration }
  }

  private static let longestSegment = 0xffff
  private let patience: Int
  /// How far the next segment may be from where the last one ended: 40 ms.
  private var tolerance: UInt { UInt(self.patience * 4 / 15) }
  private var current: Current?

  /// Creates a receiver.
  ///
  /// - Parameter clockRate: Units of the timestamp per second; 150 ms without a packet end a key.
  public init(clockRate: Int) {
    self.patience = max(1000, min(192_000, clockRate)) * 3 / 20
  }

  /// Takes a packet.
  ///
  /// - Parameters:
  ///   - timestamp: When the key went down, or its segment began.
  ///   - isMarked: Whether the packet has the marker, which only the first ones of a key have.
  ///   - now: The time in units of the receiver's clock, as ``timePassed(at:)`` gets it.
  public mutating func received(
    _ event: TelephoneEvent, timestamp: UInt32, isMarked: Bool = false, at now: UInt32
  ) -> [Output] {
    guard let key = event.key else { return [] }
    var outputs: [Output] = []
    if var current = self.current {
      let order = Int32(bitPattern: timestamp &- current.start)
      // A late packet of a key that is over, or of one before.
      if order < 0 || order == 0 && current.isOver { return [] }
      let isNextSegment =
        !isMarked && !current.isOver && (Int(order) - Self.longestSegment).magnitude <= self.tolerance
      if isNextSegment, current.key == key {
        current.before += Int(order)
        current.start = timestamp
        current.duration = 0
      }
      if current.start == timestamp && current.key == key {
        current.duration = max(current.duration, Int(event.duration))
        current.lastSeen = now
        if event.isEnd {
          current.isOver = true
          outputs.append(.ended(key, duration: current.total))
        }
        self.current = current
        return outputs
      }
      if !current.isOver { outputs.append(.ended(current.key, duration: current.total)) }
    }
    outputs.append(.began(key))
    if event.isEnd { outputs.append(.ended(key, duration: Int(event.duration))) }
    self.current = Current(
      key: key, start: timestamp, duration: Int(event.duration), isOver: event.isEnd, lastSeen: now)
    return outputs
  }

  /// Ends a key of which nothing came for a while.
  public mutating func timePassed(at now: UInt32) -> [Output] {
    guard var current = self.current, !current.isOver else { return [] }
    guard Int32(bitPattern: now &- current.lastSeen) > Int32(self.patience) else { return [] }
    current.isOver = true
    self.current = current
    return [.ended(current.key, duration: current.total)]
  }
}
