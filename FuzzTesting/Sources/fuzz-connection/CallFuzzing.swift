import FuzzSupport
import RealtimeMedia
import VoiceCore
import VoiceTesting

/// Two ends of a call with what the script lets pass between them, and what it puts there.
final class CallFuzzing {
  final class End {
    let number: Int
    let connection: AudioConnection
    var sockets: [Int: TransportAddress] = [:]
    var streams: Set<Int> = []
    var lastStream = 0
    var told = AudioConnection.State.new
    /// Why it may have failed.
    var reasons = 0
    var isClosing = false
    var isClosed = false
    /// Found and not told to the other end yet.
    var candidates: [String] = []
    var offer: String?
    /// To the other end's last offer.
    var answer: String?
    var requests: [(bytes: [UInt8], stream: ICEAgent.StreamID)] = []
    var samples: [Int16] = []

    init(number: Int, _ connection: AudioConnection) {
      self.number = number
      self.connection = connection
    }
  }

  struct Datagram {
    var end: Int
    var socket: ICEAgent.SocketID
    var source: TransportAddress
    var bytes: [UInt8]
  }

  /// Made once, since it takes longer than a call.
  static let certificates = (0..<2).compactMap { _ in try? DTLSCertificate.make() }

  var script: Script
  let time = ScriptTime()
  var ends: [End] = []
  var wire: [Datagram] = []
  private var sequence: UInt16 = 60_000
  private let isModel: Bool
  /// The handshake of a model has no other clock.
  private final class Now {
    var instant = VoiceInstant()
  }
  private let handshakeTime = Now()

  init?(_ script: Script) {
    var script = script
    var configuration = AudioConnection.Configuration()
    let server = TransportAddress(Script.serverIP, port: Script.serverPort)
    if script.choice(4) == 1 {
      configuration.ice.servers = [
        .init(
          .turn, server, transport: .tcp, username: STUNAnswers.username, password: STUNAnswers.password)
      ]
    }
    configuration.ice.relayOnly = script.choice(8) == 7
    if script.choice(4) == 1 { configuration.audio.codecs = [.pcmu, .pcma] }
    configuration.sending.complexity = 0
    self.isModel = script.choice(8) != 7
    self.script = script
    let now = self.handshakeTime
    let isModel = self.isModel
    for number in 0..<2 {
      guard
        let connection = try? AudioConnection(
          configuration: configuration, certificate: Self.certificates[number],
          random: SeededGenerator(seed: UInt64(number)),
          makeHandshake: { certificate, role, expected throws(DTLSError) in
            guard isModel else { return try AudioConnection.openSSL(certificate, role, expected) }
            return ModelHandshake(own: certificate.fingerprint, role: role, expected: expected) {
              now.instant
            }
          })
      else { return nil }
      self.ends.append(End(number: number, connection))
    }
  }

  func run() {
    var orders = 0
    while !self.script.isAtEnd, !self.time.isOver, orders < 300 {
      orders += 1
      self.obey()
      for end in self.ends { self.takeOutputs(end) }
    }
    for end in self.ends { self.close(end) }
  }

  private func obey() {
    let order = self.script.byte()
    switch order {
    case UInt8(ascii: "C"): self.connect()
    case UInt8(ascii: "p"): self.pause(self.script.pause(), delivers: self.script.flag())
    case UInt8(ascii: "t"): for _ in 0...self.script.choice(10) { self.talk() }
    case UInt8(ascii: "w"): self.disturb()
    case UInt8(ascii: "v"): self.deliver()
    default: self.obey(order, self.ends[self.script.choice(2)])
    }
  }

