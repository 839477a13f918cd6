extension AudioNegotiator {
  /// Makes an offer: the first one, or one that changes the direction (hold, resume), the codecs or the transport.
  ///
  /// New credentials in the transport restart ICE.
  ///
  /// - Throws: ``NegotiationError/glare`` if an own offer waits for its answer already.
  public mutating func makeOffer(
    _ direction: MediaDirection, transport: Transport
  ) throws(NegotiationError) -> SessionDescription {
    guard case .stable = self.state else { throw .glare }
    var slots = self.slots
    if slots.isEmpty {
      slots = [Slot(kind: "audio", transport: Self.ownProfile, formats: [], mid: "0")]
    }
    // Whatever the other side called it (RFC 8829 section 5.1.2).
    if slots.indices.contains(self.audioIndex) { slots[self.audioIndex].transport = Self.ownProfile }
    let codecs = self.assigned(self.allCodecs)
    // After an agreement on one medium its place is kept, and what was rejected stays so.
    let media = slots.enumerated().map { index, slot in
      index == self.audioIndex
        ? self.audio(
          slot: slot, codecs: codecs, direction: direction, transport: transport, setup: .either,
          reducedSize: true)
        : Self.rejected(slot)
    }
    let audioMid = self.audioIndex < slots.count ? slots[self.audioIndex].mid : nil
    let offer = self.finish(media, bundle: audioMid.map { [$0] })
    self.state = .offered(
      Pending(
        offer: offer, slots: slots, audioIndex: self.audioIndex,
        payloadTypes: Dictionary(codecs.map { ($0.0.key, $0.1) }, uniquingKeysWith: { first, _ in first }),
        direction: direction, transport: transport))
    return offer
  }

  /// Takes the answer to the own offer.
  ///
  /// - Throws: ``NegotiationError``; the offer still waits then, for another answer or to be taken back.
  public mutating func receivedAnswer(
    _ answer: SessionDescription
  ) throws(NegotiationError) -> NegotiatedAudio {
    let pending: Pending
    switch self.state {
    case .stable: throw .noOffer
    case .offered(let offered): pending = offered
    }
    guard answer.media.count == pending.slots.count else { throw .mediaDiffer }
    for (medium, slot) in zip(answer.media, pending.slots) {
      guard medium.kind == slot.kind, medium.mid == nil || medium.mid == slot.mid else { throw .mediaDiffer }
    }
    guard pending.audioIndex < answer.media.count else { throw .mediaDiffer }
    let medium = answer.media[pending.audioIndex]
    guard !medium.isRejected else { throw .audioRejected }
    guard Self.answeredProfiles.contains(medium.transport) else { throw .transportNotSupported }
    if let bundle = answer.bundle {
      guard Set(bundle).isSubset(of: pending.offer.bundle ?? []) else { throw .bundleDiffers }
    }
    let remote = try Self.remote(of: answer, at: pending.audioIndex)
    guard medium.has("rtcp-mux") else { throw .noRTCPMux }
    let role: NegotiatedAudio.DTLSRole
    switch medium.setup ?? answer.setup {
    case .active: role = .server
    case .passive: role = .client
    case .either, .holdConnection, nil: throw .wrongSetup
    }
    let codecs = Self.agreement(
      medium.payloadTypes.compactMap { type in medium.rtpmap(of: type).map(AudioCodec.Key.init) },
      sends: { medium.payloadType(of: $0) }, receives: { pending.payloadTypes[$0] }, parameters: medium)
    guard codecs.contains(where: { $0.key.encoding != "telephone-event" }) else { throw .noCommonCodec }
    let theirs = medium.direction ?? answer.direction ?? .sendAndReceive
    let audio = try self.agreement(
      codecs: codecs, direction: pending.direction.intersection(theirs.reversed),
      mid: pending.slots[pending.audioIndex].mid,
      remote: remote, role: role, reducedSize: medium.has("rtcp-rsize"), transport: pending.transport)
    if let old = self.transport, old.iceUserFragment != pending.transport.iceUserFragment, !audio.isICERestart
    {
      throw .remoteCredentialsKept
    }
    self.state = .stable
    self.slots = pending.slots
    self.audioIndex = pending.audioIndex
    self.payloadTypes.merge(pending.payloadTypes) { _, new in new }
    self.transport = pending.transport
    self.agreed = audio
    return audio
  }

  /// Gives each codec a payload type: its old one, the one it asks for, or a free one (RFC 3551 section 6).
  func assigned(_ codecs: [AudioCodec]) -> [(AudioCodec, UInt8)] {
    var used = Set(self.payloadTypes.values)
    var result: [(AudioCodec, UInt8)] = []
    var taken: Set<UInt8> = []
    for codec in codecs where !result.contains(where: { $0.0.key == codec.key }) {
      let type: UInt8
      if let old = self.payloadTypes[codec.key], !taken.contains(old) {
        type = old
      } else if !used.contains(codec.payloadType) {
        type = codec.payloadType
      } else if let free = (UInt8(96)...127).reversed().first(where: { !used.contains($0) }) {
        type = free
      } else {
        continue
      }
      used.insert(type)
      taken.insert(type)
      result.append((codec, type))
    }
    return result
  }
}
