extension SessionDescription {
  /// Reads a description (RFC 8866 section 9).
  ///
  /// Lines end with CR LF or LF; the last one may end with the text.
  ///
  /// - Throws: ``SDPError`` for the first mistake.
  public init(parsing text: String, limits: SDPLimits = SDPLimits()) throws(SDPError) {
    try self.init(parsing: Array(text.utf8), limits: limits)
  }

  /// Reads a description from bytes, of which nothing is expected.
  ///
  /// - Throws: ``SDPError`` for the first mistake.
  public init(parsing bytes: [UInt8], limits: SDPLimits = SDPLimits()) throws(SDPError) {
    self = try SDPReader.read(bytes, limits: limits)
  }
}

/// Reads the lines of a description in their order.
private struct SDPReader {
  private struct Line {
    let number: Int
    let letter: UInt8
    let value: ArraySlice<UInt8>
  }

  private let lines: [Line]
  private var index = 0

  static func read(_ bytes: [UInt8], limits: SDPLimits) throws(SDPError) -> SessionDescription {
    guard bytes.count <= limits.bytes else {
      throw SDPError(.tooLarge, line: 1, column: 1, "description", write: "at most \(limits.bytes) bytes")
    }
    guard String(validating: bytes, as: UTF8.self) != nil else {
      throw SDPError(.notUTF8, line: 1, column: 1, "description", write: "UTF-8")
    }
    var reader = SDPReader(lines: try Self.split(bytes, limits: limits))
    return try reader.session(limits: limits)
  }

  private static func split(_ bytes: [UInt8], limits: SDPLimits) throws(SDPError) -> [Line] {
    var texts = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
    if texts.last?.isEmpty == true { texts.removeLast() }
    guard texts.count <= limits.lines else {
      throw SDPError(
        .tooLarge, line: limits.lines + 1, column: 1, "description", write: "at most \(limits.lines) lines")
    }
    var lines: [Line] = []
    for (index, raw) in texts.enumerated() {
      let text = raw.last == UInt8(ascii: "\r") ? raw.dropLast() : raw
      if let place = text.firstIndex(where: { $0 < 0x20 && $0 != UInt8(ascii: "\t") || $0 == 0x7f }) {
        throw SDPError(
          .controlCharacter, line: index + 1, column: place - text.startIndex + 1, "control character",
          write: "text, and CR LF at the end of each line")
      }
      guard text.count >= 2, let letter = text.first, letter.isLetter,
        text[text.startIndex + 1] == UInt8(ascii: "=")
      else {
        throw SDPError(.notALine, line: index + 1, column: 1, "line", write: "a letter, = and a value")
      }
      lines.append(Line(number: index + 1, letter: letter, value: text.dropFirst(2)))
    }
    return lines
  }

  private var next: Line? { self.index < self.lines.count ? self.lines[self.index] : nil }

  /// Takes the next line if it has this letter.
  private mutating func take(_ letter: UnicodeScalar) -> SDPLineReader? {
    guard let line = self.next, line.letter == UInt8(ascii: letter) else { return nil }
    self.index += 1
    return SDPLineReader(line.value, line: line.number, column: 3)
  }

  private mutating func require(_ letter: UnicodeScalar, _ what: String) throws(SDPError) -> SDPLineReader {
    if let reader = self.take(letter) { return reader }
    let line = self.next?.number ?? self.lines.count + 1
    throw SDPError(.missing, line: line, column: 1, what, write: "a line \(letter)= here")
  }