  private func obey(_ order: UInt8, _ end: End) {
    let now = self.time.now
    let other = self.ends[1 - end.number]
    switch order {
    case UInt8(ascii: "s"): self.addSocket(end, self.script.choice(4))
    case UInt8(ascii: "S"):
      let id = self.script.choice(4)
      end.connection.removeSocket(.init(rawValue: id), at: now)
      self.takeOutputs(end)
      end.sockets[id] = nil
    case UInt8(ascii: "m"): end.connection.socketsAdded(at: now)
    case UInt8(ascii: "o"):
      let directions: [MediaDirection?] = [nil, .sendAndReceive, .sendOnly, .receiveOnly, .inactive]
      let direction = directions[self.script.choice(5)]
      self.makeOffer(end, direction, restartingICE: self.script.choice(4) == 1)
    case UInt8(ascii: "O"): self.repeatOffer(end)
    case UInt8(ascii: "f"):
      if let offer = other.offer { self.receiveOffer(end, Descriptions.changed(offer, &self.script)) }
    case UInt8(ascii: "a"):
      guard let answer = other.answer else { return }
      self.receiveAnswer(
        end, Descriptions.changed(answer, &self.script), isFinal: self.script.choice(4) != 1)
    case UInt8(ascii: "c"):
      for line in other.candidates { end.connection.addRemoteCandidate(line, at: now) }
      other.candidates = []
    case UInt8(ascii: "e"): end.connection.addRemoteCandidate(nil, at: now)
    case UInt8(ascii: "l"):
      end.connection.addRemoteCandidate(String(decoding: self.script.bytes(), as: UTF8.self), at: now)
    case UInt8(ascii: "g"):
      var bytes = self.script.bytes()
      let source = self.script.flag() ? self.address(other, 0) : self.script.address()
      end.connection.received(
        &bytes, on: .init(rawValue: self.script.choice(4)), from: source, at: now)
    case UInt8(ascii: "d"): self.deliverPacket(end, isReport: false)
    case UInt8(ascii: "D"): self.deliverPacket(end, isReport: true)
    case UInt8(ascii: "r"): self.listen(end, Int(self.script.uint16()))
    case UInt8(ascii: "k"):
      let keys = self.script.bytes().compactMap { TelephoneEvent.Key(rawValue: $0 % 17) }
      _ = end.connection.press(keys)
    case UInt8(ascii: "n"): end.connection.checkNow(at: now)
    case UInt8(ascii: "q"): end.connection.measure(isMuted: self.script.flag(), at: now)
    case UInt8(ascii: "b"):
      let id = ICEAgent.StreamID(rawValue: max(0, end.lastStream - self.script.choice(4)))
      switch self.script.choice(4) {
      case 0: end.connection.streamOpened(id, at: now)
      case 1: end.connection.streamClosed(id, at: now)
      case 2: end.connection.streamReceived(self.script.bytes(), on: id, at: now)
      default: self.answer(end)
      }
    case UInt8(ascii: "x") where self.script.choice(8) == 7: self.close(end)
    default: break
    }
  }

  // MARK: The network

  func address(_ end: End, _ socket: Int) -> TransportAddress {
    guard socket == 3 else {
      return TransportAddress(.v4(0x0a00_0001 + UInt32(socket) << 8 + UInt32(end.number)), port: 4000)
    }
    return TransportAddress(.v6(high: 0x2001_0db8_0000_0000, low: UInt64(end.number)), port: 4000)
  }

  func addSocket(_ end: End, _ id: Int) {
    guard !end.isClosed else { return }
    let address = self.address(end, id)
    end.connection.addSocket(.init(rawValue: id), local: address, at: self.time.now)
    end.sockets[id] = address
  }

  /// Puts a datagram on the wire, if somebody is where it goes.
  func send(_ bytes: [UInt8], _ end: End, _ socket: ICEAgent.SocketID, _ remote: TransportAddress) {
    guard self.wire.count < 500, let source = end.sockets[socket.rawValue] else { return }
    for other in self.ends {
      for (id, address) in other.sockets where address == remote {
        self.wire.append(
          Datagram(end: other.number, socket: .init(rawValue: id), source: source, bytes: bytes))
      }
    }
  }

