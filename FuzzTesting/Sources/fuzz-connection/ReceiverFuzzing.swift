import FuzzSupport
import RealtimeMedia
import VoiceCore

/// A receiver with packets as no network would deliver them, and somebody who listens.
struct ReceiverFuzzing {
  private var script: Script
  private let time = ScriptTime()
  private let receiver: AudioReceiver
  private let options: AudioReceiver.Options
  private var sequence: UInt16
  private var timestamp: UInt32
  private var ssrc: UInt32 = 1
  private var samples: [Int16] = []
  private var read = 0
  private var packets = 0

  init(_ script: Script) {
    var script = script
    self.sequence = script.flag() ? 65_530 : 100
    self.timestamp = script.flag() ? UInt32.max - 9000 : 100
    self.options =
      switch script.choice(4) {
      case 0: .init()
      case 1: .init(minimumDelay: .zero, maximumDelay: .milliseconds(40), playsComfortNoise: false)
      case 2: .init(minimumDelay: .milliseconds(200), maximumDelay: .seconds(2))
      default: .init(minimumDelay: .seconds(1), maximumDelay: .zero)
      }
    self.receiver = AudioReceiver(
      codecs: Self.codecs, telephoneEvents: Self.telephoneEvents, options: self.options)
    self.script = script
  }

  static let codecs: [NegotiatedAudio.Codec] = [
    .init(key: .init("opus", clockRate: 48_000, channels: 2), sends: 111, receives: 111),
    .init(key: .init("PCMU", clockRate: 8000), sends: 0, receives: 0),
    .init(key: .init("PCMA", clockRate: 8000), sends: 8, receives: 8),
  ]
  static let telephoneEvents: [NegotiatedAudio.Codec] = [
    .init(key: .init("telephone-event", clockRate: 48_000), sends: 110, receives: 110),
    .init(key: .init("telephone-event", clockRate: 8000), sends: 101, receives: 101),
  ]

  /// Payloads of a tone in packets of 10, 20, 40 and 60 ms, with redundancy, and of the silence after it.
  static let payloads: [[UInt8]] = {
    guard let encoder = try? OpusEncoder(expectedLoss: 0.2, dtx: true) else { return [] }
    return [480, 960, 960, 1920, 2880, 960].enumerated().map { number, count in
      var payload: [UInt8] = []
      for _ in 0..<(number == 5 ? 40 : 3) {
        payload = []
        let samples = (0..<count).map { number == 5 ? 0 : Int16(($0 % 96) * 200 - 9600) }
        _ = try? encoder.encode(samples[...], into: &payload)
      }
      return payload
    }
  }()

  mutating func run() {
    var orders = 0
    while !self.script.isAtEnd, !self.time.isOver, orders < 1000, self.read < 4_800_000 {
      orders += 1
      self.obey()
    }
    self.listen(960)
  }

  private mutating func obey() {
    switch self.script.byte() {
    case UInt8(ascii: "n"):
      // As a sender does it.
      let payload = Self.payloads[self.script.choice(Self.payloads.count)]
      self.deliver(111, payload[...])
      self.sequence &+= 1
      self.timestamp &+= UInt32(OpusPacket.duration(of: payload[...]) ?? 0)
    case UInt8(ascii: "g"):
      self.deliver(self.script.flag() ? 0 : 8, Array(repeating: self.script.byte(), count: 160)[...])
      self.sequence &+= 1
      self.timestamp &+= 160
    case UInt8(ascii: "k"):
      let event = [UInt8(self.script.choice(17)), self.script.byte(), self.script.byte(), self.script.byte()]
      self.deliver(self.script.flag() ? 110 : 101, event[...])
      self.sequence &+= 1
    case UInt8(ascii: "a"):
      let payloadType = [111, 0, 8, 110, 101, 13, 127, 96][self.script.choice(8)]
      self.deliver(UInt8(payloadType), self.script.bytes()[...])
    case UInt8(ascii: "e"):
      self.deliver(0, Array(repeating: 1, count: Int(self.script.uint16() % 2000))[...])
    case UInt8(ascii: "q"): self.sequence &+= UInt16(self.script.choice(6)) &- 2
    case UInt8(ascii: "Q"): self.sequence = self.script.uint16()
    case UInt8(ascii: "w"): self.timestamp &+= UInt32(self.script.choice(6)) &* 480 &- 960
    case UInt8(ascii: "W"): self.timestamp = self.script.uint32()
    case UInt8(ascii: "s"): self.ssrc = UInt32(self.script.choice(3))
    case UInt8(ascii: "l"):
      for _ in 0...self.script.choice(10) { self.listen(960) }
    case UInt8(ascii: "L"): self.listen(Int(self.script.uint16()))
    case UInt8(ascii: "p"):
      let end = self.time.advance(by: self.script.pause())
      self.time.run(until: end, { _ in nil }, { _ in })
    case UInt8(ascii: "c"):
      let codecs = Self.codecs.filter { _ in self.script.flag() }
      self.receiver.change(codecs: codecs, telephoneEvents: self.script.flag() ? Self.telephoneEvents : [])
    default: break
    }
  }

  private mutating func deliver(_ payloadType: UInt8, _ payload: ArraySlice<UInt8>) {
    let packet = RTPPacket(
      marker: payload.count % 7 == 0, payloadType: payloadType, sequenceNumber: self.sequence,
      timestamp: self.timestamp, ssrc: self.ssrc, payload: payload)
    self.receiver.received(packet, at: self.time.now)
    self.packets += 1
  }

  private mutating func listen(_ count: Int) {
    self.time.run(until: self.time.now.advanced(by: .nanoseconds(count * 20_833)), { _ in nil }, { _ in })
    let info = self.receiver.read(count, into: &self.samples, at: self.time.now)
    self.read += count
    require(self.samples.count == count && info.count == count, "there is as much as was asked for")
    var end = 0
    for range in info.concealed {
      require(range.lowerBound >= end && range.upperBound <= count, "what was made up lies in what was read")
      end = range.upperBound
    }
    require(info.concealed.reduce(0) { $0 + $1.count } == info.concealedCount, "it is counted")
    require(
      info.concealedCount + info.recoveredCount + info.restingCount <= count, "each sample is of one kind")
    var events = 0
    while self.receiver.poll() != nil { events += 1 }
    require(events <= 256, "events do not pile up")
    let statistics = self.receiver.statistics
    require(statistics.played == Int64(self.read), "what was read is counted")
    require(statistics.packetsReceived + statistics.packetsIgnored == self.packets, "each packet is counted")
    require(statistics.level >= 0 && statistics.level <= 1, "the level is a share")
    // What cannot be further away than three seconds is not played, and twice the largest delay is kept.
    let longest = max(self.options.maximumDelay, self.options.minimumDelay) * 2 + .seconds(5)
    require(statistics.delay <= longest && statistics.delay >= .seconds(-5), "the delay has a limit")
    require(statistics.targetDelay <= longest, "the delay that is aimed for has a limit")
  }
}
