/// An attribute (`a=`) of a session or a medium (RFC 8866 section 6).
public enum SDPAttribute: Hashable, Sendable {
  /// What a payload type is (RFC 8866 section 6.6).
  case rtpmap(RTPMap)
  /// Parameters of a format (RFC 8866 section 6.15).
  case fmtp(FormatParameters)
  /// A header extension (RFC 8285 section 5).
  case extmap(ExtensionMapping)
  /// The name of a medium (RFC 5888 section 4).
  case mid(String)
  /// Media that belong together, such as BUNDLE (RFC 5888 section 5, RFC 9143).
  case group(semantics: String, mids: [String])
  /// RTP and RTCP share a port (RFC 5761 section 5.1.1).
  case rtcpMux
  /// RTCP may be sent in reduced size (RFC 5506 section 5).
  case rtcpReducedSize
  /// The user fragment of ICE (RFC 8839 section 5.4).
  case iceUserFragment(String)
  /// The password of ICE (RFC 8839 section 5.4).
  case icePassword(String)
  /// Options of ICE, such as `trickle` (RFC 8839 section 5.6).
  case iceOptions([String])
  /// The peer only answers checks (RFC 8839 section 5.3).
  case iceLite
  /// A candidate (RFC 8839 section 5.1).
  case candidate(ICECandidate)
  /// There will be no more candidates (RFC 8840 section 8.2).
  case endOfCandidates
  /// The fingerprint of the certificate (RFC 8122 section 5).
  case fingerprint(CertificateFingerprint)
  /// Who begins the DTLS handshake (RFC 8842 section 5).
  case setup(DTLSSetup)
  /// Who sends (RFC 8866 section 6.7).
  case direction(MediaDirection)
  /// The length of a packet in milliseconds (RFC 8866 section 6.4).
  case ptime(Int)
  /// The largest length of a packet in milliseconds (RFC 8866 section 6.5).
  case maxptime(Int)
  /// What is said of a source (RFC 5576 section 4.1).
  case ssrc(UInt32, name: String, value: String?)
  /// The stream and track of a medium (RFC 8830 section 2).
  case msid(stream: String, track: String?)
  /// Any other attribute; without a value it is a flag.
  case other(name: String, value: String?)

  /// The name before the colon.
  public var name: String {
    switch self {
    case .rtpmap: "rtpmap"
    case .fmtp: "fmtp"
    case .extmap: "extmap"
    case .mid: "mid"
    case .group: "group"
    case .rtcpMux: "rtcp-mux"
    case .rtcpReducedSize: "rtcp-rsize"
    case .iceUserFragment: "ice-ufrag"
    case .icePassword: "ice-pwd"
    case .iceOptions: "ice-options"
    case .iceLite: "ice-lite"
    case .candidate: "candidate"
    case .endOfCandidates: "end-of-candidates"
    case .fingerprint: "fingerprint"
    case .setup: "setup"
    case .direction(let direction): direction.rawValue
    case .ptime: "ptime"
    case .maxptime: "maxptime"
    case .ssrc: "ssrc"
    case .msid: "msid"
    case .other(let name, _): name
    }
  }
}

/// Who sends media, seen from who wrote it (RFC 8866 section 6.7).
public enum MediaDirection: String, Hashable, Sendable, CaseIterable {
  case sendAndReceive = "sendrecv"
  case sendOnly = "sendonly"
  case receiveOnly = "recvonly"
  case inactive

  /// Creates a direction.
  public init(sends: Bool, receives: Bool) {
    self = sends ? (receives ? .sendAndReceive : .sendOnly) : (receives ? .receiveOnly : .inactive)
  }

  /// Whether who wrote it sends.
  public var sends: Bool { self == .sendAndReceive || self == .sendOnly }
  /// Whether who wrote it receives.
  public var receives: Bool { self == .sendAndReceive || self == .receiveOnly }
  /// The same, seen from the other side.
  public var reversed: MediaDirection { MediaDirection(sends: self.receives, receives: self.sends) }

  /// What both want.
  public func intersection(_ other: MediaDirection) -> MediaDirection {
    MediaDirection(sends: self.sends && other.sends, receives: self.receives && other.receives)
  }
}

/// Who begins the DTLS handshake (RFC 8842 section 5).
public enum DTLSSetup: String, Hashable, Sendable, CaseIterable {
  /// The writer begins: it is the client.
  case active
  /// The writer waits: it is the server.
  case passive
  /// The other side chooses; in offers only.
  case either = "actpass"
  /// Nobody begins yet; not for DTLS-SRTP.
  case holdConnection = "holdconn"
}

/// What a payload type is: `a=rtpmap:111 opus/48000/2` (RFC 8866 section 6.6).
public struct RTPMap: Hashable, Sendable {
  /// The payload type, from 0 to 127.
  public var payloadType: UInt8
  /// The name as written; it is compared without regard to case.
  public var encoding: String
  /// Units of the timestamp per second.
  public var clockRate: Int
  /// The channels, if written.
  public var channels: Int?

  /// Creates a map.
  public init(_ payloadType: UInt8, _ encoding: String, clockRate: Int, channels: Int? = nil) {
    self.payloadType = payloadType
    self.encoding = encoding
    self.clockRate = clockRate
    self.channels = channels
  }
}

/// Parameters of a format: `a=fmtp:111 minptime=10;useinbandfec=1` (RFC 8866 section 6.15).
public struct FormatParameters: Hashable, Sendable {
  /// The format that they belong to.
  public var format: String
  /// The parameters as written.
  public var text: String

  /// Creates parameters.
  public init(_ format: String, _ text: String) {
    self.format = format
    self.text = text
  }

  /// The parameters by lower-case name, where they are pairs; of two with one name the first counts.
  public var values: [String: String] {
    var values: [String: String] = [:]
    for part in self.text.split(separator: ";") {
      let pair = part.split(separator: "=", maxSplits: 1)
      guard pair.count == 2 else { continue }
      let name = pair[0].trimmed.lowercased()
      if values[name] == nil { values[name] = String(pair[1].trimmed) }
    }
    return values
  }
}

/// A header extension: `a=extmap:1/sendonly URI attributes` (RFC 8285 section 5).
public struct ExtensionMapping: Hashable, Sendable {
  /// The identifier on the wire, from 1 to 255, or 4096 to 4351 in offers.
  public var id: Int
  /// Who sends it, if written.
  public var direction: MediaDirection?
  /// What it is.
  public var uri: String
  /// What follows, as written.
  public var parameters: String?

  /// Creates a mapping.
  public init(id: Int, direction: MediaDirection? = nil, uri: String, parameters: String? = nil) {
    self.id = id
    self.direction = direction
    self.uri = uri
    self.parameters = parameters
  }
}

/// The fingerprint of a certificate: `a=fingerprint:sha-256 AB:CD:…` (RFC 8122 section 5).
public struct CertificateFingerprint: Hashable, Sendable {
  /// The hash function in lower case, such as `sha-256`.
  public var function: String
  /// The hash.
  public var bytes: [UInt8]

  /// Creates a fingerprint.
  public init(function: String, bytes: [UInt8]) {
    self.function = function
    self.bytes = bytes
  }
}

extension Substring {
  /// Without spaces and tabs around it.
  var trimmed: Substring {
    let isBlank = { (character: Character) in character == " " || character == "\t" }
    let start = self.drop(while: isBlank)
    guard let last = start.lastIndex(where: { !isBlank($0) }) else { return start }
    return start[...last]
  }
}
