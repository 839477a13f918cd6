/// Offers and answers for one audio medium (RFC 3264, RFC 8829); all other media are rejected.
///
/// States: *stable*, before the first agreement and after each; *offered*, from an own offer to its answer or its
/// withdrawal. It takes what it needs to know of ICE and DTLS as values and owns neither.
///
/// ```swift
/// var negotiator = AudioNegotiator(source: source, sessionID: random)
/// let offer = try negotiator.makeOffer(.sendAndReceive, transport: transport)
/// let audio = try negotiator.receivedAnswer(try SessionDescription(parsing: answer))
/// ```
public struct AudioNegotiator: Hashable, Sendable {
  /// What this side says of its transport.
  public struct Transport: Hashable, Sendable {
    /// The user fragment of ICE.
    public var iceUserFragment: String
    /// The password of ICE.
    public var icePassword: String
    /// The fingerprint of the certificate.
    public var fingerprint: CertificateFingerprint
    /// The candidates so far.
    public var candidates: [ICECandidate]
    /// Whether no more candidates come; otherwise they are trickled (RFC 8838).
    public var hasAllCandidates: Bool

    /// Creates a transport.
    public init(
      iceUserFragment: String, icePassword: String, fingerprint: CertificateFingerprint,
      candidates: [ICECandidate] = [], hasAllCandidates: Bool = false
    ) {
      self.iceUserFragment = iceUserFragment
      self.icePassword = icePassword
      self.fingerprint = fingerprint
      self.candidates = candidates
      self.hasAllCandidates = hasAllCandidates
    }
  }

  /// The source of the audio that this side sends.
  public struct Source: Hashable, Sendable {
    /// The source on the wire.
    public var ssrc: UInt32
    /// Its name, which survives a change of the source (RFC 7022).
    public var cname: String
    /// The stream (RFC 8830).
    public var stream: String
    /// The track (RFC 8830).
    public var track: String

    /// Creates a source.
    public init(ssrc: UInt32, cname: String, stream: String = "-", track: String) {
      self.ssrc = ssrc
      self.cname = cname
      self.stream = stream
      self.track = track
    }
  }

  /// What is offered and accepted.
  public struct Options: Hashable, Sendable {
    /// The codecs, the most wanted one first.
    public var codecs: [AudioCodec]
    /// Whether key presses are offered and accepted, with each clock that the codecs have.
    public var telephoneEvents: Bool
    /// The packet length to receive, in milliseconds.
    public var packetTime: Int?
    /// The longest packet to receive, in milliseconds.
    public var maximumPacketTime: Int?

    /// Creates options.
    public init(
      codecs: [AudioCodec] = [.opus(), .pcmu, .pcma], telephoneEvents: Bool = true, packetTime: Int? = 20,
      maximumPacketTime: Int? = nil
    ) {
      self.codecs = codecs
      self.telephoneEvents = telephoneEvents
      self.packetTime = packetTime
      self.maximumPacketTime = maximumPacketTime
    }
  }

  /// One medium of the session; its place never changes (RFC 8829 section 5.2.2).
  struct Slot: Hashable, Sendable {
    var kind: String
    var transport: String
    var formats: [String]
    var mid: String?
  }

  struct Pending: Hashable, Sendable {
    var offer: SessionDescription
    var slots: [Slot]
    var audioIndex: Int
    var payloadTypes: [AudioCodec.Key: UInt8]
    var direction: MediaDirection
    var transport: Transport
  }

  enum State: Hashable, Sendable {
    case stable
    case offered(Pending)
  }

  /// What is offered and accepted from the next description on.
  public var options: Options
  /// What both agreed on last.
  public internal(set) var agreed: NegotiatedAudio?
  let source: Source
  let sessionID: UInt64
  var state = State.stable
  var version: UInt64 = 1
  var lastBody: SessionDescription?
  var slots: [Slot] = []
  var audioIndex = 0
  /// Payload types keep their meaning for as long as the session lasts (RFC 8829 section 5.2.2).
  var payloadTypes: [AudioCodec.Key: UInt8] = [:]
  var transport: Transport?

  /// Creates a negotiator.
  ///
  /// - Parameters:
  ///   - sessionID: A random number; 63 bits of it are used (RFC 8829 section 5.2.1).
  public init(options: Options = Options(), source: Source, sessionID: UInt64) {
    self.options = options
    self.source = source
    self.sessionID = sessionID & (UInt64.max >> 1)
  }

  /// Whether an own offer waits for its answer.
  public var awaitsAnswer: Bool {
    switch self.state {
    case .stable: false
    case .offered: true
    }
  }

