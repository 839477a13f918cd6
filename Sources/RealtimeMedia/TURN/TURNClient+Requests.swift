public import VoiceCore

extension TURNClient {
  mutating func message(_ method: STUNMessage.Method, _ attributes: [STUNAttribute]) -> STUNMessage {
    var attributes = attributes
    if let realm = self.realm, self.key != nil {
      attributes += [.username(self.configuration.username), .realm(realm), .nonce(self.nonce)]
    }
    return STUNMessage(.request, method, transaction: .init(using: &self.random), attributes: attributes)
  }

  mutating func request(_ purpose: Purpose, staleAnswers: Int = 0, at now: VoiceInstant) {
    let message: STUNMessage
    switch purpose {
    case .allocate:
      var attributes: [STUNAttribute] = [
        .requestedTransport(17), .lifetime(self.configuration.lifetime),
      ]
      // Servers of RFC 5766 do not know the attribute, so it is left out where it is the default.
      if self.configuration.relayIsV6 { attributes.append(.requestedAddressFamily(isV6: true)) }
      message = self.message(.allocate, attributes)
    case .refresh:
      message = self.message(.refresh, [.lifetime(self.configuration.lifetime)])
    case .permission(let address):
      message = self.message(.createPermission, [.xorPeerAddress(TransportAddress(address, port: 0))])
    case .channel(let peer, let number):
      message = self.message(.channelBind, [.channelNumber(number), .xorPeerAddress(peer)])
    }
    let bytes = message.encoded(integrity: self.key.map { .sha1($0) })
    let deadline = now.advanced(by: self.configuration.requestTimeout)
    self.requests[message.transaction] = Request(
      purpose: purpose, bytes: bytes, hasCredentials: self.key != nil, staleAnswers: staleAnswers,
      nextSending: self.configuration.isStream
        ? deadline : now.advanced(by: self.configuration.firstTimeout),
      deadline: deadline)
    self.outputs.append(.send(bytes))
  }

  /// A datagram came from the server.
  ///
  /// - Returns: Whether it was meant for this client; what is not may be a check of a peer.
  @discardableResult
  public mutating func received(_ datagram: ArraySlice<UInt8>, at now: VoiceInstant) -> Bool {
    switch self.state {
    case .idle, .closed, .failed: return false
    case .allocating, .allocated: break
    }
    guard let first = datagram.first else { return false }
    if (0x40...0x4f).contains(first) {
      guard let (number, data) = ChannelData.parse(datagram), let peer = self.peers[number] else {
        return false
      }
      self.lastHeard = now
      self.outputs.append(.received(Array(data), from: peer))
      return true
    }
    guard let message = try? ReceivedSTUNMessage(parsing: Array(datagram)) else { return false }
    switch message.message.kind {
    case .request: return false
    case .indication:
      guard message.message.method == .data, case .allocated = self.state else { return false }
      self.lastHeard = now
      guard let peer = message.message.peer, let data = message.message.data else { return true }
      self.outputs.append(.received(data, from: peer))
      return true
    case .success, .error:
      guard let request = self.requests[message.message.transaction] else { return false }
      self.answered(request, message, at: now)
      return true
    }
  }

  /// Bytes came on the stream, cut anywhere (RFC 8656 section 12.5, RFC 8489 section 6.2.2).
  public mutating func streamReceived(_ bytes: some Collection<UInt8>, at now: VoiceInstant) {
    switch self.state {
    case .idle, .closed, .failed: return
    case .allocating, .allocated: break
    }
    self.stream.append(contentsOf: bytes)
    var start = 0
    while self.stream.count - start >= 4 {
      let length = Int(self.stream[start + 2]) << 8 | Int(self.stream[start + 3])
      let total: Int
      switch self.stream[start] {
      case 0...3: total = 20 + length
      case 0x40...0x4f: total = 4 + (length + 3) / 4 * 4
      default: return self.fail(.malformedStream)
      }
      guard self.stream.count - start >= total else { break }
      let frame = Array(self.stream[start..<start + total])
      start += total
      self.received(frame[...], at: now)
      // A failure empties the stream.
      guard !self.stream.isEmpty else { return }
    }
    self.stream.removeFirst(start)
  }

