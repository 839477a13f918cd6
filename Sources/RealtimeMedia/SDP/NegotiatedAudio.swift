public import VoiceCore

/// What two peers agreed on.
public struct NegotiatedAudio: Hashable, Sendable {
  /// A codec with its payload types in both directions, which may differ (RFC 3264 section 5.1).
  public struct Codec: Hashable, Sendable {
    /// What it is.
    public var key: AudioCodec.Key
    /// The payload type to send.
    public var sends: UInt8
    /// The payload type to expect.
    public var receives: UInt8
    /// What the other side wants to receive, such as `useinbandfec`.
    public var remoteParameters: [String: String]

    /// Creates a codec that was agreed on.
    public init(
      key: AudioCodec.Key, sends: UInt8, receives: UInt8, remoteParameters: [String: String] = [:]
    ) {
      self.key = key
      self.sends = sends
      self.receives = receives
      self.remoteParameters = remoteParameters
    }
  }

  /// Who begins the DTLS handshake.
  public enum DTLSRole: Hashable, Sendable {
    case client
    case server
  }

  /// What is known of the other side's transport.
  public struct Remote: Hashable, Sendable {
    /// The user fragment of ICE.
    public var iceUserFragment: String
    /// The password of ICE.
    public var icePassword: String
    /// The options of ICE.
    public var iceOptions: [String]
    /// Whether it only answers checks (RFC 8445 section 2.5).
    public var isICELite: Bool
    /// The candidates so far.
    public var candidates: [ICECandidate]
    /// Whether no more candidates come.
    public var hasAllCandidates: Bool
    /// The fingerprints, one of which its certificate must have.
    public var fingerprints: [CertificateFingerprint]
    /// The sources that it announces, if any.
    public var ssrcs: [UInt32]
    /// The packet length that it would like to receive, in milliseconds.
    public var packetTime: Int?
    /// The longest packet that it receives, in milliseconds.
    public var maximumPacketTime: Int?
  }

  /// The codec to send, and all others that may come, the most wanted one first; never empty.
  public var codecs: [Codec]
  /// The formats of key presses by the rate of their clock; empty if the other side does not know them.
  public var telephoneEvents: [Codec]
  /// Who sends, seen from this side.
  public var direction: MediaDirection
  /// The name of the medium, if there is one.
  public var mid: String?
  /// The other side's transport.
  public var remote: Remote
  /// Who begins the DTLS handshake.
  public var dtlsRole: DTLSRole
  /// Whether RTCP may be sent in reduced size (RFC 5506).
  public var allowsReducedSizeRTCP: Bool
  /// Whether ICE begins anew (RFC 8445 section 9); false for the first agreement.
  public var isICERestart: Bool
  /// Whether DTLS begins anew, because a certificate changed (RFC 8842 section 3.1); true for the first agreement.
  public var isNewDTLSAssociation: Bool

  /// The format of key presses beside a codec: the one with the same clock (RFC 4733 section 2.5.1.1).
  public func telephoneEvent(for codec: Codec) -> Codec? {
    self.telephoneEvents.first { $0.key.clockRate == codec.key.clockRate }
  }
}

/// Why two peers do not come together.
public enum NegotiationError: Error, Hashable, Sendable, CustomStringConvertible {
  /// There is no medium for audio that is offered.
  case noAudio
  /// The other side rejected the audio (port 0).
  case audioRejected
  /// The two have no codec in common.
  case noCommonCodec
  /// The transport is not `UDP/TLS/RTP/SAVPF` or one of the names that mean the same (RFC 8829 section 5.1.2).
  case transportNotSupported
  /// `a=ice-ufrag` or `a=ice-pwd` is missing.
  case noICECredentials
  /// One of both credentials was kept; a restart changes both (RFC 8839 section 4.4.1.1.1).
  case halfICERestart
  /// There is no fingerprint of a hash function that can be checked.
  case noFingerprint
  /// There is no `a=rtcp-mux`, without which RTCP would need a port of its own.
  case noRTCPMux
  /// There is no `a=setup`, or an answer's is not `active` or `passive`.
  case wrongSetup
  /// The answer has other media than the offer, or in another order (RFC 3264 section 6).
  case mediaDiffer
  /// The answer bundles what the offer did not (RFC 9143 section 7.3).
  case bundleDiffers
  /// An offer came while the answer to an own one is awaited: one side has to take its offer back.
  case glare
  /// An answer came, and there is no offer that it could belong to.
  case noOffer
  /// The other side restarts ICE, and the own credentials given are still the old ones.
  case ownCredentialsKept
  /// This side restarted ICE, and the answer has the old credentials (RFC 8839 section 4.4.1.1.1).
  case remoteCredentialsKept

  public var description: String {
    switch self {
    case .noAudio: "There is no audio."
    case .audioRejected: "The other side rejects the audio."
    case .noCommonCodec: "There is no codec that both sides know."
    case .transportNotSupported: "The transport is not UDP/TLS/RTP/SAVPF."
    case .noICECredentials: "The credentials of ICE are missing."
    case .halfICERestart: "Only one of both credentials of ICE is new."
    case .noFingerprint: "There is no fingerprint that can be checked."
    case .noRTCPMux: "RTCP is not multiplexed with RTP."
    case .wrongSetup: "Nobody or everybody would begin the handshake."
    case .mediaDiffer: "The answer has other media than the offer."
    case .bundleDiffers: "The answer bundles media that were not offered as a bundle."
    case .glare: "Both sides made an offer at once."
    case .noOffer: "There is an answer without an offer."
    case .ownCredentialsKept: "The own credentials of ICE were not renewed."
    case .remoteCredentialsKept: "The other side did not renew its credentials of ICE."
    }
  }

  /// The failure of the call: `call.media.unacceptable`, with this error as its cause.
  public var failure: VoiceFailure {
    VoiceFailure(.callMediaUnacceptable, message: self.description, cause: self)
  }
}
