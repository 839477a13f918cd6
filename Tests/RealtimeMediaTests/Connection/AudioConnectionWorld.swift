import RealtimeMedia
import VoiceCore
import VoiceTesting

/// Two connections with two ways between them that lose nothing until they break, in a time of their own.
final class AudioConnectionWorld {
  final class Side {
    let connection: AudioConnection
    let number: UInt8
    var events: [AudioConnection.Event] = []
    /// Samples of the last 20 ms that were heard and not made up.
    var isHearing = false

    init(_ connection: AudioConnection, number: UInt8) {
      self.connection = connection
      self.number = number
    }

    /// The number of the way in use.
    var way: Int? {
      guard case .ip(let ip)? = self.connection.selectedPair?.local.address else { return nil }
      return ip.bytes.count == 4 ? Int(ip.bytes[2]) : nil
    }
  }

  let one: Side
  let other: Side
  private(set) var now = VoiceInstant()
  var brokenWays: Set<Int> = []
  private var datagrams: [(to: UInt8, way: Int, bytes: [UInt8])] = []

  /// Whether checks of this side are lost now.
  var dropsChecks: ((Side) -> Bool)?
  /// Called with who receives, before each datagram.
  var onDatagram: ((Side, [UInt8]) -> Void)?

  init(
    seed: UInt64, _ configuration: AudioConnection.Configuration = .init(),
    makeHandshake: @escaping AudioConnection.HandshakeFactory = AudioConnection.openSSL
  ) throws {
    var random = SeededGenerator(seed: seed)
    func side(_ number: UInt8) throws -> Side {
      Side(
        try AudioConnection(
          configuration: configuration, random: random.split(), makeHandshake: makeHandshake), number: number)
    }
    self.one = try side(1)
    self.other = try side(2)
    for side in [self.one, self.other] {
      for way in 1...2 {
        side.connection.addSocket(.init(rawValue: way), local: Self.address(side.number, way), at: self.now)
      }
      side.connection.socketsAdded(at: self.now)
    }
  }

  private static func address(_ side: UInt8, _ way: Int) -> TransportAddress {
    TransportAddress(.v4(0x0a00_0000 | UInt32(way) << 8 | UInt32(side)), port: 4000)
  }

  /// One side offers, the other answers; the answer may take some time.
  func agree(
    _ direction: MediaDirection? = nil, answerAfter delay: Duration = .zero, before: () -> Void = {}
  ) throws {
    let offer = try self.one.connection.makeOffer(direction, at: self.now)
    let answer = try self.other.connection.receivedOffer(offer, at: self.now)
    _ = self.run(for: delay)
    before()
    try self.one.connection.receivedAnswer(answer, at: self.now)
    self.settle()
  }

  /// Lets time pass in steps of 20 ms, in which both sides send noise and listen, until a condition holds.
  ///
  /// - Returns: How long it took; `nil` if it does not hold in time.
  func run(for limit: Duration, until condition: () -> Bool = { false }) -> Duration? {
    let began = self.now
    while began.duration(to: self.now) < limit {
      if condition() { return began.duration(to: self.now) }
      self.now = self.now.advanced(by: .milliseconds(20))
      var noise = SeededGenerator(seed: UInt64(self.now.offset.components.attoseconds.magnitude))
      let samples = (0..<960).map { _ in Int16.random(in: -3000...3000, using: &noise) }
      for side in [self.one, self.other] {
        side.connection.timePassed(at: self.now)
        side.connection.sendAudio(samples[...], at: self.now) { packet, path in
          if case .direct(let id, let remote) = path { self.send(packet, id, remote) }
        }
      }
      self.settle()
      for side in [self.one, self.other] {
        var heard: [Int16] = []
        let concealed = side.connection.readAudio(960, into: &heard, at: self.now)
        side.isHearing = concealed == 0 && heard.contains { $0.magnitude > 500 }
      }
      self.settle()
    }
    return condition() ? limit : nil
  }

  private func isCheck(_ bytes: [UInt8]) -> Bool { bytes.starts(with: [0, 1]) }

  private func send(_ bytes: [UInt8], _ id: ICEAgent.SocketID, _ remote: TransportAddress) {
    let way = id.rawValue
    for side in [self.one, self.other] where remote == Self.address(side.number, way) {
      if !self.brokenWays.contains(way) { self.datagrams.append((side.number, way, bytes)) }
    }
  }

  private func settle() {
    var isBusy = true
    while isBusy {
      for side in [self.one, self.other] {
        while let output = side.connection.poll() {
          switch output {
          case .send(let bytes, let id, let remote):
            if self.isCheck(bytes), self.dropsChecks?(side) ?? false { continue }
            self.send(bytes, id, remote)
          case .tell(let event): side.events.append(event)
          case .openStream, .sendStream, .closeStream: break
          }
        }
      }
      let arrived = self.datagrams
      self.datagrams = []
      isBusy = !arrived.isEmpty
      for (number, way, bytes) in arrived {
        var bytes = bytes
        let (to, from) = number == 1 ? (self.one, self.other) : (self.other, self.one)
        self.onDatagram?(to, bytes)
        to.connection.received(
          &bytes, on: .init(rawValue: way), from: Self.address(from.number, way), at: self.now)
      }
    }
  }
}
