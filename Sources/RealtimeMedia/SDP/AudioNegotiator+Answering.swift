extension AudioNegotiator {
  /// Takes an offer and makes its answer.
  ///
  /// The answer bundles and names what the offer does: without a mid, which is needed for BUNDLE only, there is none in the
  /// answer and in later own offers either (RFC 8829 section 5.3.1).
  ///
  /// - Parameters:
  ///   - direction: What this side wants; the answer has no more than the offer allows.
  ///   - transport: New credentials if ``restartsICE(_:)`` says so.
  ///   - keepsCredentials: Whether the old credentials may answer a restart, since the other side does not know them yet.
  /// - Throws: ``NegotiationError``; nothing has changed then.
  public mutating func receivedOffer(
    _ offer: SessionDescription, direction: MediaDirection = .sendAndReceive, transport: Transport,
    keepsCredentials: Bool = false
  ) throws(NegotiationError) -> (answer: SessionDescription, audio: NegotiatedAudio) {
    guard case .stable = self.state else { throw .glare }
    let index = try self.audioIndex(in: offer)
    let medium = offer.media[index]
    let remote = try Self.remote(of: offer, at: index)
    guard medium.has("rtcp-mux") else { throw .noRTCPMux }
    let role = try self.role(answering: medium.setup ?? offer.setup, remote: remote, transport: transport)
    if let agreed = self.agreed, try Self.isRestart(from: agreed.remote, to: remote), !keepsCredentials,
      self.transport?.iceUserFragment == transport.iceUserFragment
    {
      throw .ownCredentialsKept
    }
    // Payload types always come from the offer.
    var accepted: [(AudioCodec, UInt8)] = []
    for codec in self.options.codecs {
      if let type = medium.payloadType(of: codec.key) { accepted.append((codec, type)) }
    }
    guard !accepted.isEmpty else { throw .noCommonCodec }
    let rates = Set(accepted.map(\.0.clockRate))
    for codec in self.allCodecs where codec.encoding == "telephone-event" && rates.contains(codec.clockRate) {
      if let type = medium.payloadType(of: codec.key) { accepted.append((codec, type)) }
    }
    let types = Dictionary(accepted.map { ($0.0.key, $0.1) }, uniquingKeysWith: { first, _ in first })
    let codecs = Self.agreement(
      accepted.map(\.0.key), sends: { types[$0] }, receives: { types[$0] }, parameters: medium)
    let theirs = medium.direction ?? offer.direction ?? .sendAndReceive
    let audio = try self.agreement(
      codecs: codecs, direction: direction.intersection(theirs.reversed), mid: medium.mid, remote: remote,
      role: role, reducedSize: medium.has("rtcp-rsize"), transport: transport)
    self.slots = offer.media.map {
      Slot(kind: $0.kind, transport: $0.transport, formats: $0.formats, mid: $0.mid)
    }
    self.audioIndex = index
    self.payloadTypes.merge(types) { _, new in new }
    self.transport = transport
    self.agreed = audio
    let media = self.slots.enumerated().map { place, slot in
      place == index
        ? self.audio(
          slot: slot, codecs: accepted, direction: audio.direction, transport: transport,
          setup: role == .client ? .active : .passive, reducedSize: audio.allowsReducedSizeRTCP)
        : Self.rejected(slot)
    }
    let isBundled = medium.mid.map { offer.bundle?.contains($0) ?? false } ?? false
    return (self.finish(media, bundle: isBundled ? medium.mid.map { [$0] } : nil), audio)
  }

  /// The medium that is taken: the one from before, or the first one with audio that is not rejected.
  func audioIndex(in offer: SessionDescription) throws(NegotiationError) -> Int {
    let audio = offer.media.indices.filter { offer.media[$0].kind == "audio" && !offer.media[$0].isRejected }
    guard !audio.isEmpty else { throw .noAudio }
    let supported = audio.filter { Self.offeredProfiles.contains(offer.media[$0].transport) }
    guard let first = supported.first else { throw .transportNotSupported }
    if !self.slots.isEmpty, audio.contains(self.audioIndex) {
      guard supported.contains(self.audioIndex) else { throw .transportNotSupported }
      return self.audioIndex
    }
    // Some offer a medium without encryption beside the one with it.
    return supported.first { !offer.media[$0].fingerprints.isEmpty } ?? first
  }

  /// What own offers name (RFC 8829 section 5.1.2).
  static let ownProfile = "UDP/TLS/RTP/SAVPF"
  /// Profiles of answers that mean the same.
  static let answeredProfiles: Set<String> = [
    Self.ownProfile, "UDP/TLS/RTP/SAVP", "TCP/DTLS/RTP/SAVPF", "RTP/SAVPF", "RTP/SAVP",
  ]
  /// Profiles of offers that mean the same: that media are encrypted is known by the fingerprint, which has to be there
  /// (RFC 8829 section 5.1.2).
  static let offeredProfiles = Self.answeredProfiles.union(["TCP/DTLS/RTP/SAVP", "RTP/AVPF", "RTP/AVP"])

  /// The role of the answerer: the old one if the association goes on (RFC 8842 section 5.5).
  private func role(
    answering setup: DTLSSetup?, remote: NegotiatedAudio.Remote, transport: Transport
  ) throws(NegotiationError) -> NegotiatedAudio.DTLSRole {
    switch setup {
    case .active: return .server
    case .passive: return .client
    case .either:
      if let agreed = self.agreed, !self.isNewAssociation(remote: remote, transport: transport) {
        return agreed.dtlsRole
      }
      return .client
    case .holdConnection, nil: throw .wrongSetup
    }
  }

  private func isNewAssociation(remote: NegotiatedAudio.Remote, transport: Transport) -> Bool {
    guard let agreed = self.agreed else { return true }
    return Set(agreed.remote.fingerprints) != Set(remote.fingerprints)
      || self.transport?.fingerprint != transport.fingerprint
  }

  /// What a description says of its transport, in the medium, in the session, or in the medium that carries its bundle
  /// (RFC 9143 section 7.1.3).
  static func remote(
    of description: SessionDescription, at index: Int
  ) throws(NegotiationError) -> NegotiatedAudio.Remote {
    let medium = description.media[index]
    var carrier = medium
    if medium.iceUserFragment == nil, let mid = medium.mid, let bundle = description.bundle,
      bundle.contains(mid),
      let tagged = description.media.first(where: { $0.mid == bundle.first })
    {
      carrier = tagged
    }
    guard let fragment = carrier.iceUserFragment ?? description.iceUserFragment,
      let password = carrier.icePassword ?? description.icePassword
    else { throw .noICECredentials }
    let own = carrier.fingerprints.isEmpty ? description.fingerprints : carrier.fingerprints
    let checkable: Set<String> = ["sha-256", "sha-384", "sha-512"]
    let fingerprints = own.filter { checkable.contains($0.function) }
    guard !fingerprints.isEmpty else { throw .noFingerprint }
    return NegotiatedAudio.Remote(
      iceUserFragment: fragment, icePassword: password,
      iceOptions: carrier.iceOptions.isEmpty ? description.iceOptions : carrier.iceOptions,
      isICELite: description.has("ice-lite"), candidates: carrier.candidates,
      hasAllCandidates: carrier.has("end-of-candidates") || description.has("end-of-candidates"),
      fingerprints: fingerprints, ssrcs: medium.ssrcs, packetTime: medium.ptime,
      maximumPacketTime: medium.maxptime)
  }

  static func agreement(
    _ keys: [AudioCodec.Key], sends: (AudioCodec.Key) -> UInt8?, receives: (AudioCodec.Key) -> UInt8?,
    parameters medium: MediaDescription
  ) -> [NegotiatedAudio.Codec] {
    var codecs: [NegotiatedAudio.Codec] = []
    for key in keys where !codecs.contains(where: { $0.key == key }) {
      guard let sends = sends(key), let receives = receives(key) else { continue }
      codecs.append(
        .init(
          key: key, sends: sends, receives: receives, remoteParameters: medium.parameters(of: String(sends))))
    }
    return codecs
  }

  func agreement(
    codecs: [NegotiatedAudio.Codec], direction: MediaDirection, mid: String?, remote: NegotiatedAudio.Remote,
    role: NegotiatedAudio.DTLSRole, reducedSize: Bool, transport: Transport
  ) throws(NegotiationError) -> NegotiatedAudio {
    let isRestart = try self.agreed.map { old throws(NegotiationError) in
      try Self.isRestart(from: old.remote, to: remote)
    }
    return NegotiatedAudio(
      codecs: codecs.filter { $0.key.encoding != "telephone-event" },
      telephoneEvents: codecs.filter { $0.key.encoding == "telephone-event" }, direction: direction, mid: mid,
      remote: remote, dtlsRole: role, allowsReducedSizeRTCP: reducedSize, isICERestart: isRestart ?? false,
      isNewDTLSAssociation: self.isNewAssociation(remote: remote, transport: transport))
  }
}