  private mutating func session(limits: SDPLimits) throws(SDPError) -> SessionDescription {
    var version = try self.require("v", "version")
    _ = try version.number("version", 0...0)
    try version.finish("version")
    var originLine = try self.require("o", "origin")
    let origin = try Self.origin(&originLine)
    var name = try self.require("s", "name")
    var description = SessionDescription(
      origin: origin, name: try name.text("name of the session", write: "- if there is none"), times: [])
    self.takeOther("iuep", into: &description.otherLines)
    description.connection = try self.connection()
    self.takeOther("b", into: &description.otherLines)
    repeat {
      var time = try self.require("t", "time")
      var value = SDPTime(
        start: try time.number("start", 0...UInt64.max), stop: try time.number("stop", 0...UInt64.max))
      try time.finish("time")
      while var line = self.take("r") {
        value.repeats.append(try line.text("repeat", write: "an interval, a duration and offsets"))
      }
      description.times.append(value)
    } while self.next?.letter == UInt8(ascii: "t")
    self.takeOther("zk", into: &description.otherLines)
    var bundles: [(mids: [String], line: Int)] = []
    description.attributes = try self.section(
      into: &description.otherLines,
      onGroup: { mids, line in bundles.append((mids, line)) })
    var mids: Set<String> = []
    while self.next != nil {
      let line = self.next?.number ?? 0
      guard description.media.count < limits.media else {
        throw SDPError(
          .tooLarge, line: line, column: 1, "description", write: "at most \(limits.media) media")
      }
      let medium = try self.medium(
        hasSessionConnection: description.connection != nil, formatLimit: limits.formats)
      if let mid = medium.mid, !mids.insert(mid).inserted {
        throw SDPError(.duplicate, line: line, column: 1, "mid", write: "a mid that no other medium has")
      }
      description.media.append(medium)
    }
    for bundle in bundles where !mids.isSuperset(of: bundle.mids) {
      throw SDPError(
        .unknownReference, line: bundle.line, column: 3, "BUNDLE", write: "mids of media that are there")
    }
    return description
  }

  private mutating func medium(
    hasSessionConnection: Bool, formatLimit limit: Int
  ) throws(SDPError) -> MediaDescription {
    guard var line = self.take("m") else {
      throw SDPError(
        .outOfOrder, line: self.next?.number ?? 1, column: 1, "line",
        write: "lines in the order of RFC 8866 section 5")
    }
    let number = line.line
    let kind = try line.word("medium", write: "audio") { $0.allSatisfy(\.isTokenCharacter) }
    let start = line.column
    let ports = try line.word("port", write: "a number from 0 to 65535")
    var portReader = SDPLineReader(Array(ports.utf8)[...], line: number, column: start)
    let port = UInt16(try portReader.number("port", 0...65535, upTo: UInt8(ascii: "/")))
    let count = portReader.isAtEnd ? 1 : UInt16(try portReader.number("number of ports", 1...65535))
    let transport = try line.word("transport", write: "UDP/TLS/RTP/SAVPF") {
      $0.allSatisfy { $0.isTokenCharacter || $0 == UInt8(ascii: "/") }
    }
    let isRTP = transport.hasPrefix("RTP/") || transport.contains("/RTP/")
    var formats: [String] = []
    var known: Set<String> = []
    repeat {
      let column = line.column
      guard formats.count < limit else {
        throw line.error(
          .tooLarge, "number of formats", write: "at most \(limit) formats", column: column)
      }
      let format = try line.word("format", write: "at least one format") { $0.allSatisfy(\.isTokenCharacter) }
      if isRTP {
        guard let type = UInt8(format), type < 128, format == String(type) else {
          throw line.error(.outOfRange, "payload type", write: "a number from 0 to 127", column: column)
        }
      }
      guard known.insert(format).inserted else {
        throw line.error(.duplicate, "format", write: "each format once", column: column)
      }
      formats.append(format)
    } while !line.isAtEnd
    var medium = MediaDescription(
      kind: kind, port: port, portCount: count, transport: transport, formats: formats)
    self.takeOther("i", into: &medium.otherLines)
    medium.connection = try self.connection()
    // RFC 8866 section 5.7 allows several addresses for one medium, for multicast; they are kept.
    self.takeOther("cbk", into: &medium.otherLines)
    medium.attributes = try self.section(into: &medium.otherLines, onGroup: { _, _ in })
    guard medium.connection != nil || hasSessionConnection || port == 0 else {
      throw SDPError(
        .missing, line: number, column: 1, "connection",
        write: "c=IN IP4 0.0.0.0 in the session or the medium")
    }
    return medium
  }

