/// A place where a peer may be reached (RFC 8839 section 5.1, RFC 8445 section 5.1).
public struct ICECandidate: Hashable, Sendable {
  /// How a candidate was found.
  public enum Kind: String, Hashable, Sendable, CaseIterable {
    /// An address of the machine.
    case host
    /// What a STUN server sees.
    case serverReflexive = "srflx"
    /// What a peer sees.
    case peerReflexive = "prflx"
    /// An address of a TURN server.
    case relayed = "relay"
  }

  /// An address, or a name that hides it (mDNS) or that is to be resolved.
  public enum Address: Hashable, Sendable, CustomStringConvertible {
    case ip(IPAddress)
    case name(String)

    public var description: String {
      switch self {
      case .ip(let address): address.description
      case .name(let name): name
      }
    }

    /// Whether it is a name of multicast DNS, behind which browsers hide addresses.
    public var isMulticastName: Bool {
      if case .name(let name) = self { name.lowercased().hasSuffix(".local") } else { false }
    }
  }

  /// An extension: a name and a value, as written.
  public struct Extension: Hashable, Sendable {
    /// The name.
    public var name: String
    /// The value.
    public var value: String

    /// Creates an extension.
    public init(_ name: String, _ value: String) {
      self.name = name
      self.value = value
    }
  }

  /// Candidates of one foundation share type, base, server and transport; 1 to 32 characters.
  public var foundation: String
  /// 1 for RTP, 2 for RTCP; up to 256.
  public var component: Int
  /// `udp` or `tcp`, in lower case, or another one.
  public var transport: String
  /// The larger, the better; from 1 to 2³¹ − 1.
  public var priority: UInt32
  /// Where it is.
  public var address: Address
  /// The port.
  public var port: UInt16
  /// How it was found.
  public var kind: Kind
  /// The address that it was derived from.
  public var relatedAddress: Address?
  /// The port that it was derived from.
  public var relatedPort: UInt16?
  /// Extensions such as `generation` and `tcptype`, in their order.
  public var extensions: [Extension]

  /// Creates a candidate.
  public init(
    foundation: String, component: Int = 1, transport: String = "udp", priority: UInt32, address: Address,
    port: UInt16, kind: Kind, relatedAddress: Address? = nil, relatedPort: UInt16? = nil,
    extensions: [Extension] = []
  ) {
    self.foundation = foundation
    self.component = component
    self.transport = transport
    self.priority = priority
    self.address = address
    self.port = port
    self.kind = kind
    self.relatedAddress = relatedAddress
    self.relatedPort = relatedPort
    self.extensions = extensions
  }

  /// The value of an extension.
  public func value(of name: String) -> String? { self.extensions.first { $0.name == name }?.value }

  /// The recommended priority (RFC 8445 section 5.1.2.1).
  ///
  /// - Parameters:
  ///   - kind: How it was found.
  ///   - localPreference: From 0 to 65535; the larger, the better.
  ///   - component: 1 for RTP.
  public static func priority(_ kind: Kind, localPreference: UInt16 = 65535, component: Int = 1) -> UInt32 {
    let type: UInt32
    switch kind {
    case .host: type = 126
    case .peerReflexive: type = 110
    case .serverReflexive: type = 100
    case .relayed: type = 0
    }
    return type << 24 | UInt32(localPreference) << 8 | UInt32(256 - max(1, min(256, component)))
  }

  /// The value of the attribute: what follows `a=`, as it is trickled as well (RFC 8840 section 4.1).
  public var text: String {
    var text = "candidate:\(self.foundation) \(self.component) \(self.transport) \(self.priority) "
    text += "\(self.address) \(self.port) typ \(self.kind.rawValue)"
    if let address = self.relatedAddress { text += " raddr \(address)" }
    if let port = self.relatedPort { text += " rport \(port)" }
    for item in self.extensions { text += " \(item.name) \(item.value)" }
    return text
  }

  /// Reads a candidate that was trickled: `candidate:…`, with or without `a=` before it.
  ///
  /// - Throws: ``SDPError`` with line 1.
  public init(parsing text: String) throws(SDPError) {
    var reader = SDPLineReader(Array(text.utf8)[...], line: 1, column: 1)
    try reader.validateText(limit: 1024)
    reader.skip("a=")
    guard reader.skip("candidate:") else {
      throw reader.error(.malformed, "candidate", write: "candidate:, then the candidate")
    }
    self = try reader.candidate()
  }
}

extension SDPLineReader {
  mutating func candidate() throws(SDPError) -> ICECandidate {
    let foundation = try self.word("foundation", write: "1 to 32 letters, digits, + or /") {
      $0.count <= 32 && $0.allSatisfy(\.isICECharacter)
    }
    let component = try self.number("component", 1...256)
    let transport = try self.word("transport", write: "udp or tcp") { $0.allSatisfy(\.isTokenCharacter) }
    let priority = try self.number("priority", 1...0x7fff_ffff)
    let address = try self.address("address")
    let port = try self.number("port", 0...65535)
    try self.keyword("typ")
    let start = self.column
    let type = try self.word("type", write: "host, srflx, prflx or relay") {
      $0.allSatisfy(\.isTokenCharacter)
    }
    guard let kind = ICECandidate.Kind(rawValue: type) else {
      throw self.error(.malformed, "type", write: "host, srflx, prflx or relay", column: start)
    }
    var candidate = ICECandidate(
      foundation: foundation, component: Int(component), transport: transport.lowercased(),
      priority: UInt32(priority), address: address, port: UInt16(port), kind: kind)
    while !self.isAtEnd {
      let start = self.column
      let name = try self.word("extension", write: "a name and a value")
      switch name {
      case "raddr" where candidate.relatedAddress == nil && candidate.extensions.isEmpty:
        candidate.relatedAddress = try self.address("related address")
      case "rport" where candidate.relatedPort == nil && candidate.extensions.isEmpty:
        candidate.relatedPort = UInt16(try self.number("related port", 0...65535))
      case "raddr", "rport":
        throw self.error(.duplicate, name, write: "it once, before the extensions", column: start)
      default:
        candidate.extensions.append(.init(name, try self.word("value of an extension", write: "a value")))
      }
    }
    return candidate
  }

  private mutating func address(_ what: String) throws(SDPError) -> ICECandidate.Address {
    let start = self.column
    let text = try self.word(what, write: "an IP address or a host name") { $0.count <= 255 }
    if let address = IPAddress(text) { return .ip(address) }
    // What consists of digits and dots, or has a colon, is meant to be an IP address.
    let isName = text.utf8.allSatisfy {
      $0.isAlphanumeric || $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: ".")
    }
    guard isName, text.utf8.contains(where: \.isLetter) else {
      throw self.error(.malformed, what, write: "an IP address or a host name", column: start)
    }
    return .name(text)
  }
}
