extension SDPLineReader {
  /// The attribute after `a=`.
  mutating func attribute() throws(SDPError) -> SDPAttribute {
    let start = self.column
    let hasValue = self.contains(UInt8(ascii: ":"))
    let name: String
    if hasValue {
      // The name ends at the first colon; the value may be empty for attributes that are not known.
      name = try self.attributeName()
    } else {
      name = try self.text("attribute", write: "a name")
      guard name.utf8.allSatisfy(\.isTokenCharacter) else {
        throw self.error(.malformed, "attribute", write: "letters, digits and hyphens", column: start)
      }
    }
    guard let attribute = try self.known(name, hasValue: hasValue, column: start) else {
      return .other(name: name, value: hasValue ? self.rest() : nil)
    }
    try self.finish(name)
    return attribute
  }

  private mutating func attributeName() throws(SDPError) -> String {
    let start = self.column
    var name: [UInt8] = []
    let text = Array(self.remaining)
    for byte in text {
      if byte == UInt8(ascii: ":") { break }
      name.append(byte)
    }
    guard !name.isEmpty, name.allSatisfy(\.isTokenCharacter) else {
      throw self.error(.malformed, "attribute", write: "letters, digits and hyphens", column: start)
    }
    let result = String(decoding: name, as: UTF8.self)
    self.skip(result + ":")
    return result
  }

  private mutating func known(
    _ name: String, hasValue: Bool, column: Int
  ) throws(SDPError) -> SDPAttribute? {
    if let flag = Self.flag(name) {
      guard !hasValue else { throw self.error(.malformed, name, write: "a=\(name) without a value") }
      return flag
    }
    guard Self.withValue.contains(name) else { return nil }
    guard hasValue, !self.isAtEnd else {
      throw self.error(.malformed, name, write: "a=\(name): and a value", column: column)
    }
    switch name {
    case "rtpmap": return .rtpmap(try self.rtpmap())
    case "fmtp":
      let format = try self.word("format", write: "a format of the medium")
      return .fmtp(FormatParameters(format, try self.text("parameters", write: "parameters of the format")))
    case "extmap": return .extmap(try self.extmap())
    case "mid": return .mid(try self.token("mid"))
    case "group":
      let semantics = try self.token("semantics of a group")
      return .group(
        semantics: semantics,
        mids: try self.words("mid", write: "a mid") { $0.allSatisfy(\.isTokenCharacter) })
    case "ice-ufrag": return .iceUserFragment(try self.iceText("ice-ufrag", 4...256))
    case "ice-pwd": return .icePassword(try self.iceText("ice-pwd", 22...256))
    case "ice-options":
      return .iceOptions(
        try self.words("option", write: "options such as trickle") { $0.allSatisfy(\.isTokenCharacter) })
    case "candidate": return .candidate(try self.candidate())
    case "fingerprint": return .fingerprint(try self.fingerprint())
    case "setup":
      let start = self.column
      guard let setup = DTLSSetup(rawValue: try self.token("setup")) else {
        throw self.error(.malformed, "setup", write: "active, passive, actpass or holdconn", column: start)
      }
      return .setup(setup)
    case "ptime": return .ptime(Int(try self.number("ptime", 1...1000)))
    case "maxptime": return .maxptime(Int(try self.number("maxptime", 1...1000)))
    case "ssrc": return try self.ssrc()
    case "msid":
      let stream = try self.token("stream")
      return .msid(stream: stream, track: self.isAtEnd ? nil : try self.token("track"))
    default: return nil
    }
  }

  private static let withValue: Set<String> = [
    "rtpmap", "fmtp", "extmap", "mid", "group", "ice-ufrag", "ice-pwd", "ice-options", "candidate",
    "fingerprint",
    "setup", "ptime", "maxptime", "ssrc", "msid",
  ]

  private static func flag(_ name: String) -> SDPAttribute? {
    switch name {
    case "rtcp-mux": .rtcpMux
    case "rtcp-rsize": .rtcpReducedSize
    case "ice-lite": .iceLite
    case "end-of-candidates": .endOfCandidates
    default: MediaDirection(rawValue: name).map { .direction($0) }
    }
  }

