/// A description of a session in the Session Description Protocol (RFC 8866), with the attributes of WebRTC audio.
///
/// ```swift
/// let offer = try SessionDescription(parsing: text)
/// print(offer.media.first?.kind ?? "", offer.text)
/// ```
///
/// Attributes that are not known are kept, and so are lines with letters that are not known: RFC 8866 section 5 would
/// have the whole description ignored, which would end calls for nothing. Writing is deterministic: the same value is
/// always the same text, and what was written is read as an equal value.
public struct SessionDescription: Hashable, Sendable, SDPAttributes {
  /// Who made it, and which version it is (RFC 8866 section 5.2).
  public var origin: SDPOrigin
  /// The name of the session, never empty (RFC 8866 section 5.3).
  public var name: String
  /// Where media goes unless a medium says otherwise (RFC 8866 section 5.7).
  public var connection: SDPConnection?
  /// The lines `t=` with their lines `r=` (RFC 8866 sections 5.9 and 5.10); for WebRTC one that is 0 to 0.
  public var times: [SDPTime]
  /// All other lines but attributes, in the order of RFC 8866 section 5, with unknown ones at the end.
  public var otherLines: [SDPLine]
  /// The attributes of the session.
  public var attributes: [SDPAttribute]
  /// The media.
  public var media: [MediaDescription]

  /// Creates a description.
  public init(
    origin: SDPOrigin, name: String = "-", connection: SDPConnection? = nil, times: [SDPTime] = [SDPTime()],
    otherLines: [SDPLine] = [], attributes: [SDPAttribute] = [], media: [MediaDescription] = []
  ) {
    self.origin = origin
    self.name = name
    self.connection = connection
    self.times = times
    self.otherLines = otherLines
    self.attributes = attributes
    self.media = media
  }
}

/// One medium of a session (RFC 8866 section 5.14).
public struct MediaDescription: Hashable, Sendable, SDPAttributes {
  /// `audio`, `video`, `application`, …
  public var kind: String
  /// The port; 0 rejects the medium or, with `a=bundle-only`, leaves it to its bundle.
  public var port: UInt16
  /// How many ports follow each other; 1 unless written.
  public var portCount: UInt16
  /// The transport, such as `UDP/TLS/RTP/SAVPF`.
  public var transport: String
  /// The formats as written; for RTP these are payload types.
  public var formats: [String]
  /// Where this medium goes.
  public var connection: SDPConnection?
  /// All other lines but attributes, in the order of RFC 8866 section 5, with unknown ones at the end.
  public var otherLines: [SDPLine]
  /// The attributes of the medium.
  public var attributes: [SDPAttribute]

  /// Creates a medium.
  public init(
    kind: String, port: UInt16, portCount: UInt16 = 1, transport: String, formats: [String],
    connection: SDPConnection? = nil, otherLines: [SDPLine] = [], attributes: [SDPAttribute] = []
  ) {
    self.kind = kind
    self.port = port
    self.portCount = portCount
    self.transport = transport
    self.formats = formats
    self.connection = connection
    self.otherLines = otherLines
    self.attributes = attributes
  }

  /// Whether the medium is rejected: port 0 without `a=bundle-only` (RFC 3264 section 6, RFC 9143 section 6).
  public var isRejected: Bool {
    self.port == 0 && !self.attributes.contains(.other(name: "bundle-only", value: nil))
  }

  /// The formats that are payload types of RTP, in order of preference.
  public var payloadTypes: [UInt8] { self.formats.compactMap { UInt8($0) }.filter { $0 < 128 } }
}

/// The line `o=` (RFC 8866 section 5.2).
public struct SDPOrigin: Hashable, Sendable {
  /// The user, or `-`.
  public var user: String
  /// The number of the session.
  public var sessionID: UInt64
  /// The version, larger by one with each change (RFC 3264 section 8).
  public var version: UInt64
  /// The address of who made it; WebRTC writes one that says nothing.
  public var address: SDPConnection

  /// Creates an origin.
  public init(
    user: String = "-", sessionID: UInt64, version: UInt64, address: SDPConnection = .loopback
  ) {
    self.user = user
    self.sessionID = sessionID
    self.version = version
    self.address = address
  }
}

/// A network address as in the line `c=` (RFC 8866 section 5.7).
public struct SDPConnection: Hashable, Sendable {
  /// The type of network; `IN`.
  public var network: String
  /// `IP4` or `IP6`.
  public var family: String
  /// The address as written, with a multicast's TTL and count if it has them.
  public var address: String

  /// Creates an address.
  public init(network: String = "IN", family: String, address: String) {
    self.network = network
    self.family = family
    self.address = address
  }

  /// What WebRTC writes where ICE knows better (RFC 8829 section 5.2.1).
  public static let unspecified = SDPConnection(family: "IP4", address: "0.0.0.0")
  /// What WebRTC writes as origin (RFC 8829 section 5.2.1).
  public static let loopback = SDPConnection(family: "IP4", address: "127.0.0.1")
}

/// A line `t=` with its lines `r=` (RFC 8866 sections 5.9 and 5.10).
public struct SDPTime: Hashable, Sendable {
  /// The start in seconds of NTP; 0 is unbounded.
  public var start: UInt64
  /// The end in seconds of NTP; 0 is unbounded.
  public var stop: UInt64
  /// The values of the lines `r=`, as written.
  public var repeats: [String]

  /// Creates a time; by default one without bounds.
  public init(start: UInt64 = 0, stop: UInt64 = 0, repeats: [String] = []) {
    self.start = start
    self.stop = stop
    self.repeats = repeats
  }
}

/// A line that is kept as it is.
public struct SDPLine: Hashable, Sendable {
  /// The letter before the equals sign, in ASCII.
  public var letter: UInt8
  /// What follows it.
  public var value: String

  /// Creates a line.
  public init(_ letter: Character, _ value: String) {
    self.letter = letter.asciiValue ?? UInt8(ascii: "x")
    self.value = value
  }

  init(letter: UInt8, value: String) {
    self.letter = letter
    self.value = value
  }
}