  /// Attributes up to the next medium or a line that cannot stand here; unknown lines are kept.
  private mutating func section(
    into others: inout [SDPLine], onGroup: ([String], Int) -> Void
  ) throws(SDPError) -> [SDPAttribute] {
    var attributes: [SDPAttribute] = []
    var known: Set<String> = []
    while let line = self.next {
      if line.letter == UInt8(ascii: "a") {
        self.index += 1
        var reader = SDPLineReader(line.value, line: line.number, column: 3)
        let attribute = try reader.attribute()
        if let key = attribute.uniqueKey, !known.insert(key).inserted {
          throw SDPError(
            .duplicate, line: line.number, column: 3, attribute.name, write: "it once in a session or medium")
        }
        if case .group("BUNDLE", let mids) = attribute { onGroup(mids, line.number) }
        attributes.append(attribute)
      } else if !"vosiuepcbtrzkam".utf8.contains(line.letter) {
        self.index += 1
        others.append(SDPLine(letter: line.letter, value: String(decoding: line.value, as: UTF8.self)))
      } else if line.letter == UInt8(ascii: "m") {
        break
      } else {
        throw SDPError(
          .outOfOrder, line: line.number, column: 1, "line", write: "lines in the order of RFC 8866 section 5"
        )
      }
    }
    return attributes
  }

  /// Takes lines with these letters, in the order of the letters.
  private mutating func takeOther(_ letters: String, into lines: inout [SDPLine]) {
    for letter in letters.unicodeScalars {
      while var line = self.take(letter) {
        lines.append(SDPLine(letter: UInt8(ascii: letter), value: line.rest()))
      }
    }
  }

  private mutating func connection() throws(SDPError) -> SDPConnection? {
    guard var line = self.take("c") else { return nil }
    let connection = try Self.address(&line)
    try line.finish("address")
    return connection
  }

  private static func origin(_ line: inout SDPLineReader) throws(SDPError) -> SDPOrigin {
    let user = try line.word("user", write: "- if there is none")
    let id = try line.number("session", 0...UInt64.max)
    let version = try line.number("version", 0...UInt64.max)
    let origin = SDPOrigin(user: user, sessionID: id, version: version, address: try Self.address(&line))
    try line.finish("origin")
    return origin
  }

  private static func address(_ line: inout SDPLineReader) throws(SDPError) -> SDPConnection {
    let network = try line.word("type of network", write: "IN") { $0.allSatisfy(\.isTokenCharacter) }
    let family = try line.word("type of address", write: "IP4 or IP6") { $0.allSatisfy(\.isTokenCharacter) }
    let start = line.column
    let address = try line.word("address", write: "an address") { $0.count <= 255 }
    if network == "IN" {
      let first = address.split(separator: "/").first.map(String.init) ?? ""
      let ip = IPAddress(first)
      // A name is allowed, but not the address of another family.
      let fits = ip.map { $0.isV6 == (family == "IP6") } ?? first.utf8.contains(where: \.isLetter)
      guard family == "IP4" || family == "IP6", fits else {
        throw line.error(
          .malformed, "address", write: "IP4 or IP6 with an address of that kind", column: start)
      }
    }
    return SDPConnection(network: network, family: family, address: address)
  }
}

extension SDPAttribute {
  /// What may stand only once in a session or medium, because readers would disagree on which one counts.
  fileprivate var uniqueKey: String? {
    switch self {
    case .mid, .iceUserFragment, .icePassword, .iceOptions, .setup, .ptime, .maxptime: self.name
    case .direction: "direction"
    case .rtpmap(let map): "rtpmap \(map.payloadType)"
    case .fmtp(let parameters): "fmtp \(parameters.format)"
    case .extmap(let mapping): "extmap \(mapping.id)"
    case .group, .rtcpMux, .rtcpReducedSize, .iceLite, .candidate, .endOfCandidates, .fingerprint, .ssrc,
      .msid,
      .other:
      nil
    }
  }
}
