/// Makes other descriptions of one, as other programs might write them.
enum Descriptions {
  /// Lines that mean something somewhere.
  private static let lines = [
    "a=inactive", "a=sendonly", "a=recvonly", "a=sendrecv", "a=setup:active", "a=setup:passive",
    "a=setup:actpass",
    "a=ice-ufrag:peer0", "a=ice-pwd:peer0-and-22-characters-more", "a=ice-lite", "a=end-of-candidates",
    "a=ice-options:trickle renomination", "a=ptime:60", "a=ptime:1", "a=maxptime:10", "a=rtcp-mux",
    "a=rtcp-rsize", "a=mid:1", "a=group:BUNDLE 0 1", "a=bundle-only", "a=rtpmap:0 PCMU/8000",
    "a=rtpmap:8 PCMA/8000",
    "a=rtpmap:111 PCMU/8000", "a=fmtp:111 useinbandfec=1;usedtx=1;maxaveragebitrate=1",
    "a=rtpmap:0 opus/48000/2", "a=rtpmap:101 telephone-event/8000", "a=rtpmap:127 telephone-event/16000",
    "a=candidate:1 1 udp 1 10.0.0.9 4000 typ host", "a=candidate:2 1 udp 4294967295 name.local 9 typ srflx",
    "m=audio 9 UDP/TLS/RTP/SAVPF 0 8", "m=audio 0 UDP/TLS/RTP/SAVPF 111", "m=video 9 UDP/TLS/RTP/SAVPF 96",
    "m=application 9 UDP/DTLS/SCTP webrtc-datachannel", "c=IN IP6 ::", "o=- 1 1 IN IP4 0.0.0.0",
    "a=fingerprint:sha-256 " + Array(repeating: "AB", count: 32).joined(separator: ":"),
  ]

  /// Changes up to four lines; places count from the end, where the media are.
  static func changed(_ text: String, _ script: inout Script) -> String {
    var lines = text.split(separator: "\r\n", omittingEmptySubsequences: true).map(String.init)
    for _ in 0..<script.choice(5) {
      guard !lines.isEmpty else { break }
      let place = lines.count - 1 - Int(script.byte()) % lines.count
      let line = Self.lines[Int(script.byte()) % Self.lines.count]
      switch script.choice(7) {
      case 0: lines.remove(at: place)
      case 1: lines.insert(lines[place], at: place)
      case 2: lines.insert(line, at: place)
      case 3: lines[place] = line
      case 4: lines.swapAt(place, Int(script.byte()) % lines.count)
      case 5:
        var bytes = Array(lines[place].utf8)
        guard !bytes.isEmpty else { break }
        bytes[Int(script.byte()) % bytes.count] = script.byte()
        lines[place] = String(decoding: bytes, as: UTF8.self)
      default: lines.append(String(decoding: script.bytes(), as: UTF8.self))
      }
    }
    return lines.map { $0 + "\r\n" }.joined()
  }
}
