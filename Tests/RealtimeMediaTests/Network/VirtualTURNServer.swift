import RealtimeMedia
import VoiceCore
import VoiceTesting

/// A STUN and TURN server (RFC 8489, RFC 8656) of a ``VirtualNetwork``, over datagrams and streams.
final class VirtualTURNServer {
  private enum Client: Hashable {
    case datagram(TransportAddress)
    case stream(Int, TransportAddress)

    var address: TransportAddress {
      switch self {
      case .datagram(let address), .stream(_, let address): address
      }
    }
  }

  private struct Allocation {
    let user: String
    let relayed: TransportAddress
    var expires: VoiceInstant
    var permissions: [IPAddress: VoiceInstant] = [:]
    var channels: [UInt16: TransportAddress] = [:]
  }

  let address: TransportAddress
  let users: [String: String]
  /// Says nothing at all.
  var isDead = false
  var acceptsStreams = true
  /// Closes each stream after its allocation, as one does that is being stopped.
  var hangsUp = false
  /// How many requests a nonce is good for.
  var nonceUses = Int.max
  /// Refuses allocations with this code.
  var refusal: Int?
  /// Sends clients to another server (300).
  var alternate: TransportAddress?
  var lifetime = Duration.seconds(600)
  private(set) var relayedDatagrams = 0
  private(set) var staleAnswers = 0
  private(set) var channelData = 0
  private(set) var refreshes = 0
  private var allocations: [Client: Allocation] = [:]
  private var buffers: [Int: [UInt8]] = [:]
  private var nonce = "first"
  private var nonceUsed = 0
  private var nextPort: UInt16 = 49152
  private var random: SeededGenerator

  init(address: TransportAddress, users: [String: String], seed: UInt64) {
    self.address = address
    self.users = users
    self.random = SeededGenerator(seed: seed)
  }

  var allocationCount: Int { self.allocations.count }
  var nextExpiry: VoiceInstant? { self.allocations.values.map(\.expires).min() }

  func takes(_ destination: TransportAddress) -> Bool {
    destination == self.address || self.allocations.values.contains { $0.relayed == destination }
  }

  func expire(at now: VoiceInstant) {
    self.allocations = self.allocations.filter { $0.value.expires > now }
  }

  /// Forgets all allocations, as a server does that was started anew.
  func forget() { self.allocations = [:] }

  // MARK: Arrivals

  func received(
    _ bytes: [UInt8], at destination: TransportAddress, from source: TransportAddress,
    in network: VirtualNetwork
  ) {
    guard !self.isDead else { return }
    if destination == self.address { return self.handle(bytes, .datagram(source), network) }
    guard let (client, allocation) = self.allocations.first(where: { $0.value.relayed == destination }),
      let permission = allocation.permissions[source.ip], permission > network.now
    else { return }
    self.relayedDatagrams += 1
    if let number = allocation.channels.first(where: { $0.value == source })?.key {
      var data: [UInt8] = []
      if case .stream = client {
        _ = ChannelData.append(channel: number, bytes[...], isStream: true, to: &data)
      } else {
        _ = ChannelData.append(channel: number, bytes[...], isStream: false, to: &data)
      }
      return self.reply(data, to: client, network)
    }
    let indication = STUNMessage(
      .indication, .data, transaction: .init(using: &self.random),
      attributes: [.xorPeerAddress(source), .data(bytes)])
    self.reply(indication.encoded(), to: client, network)
  }

  func streamReceived(
    _ bytes: [UInt8], _ stream: Int, from source: TransportAddress, in network: VirtualNetwork
  ) {
    guard !self.isDead else { return }
    var buffer = (self.buffers[stream] ?? []) + bytes
    while buffer.count >= 4 {
      let length = Int(buffer[2]) << 8 | Int(buffer[3])
      let total = buffer[0] < 4 ? 20 + length : 4 + (length + 3) / 4 * 4
      guard buffer.count >= total else { break }
      self.handle(Array(buffer[..<total]), .stream(stream, source), network)
      buffer.removeFirst(total)
    }
    self.buffers[stream] = buffer
  }

  func streamClosed(_ stream: Int) {
    self.buffers[stream] = nil
    self.allocations = self.allocations.filter {
      if case .stream(stream, _) = $0.key { false } else { true }
    }
  }

  private func reply(_ bytes: [UInt8], to client: Client, _ network: VirtualNetwork) {
    switch client {
    case .datagram(let address): network.sendFromServer(bytes, from: self.address, to: address)
    case .stream(let stream, _): network.sendToClient(bytes, stream)
    }
  }

  private func relay(_ data: [UInt8], _ client: Client, to peer: TransportAddress, _ network: VirtualNetwork)
  {
    guard let allocation = self.allocations[client], let permission = allocation.permissions[peer.ip],
      permission > network.now
    else { return }
    self.relayedDatagrams += 1
    network.sendFromServer(data, from: allocation.relayed, to: peer)
  }

