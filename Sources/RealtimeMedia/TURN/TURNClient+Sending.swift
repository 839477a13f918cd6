public import VoiceCore

extension TURNClient {
  /// Sends a datagram to a peer: on a channel if one is bound, else in a Send indication.
  ///
  /// A peer that was never sent to is permitted first; meanwhile up to 8 datagrams wait, and more are dropped.
  public mutating func send(_ data: ArraySlice<UInt8>, to peer: TransportAddress, at now: VoiceInstant) {
    guard case .allocated(let relayed) = self.state, relayed.ip.isV6 == peer.ip.isV6 else { return }
    if self.channels[peer]?.isBound == true, let number = self.channels[peer]?.number {
      self.channels[peer]?.isUsed = true
      self.permissions[peer.ip]?.isUsed = true
      var bytes: [UInt8] = []
      bytes.reserveCapacity(data.count + 8)
      guard
        ChannelData.append(channel: number, data, isStream: self.configuration.isStream, to: &bytes)
      else { return }
      self.outputs.append(.send(bytes))
      return
    }
    guard let permission = self.permissions[peer.ip] else {
      guard self.permissions.count < Self.permissionLimit else { return }
      self.permissions[peer.ip] = Permission(waiting: [(peer, Array(data))])
      self.request(.permission(peer.ip), at: now)
      return
    }
    self.permissions[peer.ip]?.isUsed = true
    guard permission.isGranted else {
      // A refused permission has an instant for the next try, one that is asked for has none.
      if permission.nextRequest == nil, permission.waiting.count < Self.waitingLimit {
        self.permissions[peer.ip]?.waiting.append((peer, Array(data)))
      }
      return
    }
    let indication = STUNMessage(
      .indication, .send, transaction: .init(using: &self.random),
      attributes: [.xorPeerAddress(peer), .data(Array(data))])
    self.outputs.append(.send(indication.encoded()))
  }

  /// Binds a channel to a peer, which makes each datagram 32 bytes shorter; does nothing if there is one.
  public mutating func bindChannel(to peer: TransportAddress, at now: VoiceInstant) {
    guard case .allocated(let relayed) = self.state, relayed.ip.isV6 == peer.ip.isV6 else { return }
    if let channel = self.channels[peer] {
      self.channels[peer]?.isUsed = true
      let isUnderWay = self.requests.values.contains { $0.purpose == .channel(peer, channel.number) }
      if !channel.isBound, !isUnderWay { self.request(.channel(peer, channel.number), at: now) }
      return
    }
    guard self.channels.count < Self.channelLimit, self.nextChannel <= 0x4fff else { return }
    let number = self.nextChannel
    self.nextChannel += 1
    self.channels[peer] = Channel(number: number)
    self.peers[number] = peer
    self.request(.channel(peer, number), at: now)
  }
}

extension STUNMessage {
  /// The first of the values that `pick` finds.
  private func first<Value>(_ pick: (STUNAttribute) -> Value?) -> Value? {
    self.attributes.firstValue(pick)
  }

  var mappedAddress: TransportAddress? {
    self.first { if case .xorMappedAddress(let address) = $0 { address } else { nil } }
      ?? self.first { if case .mappedAddress(let address) = $0 { address } else { nil } }
  }
  var relayedAddress: TransportAddress? {
    self.first { if case .xorRelayedAddress(let address) = $0 { address } else { nil } }
  }
  var peer: TransportAddress? {
    self.first { if case .xorPeerAddress(let address) = $0 { address } else { nil } }
  }
  var alternateServer: TransportAddress? {
    self.first { if case .alternateServer(let address) = $0 { address } else { nil } }
  }
  var data: [UInt8]? { self.first { if case .data(let bytes) = $0 { bytes } else { nil } } }
  var lifetime: Duration? { self.first { if case .lifetime(let value) = $0 { value } else { nil } } }
  var errorCode: Int? { self.first { if case .errorCode(let code, _) = $0 { code } else { nil } } }
  var realm: String? { self.first { if case .realm(let text) = $0 { text } else { nil } } }
  var nonce: String? { self.first { if case .nonce(let text) = $0 { text } else { nil } } }
  var username: String? { self.first { if case .username(let text) = $0 { text } else { nil } } }
  var priority: UInt32? { self.first { if case .priority(let value) = $0 { value } else { nil } } }
  var controlling: UInt64? { self.first { if case .iceControlling(let value) = $0 { value } else { nil } } }
  var controlled: UInt64? { self.first { if case .iceControlled(let value) = $0 { value } else { nil } } }
  var nominates: Bool { self.attributes.contains(.useCandidate) }
}
