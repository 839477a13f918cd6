import Calls

/// Puts the codecs of a description into the order that is wanted.
///
/// The framework's own way has another signature in each of its versions; the order of the payload types means the same
/// (RFC 3264 section 5.1).
enum CodecOrder {
  /// - Returns: The description with the wanted codecs first in the section of audio; a preference is no exclusion, and codecs
  ///   that the description does not have are left out.
  static func applied(_ wanted: [TxCodecCapability], to description: String) -> String {
    guard !wanted.isEmpty else { return description }
    var lines = description.split(separator: "\r\n", omittingEmptySubsequences: false)
    guard let start = lines.firstIndex(where: { $0.hasPrefix("m=audio ") }) else { return description }
    let rest = lines[lines.index(after: start)...]
    let section = rest[..<(rest.firstIndex { $0.hasPrefix("m=") } ?? rest.endIndex)]
    var types: [Substring: Substring] = [:]
    for line in section where line.hasPrefix("a=rtpmap:") {
      let parts = line.dropFirst("a=rtpmap:".count).split(separator: " ", maxSplits: 1)
      if let type = parts.first, let codec = parts.last, parts.count == 2 { types[type] = codec }
    }
    let words = lines[start].split(separator: " ")
    guard words.count > 3 else { return description }
    var left = Array(words[3...])
    var ordered: [Substring] = []
    for codec in wanted {
      let name = codec.mimeType.lowercased()
      let index = left.firstIndex { type in
        let parts = types[type]?.split(separator: "/") ?? []
        guard parts.count > 1, name == "audio/\(parts[0].lowercased())" else { return false }
        return parts[1] == "\(codec.clockRate)"
      }
      if let index { ordered.append(left.remove(at: index)) }
    }
    lines[start] = Substring((words[..<3] + ordered + left).joined(separator: " "))
    return lines.joined(separator: "\r\n")
  }
}