  /// Takes the own offer back (RFC 8829 section 4.1.10.2): the last agreement holds.
  public mutating func rolledBack() {
    self.state = .stable
  }

  /// Whether an offer restarts ICE, so that the answer needs new credentials (RFC 8839 section 4.4.1.1.1).
  ///
  /// - Throws: ``NegotiationError/halfICERestart`` and what is wrong with the offer's transport.
  public func restartsICE(_ offer: SessionDescription) throws(NegotiationError) -> Bool {
    guard let agreed = self.agreed else { return false }
    let index = try self.audioIndex(in: offer)
    return try Self.isRestart(from: agreed.remote, to: try Self.remote(of: offer, at: index))
  }

  /// Whether a description leaves open who begins the DTLS handshake, as offers do and answers do not (RFC 8842 section 5.2).
  func opensHandshake(_ description: SessionDescription) -> Bool {
    guard let index = try? self.audioIndex(in: description) else { return true }
    switch description.media[index].setup ?? description.setup {
    case .active, .passive: return false
    case .either, .holdConnection, nil: return true
    }
  }

  static func isRestart(
    from old: NegotiatedAudio.Remote, to new: NegotiatedAudio.Remote
  ) throws(NegotiationError) -> Bool {
    let isNewFragment = old.iceUserFragment != new.iceUserFragment
    let isNewPassword = old.icePassword != new.icePassword
    guard isNewFragment == isNewPassword else { throw .halfICERestart }
    return isNewFragment
  }

  /// The codecs with the formats for key presses, one for each clock.
  var allCodecs: [AudioCodec] {
    guard self.options.telephoneEvents else { return self.options.codecs }
    var rates: [Int] = []
    for codec in self.options.codecs where !rates.contains(codec.clockRate) { rates.append(codec.clockRate) }
    return self.options.codecs + rates.map { AudioCodec.telephoneEvent(clockRate: $0) }
  }

  /// Makes a description of the media, with the next version if something changed (RFC 3264 section 8).
  mutating func finish(_ media: [MediaDescription], bundle: [String]?) -> SessionDescription {
    var description = SessionDescription(
      origin: SDPOrigin(sessionID: self.sessionID, version: 0),
      attributes: bundle.map { [.group(semantics: "BUNDLE", mids: $0)] } ?? [], media: media)
    if let last = self.lastBody, last != description { self.version &+= 1 }
    self.lastBody = description
    description.origin.version = self.version
    return description
  }

  /// The medium of the audio as this side describes it.
  func audio(
    slot: Slot, codecs: [(AudioCodec, UInt8)], direction: MediaDirection, transport: Transport,
    setup: DTLSSetup,
    reducedSize: Bool
  ) -> MediaDescription {
    var attributes: [SDPAttribute] = [
      .iceUserFragment(transport.iceUserFragment), .icePassword(transport.icePassword),
      .iceOptions(["trickle", "ice2"]), .fingerprint(transport.fingerprint), .setup(setup),
    ]
    if let mid = slot.mid { attributes.append(.mid(mid)) }
    attributes += [
      .direction(direction), .msid(stream: self.source.stream, track: self.source.track), .rtcpMux,
    ]
    if reducedSize { attributes.append(.rtcpReducedSize) }
    for (codec, type) in codecs {
      let channels = codec.channels == 1 ? nil : codec.channels
      attributes.append(
        .rtpmap(RTPMap(type, codec.encoding, clockRate: codec.clockRate, channels: channels)))
      if let parameters = codec.parameters {
        attributes.append(.fmtp(FormatParameters(String(type), parameters)))
      }
    }
    if let time = self.options.packetTime { attributes.append(.ptime(time)) }
    if let time = self.options.maximumPacketTime { attributes.append(.maxptime(time)) }
    attributes.append(.ssrc(self.source.ssrc, name: "cname", value: self.source.cname))
    attributes += transport.candidates.map { .candidate($0) }
    if transport.hasAllCandidates { attributes.append(.endOfCandidates) }
    return MediaDescription(
      kind: "audio", port: 9, transport: slot.transport, formats: codecs.map { String($0.1) },
      connection: .unspecified, attributes: attributes)
  }

  /// A medium that is not wanted (RFC 3264 section 6).
  static func rejected(_ slot: Slot) -> MediaDescription {
    MediaDescription(
      kind: slot.kind, port: 0, transport: slot.transport, formats: slot.formats, connection: .unspecified,
      attributes: slot.mid.map { [.mid($0)] } ?? [])
  }
}