  /// Hands over what is on the wire, and what is said because of it.
  func deliver() {
    for _ in 0..<20 {
      let datagrams = self.wire
      self.wire = []
      guard !datagrams.isEmpty else { return }
      for datagram in datagrams {
        var bytes = datagram.bytes
        let end = self.ends[datagram.end]
        end.connection.received(&bytes, on: datagram.socket, from: datagram.source, at: self.time.now)
        self.takeOutputs(end)
      }
    }
  }

  /// Does to one datagram what networks do, and worse.
  private func disturb() {
    guard !self.wire.isEmpty else { return }
    let place = Int(self.script.byte()) % self.wire.count
    switch self.script.choice(6) {
    case 0: self.wire.remove(at: place)
    case 1: self.wire.append(self.wire[place])
    case 2: self.wire.append(self.wire.remove(at: place))
    case 3:
      guard !self.wire[place].bytes.isEmpty else { return }
      let position = Int(self.script.uint16()) % self.wire[place].bytes.count
      self.wire[place].bytes[position] ^= self.script.byte()
    case 4: self.wire[place].source = self.script.address()
    default: self.wire[place].bytes = Array(self.wire[place].bytes.prefix(Int(self.script.byte())))
    }
  }

  private func answer(_ end: End) {
    let place = end.requests.count - 1 - self.script.choice(4)
    guard end.requests.indices.contains(place) else { return }
    let request = end.requests[place]
    let asker = TransportAddress(.v4(0x0a00_0001), port: 5000)
    guard let answer = STUNAnswers.answer(to: request.bytes, from: asker, &self.script) else { return }
    end.connection.streamReceived(answer, on: request.stream, at: self.time.now)
  }

  /// A packet or a report that the other end could have made, with what the script puts into it.
  private func deliverPacket(_ end: End, isReport: Bool) {
    guard self.isModel, let role = end.connection.agreed?.dtlsRole else { return }
    // What the model gives to both.
    let keys = [UInt8(1), 2].map {
      SRTPMasterKey(key: Array(repeating: $0, count: 16), salt: Array(repeating: $0, count: 12))
    }
    guard
      let pair = try? SRTPKeys(
        profile: .aeadAES128GCM, local: keys[role == .client ? 1 : 0], remote: keys[role == .client ? 0 : 1]),
      let context = try? SRTPContext(keys: pair)
    else { return require(false, "there are keys") }
    var packet: [UInt8] = []
    if isReport {
      packet = self.script.bytes()
      guard (try? context.protectRTCP(&packet)) != nil else { return }
    } else {
      self.sequence &+= UInt16(self.script.choice(6))
      let payloads = ReceiverFuzzing.payloads
      let choice = self.script.choice(10)
      let payload = payloads.indices.contains(choice) ? payloads[choice] : self.script.bytes()
      let payloadType = [UInt8(111), 0, 8, 110, 101, 96][self.script.choice(6)]
      RTPPacket(
        payloadType: payloadType, sequenceNumber: self.sequence, timestamp: self.script.uint32(),
        ssrc: UInt32(self.script.choice(3)), payload: payload[...]
      ).append(to: &packet)
      guard (try? context.protect(&packet)) != nil else { return }
    }
    let source = self.address(self.ends[1 - end.number], 0)
    end.connection.received(&packet, on: .init(rawValue: 0), from: source, at: self.time.now)
  }

  // MARK: Time

  func pause(_ pause: Duration, delivers: Bool) {
    let end = self.time.advance(by: pause)
    self.time.run(
      until: end,
      { now in
        self.handshakeTime.instant = now
        return self.ends.compactMap { $0.connection.nextWake(at: now) }.min()
      },
      { now in
        self.handshakeTime.instant = now
        for end in self.ends {
          end.connection.timePassed(at: now)
          self.takeOutputs(end)
        }
        if delivers { self.deliver() }
      })
    self.handshakeTime.instant = self.time.now
  }
}