  private mutating func answered(_ request: Request, _ answer: ReceivedSTUNMessage, at now: VoiceInstant) {
    let message = answer.message
    switch message.kind {
    case .request, .indication: return
    case .success:
      // RFC 8489 section 9.2.5: with credentials, an answer that does not prove its sender is as if it was not there.
      if request.hasCredentials {
        guard let key = self.key, answer.isAuthentic(.sha1(key)) else { return }
      }
      guard answer.unknownRequired.isEmpty else { return }
      self.requests[message.transaction] = nil
      self.lastHeard = now
      self.succeeded(request.purpose, message, at: now)
    case .error:
      self.requests[message.transaction] = nil
      self.refused(request, message, at: now)
    }
  }

  private mutating func succeeded(_ purpose: Purpose, _ message: STUNMessage, at now: VoiceInstant) {
    switch purpose {
    case .allocate:
      guard let relayed = message.relayedAddress else { return self.fail(.malformedAnswer) }
      self.state = .allocated(relayed: relayed)
      self.refreshed(message.lifetime, at: now)
      self.outputs.append(.allocated(relayed: relayed, mapped: message.mappedAddress))
    case .refresh:
      self.refreshed(message.lifetime, at: now)
      self.outputs.append(.refreshed)
    case .permission(let address):
      self.granted(address, at: now)
    case .channel(let peer, _):
      self.channels[peer]?.isBound = true
      self.channels[peer]?.nextRequest = now.advanced(by: Self.renewal)
      // Binding a channel permits the peer as well (RFC 8656 section 12).
      self.granted(peer.ip, at: now)
    }
  }

  private mutating func refreshed(_ lifetime: Duration?, at now: VoiceInstant) {
    let lifetime = lifetime ?? self.configuration.lifetime
    self.nextRefresh = now.advanced(by: Self.refreshInterval(lifetime))
    self.expiry = now.advanced(by: lifetime)
  }

  /// One minute before the end as RFC 8656 section 8 has it, but not before half of a short lifetime.
  private static func refreshInterval(_ lifetime: Duration) -> Duration {
    max(.seconds(1), max(lifetime - .seconds(60), lifetime / 2))
  }

  private mutating func granted(_ address: IPAddress, at now: VoiceInstant) {
    var permission = self.permissions[address] ?? Permission()
    permission.isGranted = true
    permission.nextRequest = now.advanced(by: Self.renewal)
    let waiting = permission.waiting
    permission.waiting = []
    self.permissions[address] = permission
    for (peer, data) in waiting { self.send(data[...], to: peer, at: now) }
  }

  private mutating func refused(_ request: Request, _ message: STUNMessage, at now: VoiceInstant) {
    guard let code = message.errorCode else { return self.refused(request, .malformedAnswer, at: now) }
    switch code {
    case 401 where !request.hasCredentials, 438 where request.staleAnswers < 8:
      guard let nonce = message.nonce, let realm = message.realm ?? self.realm else {
        return self.refused(request, .malformedAnswer, at: now)
      }
      self.nonce = nonce
      if realm != self.realm || self.key == nil {
        self.realm = realm
        self.key = STUNMessage.longTermKey(
          username: self.configuration.username, realm: realm, password: self.configuration.password)
      }
      self.request(request.purpose, staleAnswers: request.staleAnswers + (code == 438 ? 1 : 0), at: now)
    case 300 where request.purpose == .allocate:
      guard let server = message.alternateServer else { return self.fail(.malformedAnswer) }
      self.end(.failed(.refused(code: 300)))
      self.outputs.append(.redirected(server))
    default:
      self.refused(request, TURNError(code: code), at: now)
    }
  }

  private mutating func refused(_ request: Request, _ error: TURNError, at now: VoiceInstant) {
    switch request.purpose {
    case .allocate, .refresh: self.fail(error)
    // The server has forgotten the allocation, or sees another address of ours, for which it has none.
    case .permission where error == .allocationMismatch, .channel where error == .allocationMismatch:
      self.fail(error)
    case .permission(let address):
      // Not asked for again for a while, so that a peer who may not be reached costs little.
      self.permissions[address]?.waiting = []
      self.permissions[address]?.isGranted = false
      self.permissions[address]?.nextRequest = now.advanced(by: .seconds(10))
    case .channel(let peer, _):
      self.channels[peer]?.isBound = false
    }
  }
}
