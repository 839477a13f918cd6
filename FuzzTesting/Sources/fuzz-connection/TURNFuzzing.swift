import FuzzSupport
import RealtimeMedia
import VoiceCore
import VoiceTesting

/// A client of a relay and a server that answers what the script says.
struct TURNFuzzing {
  private var script: Script
  private let time = ScriptTime()
  private var client: TURNClient
  private let isStream: Bool
  private var sent: [[UInt8]] = []
  private var ends = 0
  private var hasClosed = false

  init(_ script: Script) {
    var script = script
    self.isStream = script.flag()
    self.client = TURNClient(
      configuration: .init(
        username: STUNAnswers.username, password: STUNAnswers.password, isStream: self.isStream,
        relayIsV6: script.flag(), lifetime: script.flag() ? .seconds(600) : .seconds(20)),
      random: SeededGenerator(seed: 1))
    self.script = script
  }

  mutating func run() {
    var orders = 0
    while !self.script.isAtEnd, !self.time.isOver, orders < 500 {
      orders += 1
      self.obey()
      self.check()
    }
    self.client.close(at: self.time.now)
    self.check()
    self.hasClosed = true
    self.client.received([0x40, 0, 0, 0], at: self.time.now)
    self.client.streamReceived([0x40, 0, 0, 0], at: self.time.now)
    self.client.streamClosed(at: self.time.now)
    self.check()
  }

  private mutating func obey() {
    let now = self.time.now
    switch self.script.byte() {
    case UInt8(ascii: "s"): self.client.start(at: now)
    case UInt8(ascii: "a"):
      // The last request first.
      let place = self.sent.count - 1 - self.script.choice(10)
      guard self.sent.indices.contains(place),
        let answer = STUNAnswers.answer(
          to: self.sent[place], from: TransportAddress(.v4(0x0a00_0001), port: 4000), &self.script)
      else { return }
      self.deliver(answer)
    case UInt8(ascii: "i"):
      let indication = STUNMessage(
        .indication, .data, transaction: .init(high: 1, low: 2),
        attributes: [.xorPeerAddress(self.script.address()), .data(self.script.bytes())]
          + self.script.attributes())
      self.deliver(indication.encoded())
    case UInt8(ascii: "h"):
      var bytes: [UInt8] = []
      let channel = 0x4000 + UInt16(self.script.choice(4))
      _ = ChannelData.append(channel: channel, self.script.bytes()[...], isStream: self.isStream, to: &bytes)
      self.deliver(bytes)
    case UInt8(ascii: "r"): self.deliver(self.script.bytes())
    case UInt8(ascii: "d"): self.client.send(self.script.bytes()[...], to: self.script.address(), at: now)
    case UInt8(ascii: "b"): self.client.bindChannel(to: self.script.address(), at: now)
    case UInt8(ascii: "z"): self.client.streamClosed(at: now)
    case UInt8(ascii: "x"): self.client.close(at: now)
    case UInt8(ascii: "p"):
      let end = self.time.advance(by: self.script.pause())
      self.time.run(
        until: end, { _ in self.client.nextWake },
        { now in
          self.client.timePassed(at: now)
          self.check()
        })
    default: break
    }
  }

  /// Over a stream in two parts, cut where the script says.
  private mutating func deliver(_ bytes: [UInt8]) {
    guard self.isStream else {
      self.client.received(bytes[...], at: self.time.now)
      return
    }
    let cut = Int(self.script.byte()) % (bytes.count + 1)
    self.client.streamReceived(bytes[..<cut], at: self.time.now)
    self.client.streamReceived(bytes[cut...], at: self.time.now)
  }

  private mutating func check() {
    var count = 0
    while let output = self.client.poll() {
      count += 1
      require(!self.hasClosed, "a client that is closed is quiet")
      switch output {
      case .send(let bytes):
        require(!bytes.isEmpty && bytes.count <= 0xffff + 8, "a message can be sent")
        self.sent.append(bytes)
        self.sent.removeFirst(max(0, self.sent.count - 32))
      case .allocated, .received: require(self.ends == 0, "nothing comes after the end")
      case .redirected, .failed: self.ends += 1
      }
    }
    require(count <= 1000, "an event has few outputs")
    require(self.ends <= 1, "it ends once")
    switch self.client.state {
    case .idle, .closed, .failed: require(self.client.nextWake == nil, "nothing is waited for")
    case .allocating, .allocated: require(self.client.nextWake != nil, "something is waited for")
    }
  }
}
