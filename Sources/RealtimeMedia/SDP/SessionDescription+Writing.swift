extension SessionDescription {
  /// The description as text, each line ended with CR LF (RFC 8866 section 5).
  ///
  /// Line breaks and other control characters in values, which would change what other lines say, are left out.
  public var text: String {
    var lines = ["v=0", "o=\(self.origin.text)", "s=\(self.name.isEmpty ? "-" : self.name)"]
    lines += self.otherLines.texts("iuep")
    if let connection = self.connection { lines.append("c=\(connection.text)") }
    lines += self.otherLines.texts("b")
    for time in self.times.isEmpty ? [SDPTime()] : self.times {
      lines.append("t=\(time.start) \(time.stop)")
      lines += time.repeats.map { "r=\($0)" }
    }
    lines += self.otherLines.texts("zk")
    lines += self.otherLines.unknownTexts
    lines += self.attributes.map { "a=\($0.text)" }
    for medium in self.media {
      let ports = medium.portCount == 1 ? "\(medium.port)" : "\(medium.port)/\(medium.portCount)"
      lines.append("m=\(medium.kind) \(ports) \(medium.transport) \(medium.formats.joined(separator: " "))")
      lines += medium.otherLines.texts("i")
      if let connection = medium.connection { lines.append("c=\(connection.text)") }
      lines += medium.otherLines.texts("cbk")
      lines += medium.otherLines.unknownTexts
      lines += medium.attributes.map { "a=\($0.text)" }
    }
    var text = ""
    for line in lines {
      text.unicodeScalars.append(
        contentsOf: line.unicodeScalars.lazy.filter { $0.value >= 0x20 && $0.value != 0x7f || $0 == "\t" })
      text += "\r\n"
    }
    return text
  }
}

extension [SDPLine] {
  fileprivate func texts(_ letters: String) -> [String] {
    letters.utf8.flatMap { letter in
      self.filter { $0.letter == letter }.map { "\(UnicodeScalar(letter))=\($0.value)" }
    }
  }

  fileprivate var unknownTexts: [String] {
    self.filter { !"vosiuepcbtrzkam".utf8.contains($0.letter) }
      .map { "\(UnicodeScalar($0.letter))=\($0.value)" }
  }
}

extension SDPConnection {
  fileprivate var text: String { "\(self.network) \(self.family) \(self.address)" }
}

extension SDPOrigin {
  fileprivate var text: String { "\(self.user) \(self.sessionID) \(self.version) \(self.address.text)" }
}

extension CertificateFingerprint {
  /// The value of the attribute.
  public var text: String {
    let digits = self.bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16, uppercase: true) }
    return "\(self.function) \(digits.joined(separator: ":"))"
  }
}

extension SDPAttribute {
  /// What follows `a=`.
  public var text: String {
    switch self {
    case .rtpmap(let map):
      "rtpmap:\(map.payloadType) \(map.encoding)/\(map.clockRate)" + (map.channels.map { "/\($0)" } ?? "")
    case .fmtp(let parameters): "fmtp:\(parameters.format) \(parameters.text)"
    case .extmap(let mapping):
      "extmap:\(mapping.id)" + (mapping.direction.map { "/\($0.rawValue)" } ?? "") + " \(mapping.uri)"
        + (mapping.parameters.map { " \($0)" } ?? "")
    case .mid(let mid): "mid:\(mid)"
    case .group(let semantics, let mids): "group:" + ([semantics] + mids).joined(separator: " ")
    case .rtcpMux, .rtcpReducedSize, .iceLite, .endOfCandidates, .direction: self.name
    case .iceUserFragment(let text), .icePassword(let text): "\(self.name):\(text)"
    case .iceOptions(let options): "ice-options:" + options.joined(separator: " ")
    case .candidate(let candidate): candidate.text
    case .fingerprint(let fingerprint): "fingerprint:\(fingerprint.text)"
    case .setup(let setup): "setup:\(setup.rawValue)"
    case .ptime(let time), .maxptime(let time): "\(self.name):\(time)"
    case .ssrc(let ssrc, let name, let value): "ssrc:\(ssrc) \(name)" + (value.map { ":\($0)" } ?? "")
    case .msid(let stream, let track): "msid:\(stream)" + (track.map { " \($0)" } ?? "")
    case .other(let name, let value): name + (value.map { ":\($0)" } ?? "")
    }
  }
}