  private mutating func token(_ what: String) throws(SDPError) -> String {
    try self.word(what, write: "letters, digits and hyphens") { $0.allSatisfy(\.isTokenCharacter) }
  }

  private mutating func iceText(_ what: String, _ length: ClosedRange<Int>) throws(SDPError) -> String {
    let start = self.column
    let suggestion = "\(length.lowerBound) to \(length.upperBound) letters, digits, + or /"
    let text = try self.word(what, write: suggestion) { $0.allSatisfy(\.isICECharacter) }
    guard length.contains(text.utf8.count) else {
      throw self.error(.outOfRange, what, write: suggestion, column: start)
    }
    return text
  }

  private mutating func rtpmap() throws(SDPError) -> RTPMap {
    let payloadType = UInt8(try self.number("payload type", 0...127))
    let slash = UInt8(ascii: "/")
    guard self.contains(slash) else {
      throw self.error(.malformed, "encoding", write: "name/clock rate, such as opus/48000/2")
    }
    let encoding = try self.word("encoding", write: "the name of a codec", upTo: slash) {
      $0.allSatisfy(\.isTokenCharacter)
    }
    let rate = Int(try self.number("clock rate", 1...1_000_000, upTo: slash))
    let channels = self.isAtEnd ? nil : Int(try self.number("channels", 1...255))
    return RTPMap(payloadType, encoding, clockRate: rate, channels: channels)
  }

  private mutating func extmap() throws(SDPError) -> ExtensionMapping {
    let start = self.column
    let head = try self.word("identifier", write: "a number, with a direction after a slash if needed")
    var reader = SDPLineReader(Array(head.utf8)[...], line: self.line, column: start)
    let id = Int(try reader.number("identifier", 1...4351, upTo: UInt8(ascii: "/")))
    guard (1...255).contains(id) || id >= 4096 else {
      throw self.error(
        .outOfRange, "identifier", write: "1 to 255, or 4096 to 4351 in an offer", column: start)
    }
    var direction: MediaDirection?
    if !reader.isAtEnd {
      let column = reader.column
      direction = MediaDirection(rawValue: reader.rest())
      guard direction != nil else {
        throw self.error(
          .malformed, "direction", write: "sendrecv, sendonly, recvonly or inactive", column: column)
      }
    }
    let uri = try self.word("URI", write: "the URI of the extension")
    return ExtensionMapping(
      id: id, direction: direction, uri: uri, parameters: self.isAtEnd ? nil : self.rest())
  }

  private mutating func ssrc() throws(SDPError) -> SDPAttribute {
    let ssrc = UInt32(try self.number("source", 0...0xffff_ffff))
    if self.contains(UInt8(ascii: ":")) {
      let name = try self.attributeName()
      return .ssrc(ssrc, name: name, value: try self.text("value", write: "the value of the attribute"))
    }
    return .ssrc(ssrc, name: try self.token("attribute of a source"), value: nil)
  }

  /// RFC 8122 section 5: a hash function and as many bytes as it makes.
  private mutating func fingerprint() throws(SDPError) -> CertificateFingerprint {
    let function = try self.token("hash function").lowercased()
    let start = self.column
    let text = try self.word("fingerprint", write: "pairs of hexadecimal digits with colons between them")
    var bytes: [UInt8] = []
    for part in text.utf8.split(separator: UInt8(ascii: ":"), omittingEmptySubsequences: false) {
      guard part.count == 2, part.allSatisfy(\.isHexDigit), let byte = UInt8(Substring(part), radix: 16)
      else {
        throw self.error(
          .malformed, "fingerprint", write: "pairs of hexadecimal digits with colons between them",
          column: start)
      }
      bytes.append(byte)
    }
    let lengths = [
      "md2": 16, "md5": 16, "sha-1": 20, "sha-224": 28, "sha-256": 32, "sha-384": 48, "sha-512": 64,
    ]
    let length = lengths[function]
    guard length.map({ $0 == bytes.count }) ?? (bytes.count <= 128) else {
      throw self.error(
        .outOfRange, "fingerprint", write: "\(length ?? 128) bytes for this function", column: start)
    }
    return CertificateFingerprint(function: function, bytes: bytes)
  }
}