  private func handle(_ bytes: [UInt8], _ client: Client, _ network: VirtualNetwork) {
    if let (number, data) = ChannelData.parse(bytes[...]) {
      guard let peer = self.allocations[client]?.channels[number] else { return }
      self.channelData += 1
      return self.relay(Array(data), client, to: peer, network)
    }
    guard let received = try? ReceivedSTUNMessage(parsing: bytes) else { return }
    let message = received.message
    if message.kind == .indication, message.method == .send {
      guard let peer = message.peerAddress, let data = message.relayedData else { return }
      return self.relay(data, client, to: peer, network)
    }
    guard message.kind == .request else { return }
    if message.method == .binding {
      let answer = message.answer(.success, attributes: [.xorMappedAddress(client.address)])
      return self.reply(answer.encoded(fingerprint: true), to: client, network)
    }
    self.authenticated(received, client, network)
  }

  private func authenticated(_ received: ReceivedSTUNMessage, _ client: Client, _ network: VirtualNetwork) {
    let message = received.message
    let challenge: [STUNAttribute] = [.realm("virtual"), .nonce(self.nonce)]
    guard received.hasIntegrity else {
      let answer = message.answer(.error, attributes: [.errorCode(401, reason: "")] + challenge)
      return self.reply(answer.encoded(), to: client, network)
    }
    var (user, nonce) = ("", "")
    for attribute in message.attributes {
      if case .username(let text) = attribute { user = text }
      if case .nonce(let text) = attribute { nonce = text }
    }
    let key = STUNMessage.longTermKey(username: user, realm: "virtual", password: self.users[user] ?? "")
    guard self.users[user] != nil, received.isAuthentic(.sha1(key)) else {
      let answer = message.answer(.error, attributes: [.errorCode(401, reason: "")] + challenge)
      return self.reply(answer.encoded(), to: client, network)
    }
    if nonce == self.nonce { self.nonceUsed += 1 }
    if nonce != self.nonce || self.nonceUsed > self.nonceUses {
      if nonce == self.nonce {
        self.nonce = "nonce\(self.random.next())"
        self.nonceUsed = 0
      }
      self.staleAnswers += 1
      let fresh: [STUNAttribute] = [.realm("virtual"), .nonce(self.nonce)]
      let answer = message.answer(.error, attributes: [.errorCode(438, reason: "")] + fresh)
      return self.reply(answer.encoded(), to: client, network)
    }
    let answer = self.perform(message, user, client, at: network.now)
    self.reply(answer.encoded(integrity: .sha1(key)), to: client, network)
    if self.hangsUp, message.method == .allocate, case .stream(let stream, _) = client {
      network.closeFromServer(stream)
    }
  }

  // MARK: Requests

  private func perform(_ message: STUNMessage, _ user: String, _ client: Client, at now: VoiceInstant)
    -> STUNMessage
  {
    func error(_ code: Int, _ more: [STUNAttribute] = []) -> STUNMessage {
      message.answer(.error, attributes: [.errorCode(code, reason: "")] + more)
    }
    var lifetime = self.lifetime
    var isV6 = false
    for attribute in message.attributes {
      if case .lifetime(let asked) = attribute { lifetime = min(asked, self.lifetime) }
      if case .requestedAddressFamily(let asked) = attribute { isV6 = asked }
    }
    switch message.method {
    case .allocate:
      if let code = self.refusal { return error(code) }
      if let alternate = self.alternate { return error(300, [.alternateServer(alternate)]) }
      guard isV6 == self.address.ip.isV6 else { return error(440) }
      if self.allocations[client] == nil {
        self.nextPort += 1
        self.allocations[client] = Allocation(
          user: user, relayed: TransportAddress(self.address.ip, port: self.nextPort),
          expires: now.advanced(by: lifetime))
      }
      guard let relayed = self.allocations[client]?.relayed else { return error(500) }
      return message.answer(
        .success,
        attributes: [.xorRelayedAddress(relayed), .lifetime(lifetime), .xorMappedAddress(client.address)])
    case .refresh:
      self.refreshes += 1
      guard self.allocations[client] != nil else { return error(437) }
      if lifetime == .zero {
        self.allocations[client] = nil
      } else {
        self.allocations[client]?.expires = now.advanced(by: lifetime)
      }
      return message.answer(.success, attributes: [.lifetime(lifetime)])
    case .createPermission:
      guard self.allocations[client] != nil else { return error(437) }
      guard let peer = message.peerAddress else { return error(400) }
      self.allocations[client]?.permissions[peer.ip] = now.advanced(by: .seconds(300))
      return message.answer(.success)
    case .channelBind:
      guard self.allocations[client] != nil else { return error(437) }
      var number: UInt16 = 0
      for attribute in message.attributes {
        if case .channelNumber(let value) = attribute { number = value }
      }
      guard let peer = message.peerAddress, (0x4000...0x4fff).contains(number),
        self.allocations[client]?.channels[number] ?? peer == peer
      else { return error(400) }
      self.allocations[client]?.channels[number] = peer
      self.allocations[client]?.permissions[peer.ip] = now.advanced(by: .seconds(300))
      return message.answer(.success)
    default: return error(400)
    }
  }
}

extension STUNMessage {
  var peerAddress: TransportAddress? {
    for attribute in self.attributes {
      if case .xorPeerAddress(let address) = attribute { return address }
    }
    return nil
  }

  var relayedData: [UInt8]? {
    for attribute in self.attributes {
      if case .data(let bytes) = attribute { return bytes }
    }
    return nil
  }
}
