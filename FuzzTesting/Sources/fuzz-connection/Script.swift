import FuzzSupport
import RealtimeMedia
import VoiceCore

/// An input, read as orders with their arguments; at its end there are zeros only.
struct Script {
  private var rest: ArraySlice<UInt8>

  init(_ bytes: ArraySlice<UInt8>) {
    self.rest = bytes
  }

  var isAtEnd: Bool { self.rest.isEmpty }

  mutating func byte() -> UInt8 { self.rest.popFirst() ?? UInt8(ascii: "0") }

  /// One of so many things; the digit 0 is the first one, so that seeds can be read and written by people.
  mutating func choice(_ count: Int) -> Int { Int(self.byte() &- UInt8(ascii: "0")) % count }

  mutating func flag() -> Bool { self.choice(2) == 1 }

  mutating func uint16() -> UInt16 { UInt16(self.byte()) << 8 | UInt16(self.byte()) }

  mutating func uint32() -> UInt32 { UInt32(self.uint16()) << 16 | UInt32(self.uint16()) }

  /// Bytes with their count before them.
  mutating func bytes() -> [UInt8] {
    let count = Int(self.byte())
    defer { self.rest = self.rest.dropFirst(count) }
    return Array(self.rest.prefix(count))
  }

  mutating func address() -> TransportAddress {
    let ip: IPAddress =
      switch self.choice(8) {
      case 0: .v4(0x0a00_0001)
      case 1: .v4(0x0a00_0102)
      case 2: .v6(high: 0x2001_0db8_0000_0000, low: 1)
      case 3: .v6(high: 0xfe80_0000_0000_0000, low: 2)
      case 4: .v4(0x7f00_0001)
      case 5: Self.serverIP
      case 6: .v4(0)
      default: .v4(0xa9fe_0000 | UInt32(self.byte()))
      }
    let port: UInt16 =
      switch self.choice(4) {
      case 0: 4000
      case 1: Self.serverPort
      case 2: 0
      default: self.uint16()
      }
    return TransportAddress(ip, port: port)
  }

  static let serverIP = IPAddress.v4(0xc000_0201)
  static let serverPort: UInt16 = 3478

  /// An attribute of STUN with a value of its kind.
  mutating func attribute() -> STUNAttribute {
    switch self.choice(18) {
    case 0: .xorMappedAddress(self.address())
    case 1: .mappedAddress(self.address())
    case 2: .errorCode(300 + Int(self.uint16() % 400), reason: "")
    case 3: .unknownAttributes([self.uint16()])
    case 4: .alternateServer(self.address())
    case 5: .priority(self.uint32())
    case 6: .useCandidate
    case 7: .iceControlled(UInt64(self.uint32()) << 32)
    case 8: .iceControlling(UInt64(self.uint32()) << 32)
    case 9: .lifetime(.seconds(Int64(self.uint32())))
    case 10: .xorRelayedAddress(self.address())
    case 11: .xorPeerAddress(self.address())
    case 12: .data(self.bytes())
    case 13: .nonce(String(decoding: self.bytes(), as: UTF8.self))
    case 14: .realm("realm\(self.choice(3))")
    case 15: .channelNumber(self.uint16())
    case 16: .username(String(decoding: self.bytes(), as: UTF8.self))
    default: .unknown(type: self.uint16(), value: self.bytes())
    }
  }

  mutating func attributes() -> [STUNAttribute] {
    let count = self.choice(4)
    return (0..<count).map { _ in self.attribute() }
  }

  /// How long nothing happens.
  mutating func pause() -> Duration {
    switch self.choice(10) {
    case 0: .zero
    case 1: .milliseconds(1)
    case 2: .milliseconds(20)
    case 3: .milliseconds(50)
    case 4: .milliseconds(250)
    case 5: .seconds(1)
    case 6: .seconds(5)
    case 7: .seconds(30)
    case 8: .seconds(120)
    default: .nanoseconds(Int64(self.uint32()))
    }
  }
}

/// Time that passes only when the script says so; an input has a quarter of an hour of it.
final class ScriptTime {
  private(set) var now = VoiceInstant()
  private let end = VoiceInstant(offset: .seconds(900))
  private var wakes = 0

  var isOver: Bool { self.now >= self.end || self.wakes > 5000 }

  func advance(by pause: Duration) -> VoiceInstant { min(self.end, self.now.advanced(by: pause)) }

  /// Wakes a machine each time that it asks for, up to an instant; it may not ask for ever for one and the same.
  func run(
    until end: VoiceInstant, _ nextWake: (VoiceInstant) -> VoiceInstant?, _ wake: (VoiceInstant) -> Void
  ) {
    var here = 0
    while let next = nextWake(self.now), next <= end, !self.isOver {
      self.wakes += 1
      here = next > self.now ? 0 : here + 1
      require(here < 200, "a machine does what it wanted to be woken for")
      self.now = max(self.now, next)
      wake(self.now)
    }
    self.now = max(self.now, end)
  }
}
