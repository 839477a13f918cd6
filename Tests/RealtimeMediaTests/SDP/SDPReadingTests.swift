import RealtimeMedia
import Testing
import VoiceCore
import VoiceTesting

/// The text of a small description; a case replaces or adds lines.
func sdp(_ media: String = "m=audio 9 UDP/TLS/RTP/SAVPF 0\nc=IN IP4 0.0.0.0\n", session: String = "")
  -> String
{
  "v=0\no=- 1 2 IN IP4 127.0.0.1\ns=-\nt=0 0\n" + session + media
}

/// Cases of RFC 8866 and the RFCs of its attributes; bad input first.
@Suite struct SDPReadingTests {
  static func error(_ text: String, limits: SDPLimits = SDPLimits()) -> SDPError? {
    do {
      _ = try SessionDescription(parsing: text, limits: limits)
      return nil
    } catch {
      return error
    }
  }

  @Test(arguments: [
    ("", SDPError.Kind.missing, 1, 1), ("garbage", .notALine, 1, 1), ("v=0\n\n", .notALine, 2, 1),
    ("v=1\n", .outOfRange, 1, 3), ("v=0\ns=-\n", .missing, 2, 1), ("v=0 \n", .malformed, 1, 5),
    ("v=0\no=- 1 2 IN IP4\n", .malformed, 2, 15), ("v=0\no=- x 2 IN IP4 127.0.0.1\n", .malformed, 2, 5),
    ("v=0\no=- 99999999999999999999 2 IN IP4 127.0.0.1\n", .outOfRange, 2, 5),
    ("v=0\no=- 1 2 IN IP4 127.0.0.1\ns=\n", .malformed, 3, 3),
    ("v=0\no=- 1 2 IN IP4 127.0.0.1\ns=-\n", .missing, 4, 1),
    ("v=0\no=- 1 2 IN IP4 ::1\ns=-\n", .malformed, 2, 16),
    (sdp("m=audio\n"), .malformed, 5, 8), (sdp("m=audio 65536 RTP/AVP 0\n"), .outOfRange, 5, 9),
    (sdp("m=audio 9 RTP/AVP\n"), .malformed, 5, 18), (sdp("m=audio 9 RTP/AVP 128\n"), .outOfRange, 5, 19),
    (sdp("m=audio 9 RTP/AVP 00\n"), .outOfRange, 5, 19), (sdp("m=audio 9 RTP/AVP 0 0\n"), .duplicate, 5, 21),
    (sdp("m=audio 9 RTP/AVP 0\n"), .missing, 5, 1), (sdp("a=x\rb\n"), .controlCharacter, 5, 4),
    (sdp("t=0 0\n", session: "a=x\n"), .outOfOrder, 6, 1), (sdp("", session: "a=\n"), .malformed, 5, 3),
    (sdp("", session: "a=group:BUNDLE 0\n"), .unknownReference, 5, 3),
  ])
  func saysWhereTheFirstMistakeIs(text: String, kind: SDPError.Kind, line: Int, column: Int) {
    let error = Self.error(text)
    #expect(error?.kind == kind)
    #expect(error?.line == line)
    #expect(error?.column == column, "\(error.map(\.description) ?? "")")
    #expect(error?.suggestion.isEmpty == false)
    #expect(error?.failure.code.rawValue == "call.media.unacceptable")
  }

  @Test(arguments: [
    "rtpmap", "rtpmap:", "rtpmap:96", "rtpmap:96 opus", "rtpmap:128 opus/48000", "rtpmap:96 opus/0",
    "rtpmap:96 opus/48000/", "rtpmap:96 opus/48000/2/3", "rtpmap:96 opus/48000 2", "rtpmap: 96 opus/48000",
    "fmtp:96", "fmtp:96 ", "extmap:0 uri", "extmap:300 uri", "extmap:1/both uri", "extmap:1", "mid:",
    "mid:a b",
    "group:", "rtcp-mux:1", "sendrecv:", "ice-ufrag:abc", "ice-ufrag:ab-c",
    "ice-ufrag:" + String(repeating: "a", count: 3000), "ice-pwd:short",
    "ice-pwd:" + String(repeating: "ä", count: 22),
    "setup:actpassive", "setup:", "ptime:0", "ptime:-1", "ptime:20 ", "maxptime:99999999999999999999",
    "ssrc:1", "ssrc:4294967296 cname:x", "ssrc:1 cname:", "msid:", "msid:a ", "fingerprint:sha-256",
    "fingerprint:sha-256 AB", "fingerprint:sha-256 " + String(repeating: "AB:", count: 31) + "GG",
    "fingerprint:sha-1 " + String(repeating: "AB:", count: 31) + "AB", ":x", "ä:x", "ä",
    "candidate:1 1 udp 1 1.2.3.4 9 typ", "candidate:1 1 udp 1 1.2.3.4 9 typ x",
    "candidate:1 0 udp 1 1.2.3.4 9 typ host",
    "candidate:1 1 udp 0 1.2.3.4 9 typ host", "candidate:1 1 udp 2147483648 1.2.3.4 9 typ host",
    "candidate:1 1 udp 1 1.2.3.400 9 typ host", "candidate:1 1 udp 1 fe80::1%eth0 9 typ host",
    "candidate:1 1 udp 1 1.2.3.4 65536 typ host", "candidate:1 1 udp 1 1.2.3.4 9 typ host raddr",
    "candidate:1 1 udp 1 1.2.3.4 9 typ host x 1 rport 5", "candidate:1 1 udp 1 1.2.3.4 9 typ host x",
    "candidate:1 1 udp 1 1.2.3.4 9  typ host", "candidate:!!! 1 udp 1 1.2.3.4 9 typ host",
    "candidate:" + String(repeating: "1", count: 33) + " 1 udp 1 1.2.3.4 9 typ host",
  ])
  func refusesAttributesThatAreNotWrittenAsTheirRFCDemands(attribute: String) {
    let error = Self.error(sdp("", session: "a=\(attribute)\n"))
    #expect(error?.line == 5)
    #expect((error?.column ?? 0) >= 3)
  }

  @Test(arguments: [
    "mid:1", "ice-ufrag:abcd", "ice-pwd:aaaaaaaaaaaaaaaaaaaaaa", "setup:active", "ptime:20", "sendonly",
    "rtpmap:96 opus/48000/2", "fmtp:96 a=b", "extmap:1 uri",
  ])
  func refusesWhatStandsTwice(attribute: String) {
    let error = Self.error(sdp("", session: "a=\(attribute)\na=\(attribute)\n"))
    #expect(error?.kind == .duplicate)
    #expect(error?.line == 6)
  }

  @Test func refusesWhatIsTooLarge() {
    #expect(Self.error(String(repeating: "a=x\n", count: 1_000_000))?.kind == .tooLarge)
    #expect(Self.error(String(repeating: "\n", count: 3000))?.kind == .tooLarge)
    let media = String(repeating: "m=audio 0 RTP/AVP 0\n", count: 3)
    #expect(Self.error(sdp(media), limits: SDPLimits(media: 2))?.line == 7)
    let formats = (0..<10_000).map { "f\($0)" }.joined(separator: " ")
    let error = Self.error(sdp("m=application 9 x \(formats)\nc=IN IP4 0.0.0.0\n"))
    #expect(error?.kind == .tooLarge && error?.line == 5)
    #expect(throws: SDPError.self) { try SessionDescription(parsing: [0xff, 0xfe]) }
    #expect(throws: SDPError.self) { try SessionDescription(parsing: [UInt8](repeating: 0, count: 100)) }
  }

  @Test func twoMediaMayNotHaveOneName() {
    let medium = "m=audio 0 RTP/AVP 0\na=mid:x\n"
    #expect(Self.error(sdp(medium + medium))?.kind == .duplicate)
  }

  @Test func readsAndWritesTheOfferOfABrowser() throws {
    let offer = try SessionDescription(parsing: Samples.chromium)
    let audio = try #require(offer.media.first)
    #expect(offer.origin.sessionID == 5_793_521_390_422_047_236)
    #expect(offer.bundle == ["0"])
    #expect(audio.mid == "0")
    #expect(audio.payloadTypes == [111, 63, 9, 0, 8, 13, 110, 126])
    #expect(audio.rtpmaps.first == RTPMap(111, "opus", clockRate: 48000, channels: 2))
    #expect(audio.parameters(of: "111") == ["minptime": "10", "useinbandfec": "1"])
    #expect(audio.setup == .either)
    #expect(audio.direction == .sendAndReceive)
    #expect(audio.has("rtcp-mux") && audio.has("rtcp-rsize"))
    #expect(audio.fingerprints.first?.bytes.count == 32)
    #expect(audio.ssrcs == [1_283_894_405])
    #expect(audio.candidates.map(\.address.isMulticastName) == [true, false])
    #expect(audio.candidates.last?.relatedPort == 9)
    #expect(audio.candidates.first?.value(of: "network-cost") == "999")
    #expect(offer.text == Samples.chromium, "nothing is lost, nothing is moved")
  }

  @Test func keepsUnknownLinesAndAttributes() throws {
    let text = sdp(
      "m=audio 9 RTP/AVP 0\nc=IN IP4 0.0.0.0\nb=AS:64\ny=1\na=z:\n",
      session: "q=what is this\na=nobody-knows:this one\na=flag\n")
    let description = try SessionDescription(parsing: text)
    #expect(description.otherLines == [SDPLine("q", "what is this")])
    #expect(
      description.attributes
        == [.other(name: "nobody-knows", value: "this one"), .other(name: "flag", value: nil)])
    #expect(description.media.first?.otherLines == [SDPLine("b", "AS:64"), SDPLine("y", "1")])
    #expect(description.text == text.replacing("\n", with: "\r\n"))
  }

  @Test func writesNoLineThatAValueSmugglesIn() throws {
    var description = try SessionDescription(parsing: sdp())
    description.name = "x\r\na=ice-lite"
    #expect(try SessionDescription(parsing: description.text).name == "xa=ice-lite")
  }

  @Test func readsTrickledCandidates() throws {
    let text =
      "candidate:842163049 1 udp 1677729535 2001:db8::7 46154 typ srflx raddr 10.0.0.17 rport 46154 generation 0"
    let candidate = try ICECandidate(parsing: text)
    #expect(candidate.kind == .serverReflexive)
    #expect(candidate.relatedAddress == .ip(.v4(0x0a00_0011)))
    #expect(candidate.text == text)
    #expect(try ICECandidate(parsing: "a=" + text) == candidate)
    #expect(throws: SDPError.self) { try ICECandidate(parsing: text + "\r\na=x") }
    #expect(throws: SDPError.self) { try ICECandidate(parsing: "") }
    #expect(ICECandidate.priority(.host) == 2_130_706_431)
  }

  @Test func mutilatedDescriptionsAreReadOrRefusedAndWhatIsReadSurvivesWriting() throws {
    var random = SeededGenerator(seed: 8866)
    let source = Array(Samples.chromium.utf8)
    var read = 0
    for _ in 0..<4000 {
      var bytes = source
      for _ in 0..<Int.random(in: 1...4, using: &random) {
        let place = Int.random(in: 0..<bytes.count, using: &random)
        switch Int.random(in: 0..<4, using: &random) {
        case 0: bytes[place] = UInt8.random(in: 0...255, using: &random)
        case 1: bytes.remove(at: place)
        case 2: bytes.insert(contentsOf: [10, 32, 58, 61].shuffled(using: &random).prefix(2), at: place)
        default:
          bytes.removeSubrange(place..<min(bytes.count, place + Int.random(in: 1...80, using: &random)))
        }
      }
      guard let description = try? SessionDescription(parsing: bytes) else { continue }
      read += 1
      let again = try SessionDescription(parsing: description.text)
      #expect(again == description)
      #expect(again.text == description.text)
    }
    #expect(read > 100)
  }
}

enum Samples {
  static let chromium = """
    v=0
    o=- 5793521390422047236 2 IN IP4 127.0.0.1
    s=-
    t=0 0
    a=group:BUNDLE 0
    a=extmap-allow-mixed
    a=msid-semantic: WMS 5b0a
    m=audio 9 UDP/TLS/RTP/SAVPF 111 63 9 0 8 13 110 126
    c=IN IP4 0.0.0.0
    a=rtcp:9 IN IP4 0.0.0.0
    a=candidate:2358135331 1 udp 2113937151 0e3c0f8c-50d8-4b1a-9fbd-6ab5ff0dd9c2.local 54432 typ host generation 0 network-cost 999
    a=candidate:1 1 tcp 1518280447 192.0.2.9 9 typ srflx raddr 0.0.0.0 rport 9 tcptype active
    a=ice-ufrag:CkzL
    a=ice-pwd:gVPEbnQ0SnLHB9MSGHeyLTQd
    a=ice-options:trickle
    a=fingerprint:sha-256 6B:1B:8A:0F:4C:3D:61:E7:2A:51:9E:C5:18:5D:47:0A:5D:3B:F5:59:70:19:30:1B:B6:7C:AB:B6:9C:0F:91:DF
    a=setup:actpass
    a=mid:0
    a=extmap:1 urn:ietf:params:rtp-hdrext:ssrc-audio-level
    a=extmap:4/sendonly urn:ietf:params:rtp-hdrext:sdes:mid
    a=sendrecv
    a=msid:5b0a 83f1
    a=rtcp-mux
    a=rtcp-rsize
    a=rtpmap:111 opus/48000/2
    a=rtcp-fb:111 transport-cc
    a=fmtp:111 minptime=10;useinbandfec=1
    a=rtpmap:63 red/48000/2
    a=fmtp:63 111/111
    a=rtpmap:9 G722/8000
    a=rtpmap:0 PCMU/8000
    a=rtpmap:8 PCMA/8000
    a=rtpmap:13 CN/8000
    a=rtpmap:110 telephone-event/48000
    a=rtpmap:126 telephone-event/8000
    a=ssrc:1283894405 cname:RRYRpyVXJiHDMVnD
    a=ssrc:1283894405 msid:5b0a 83f1

    """.replacing("\n", with: "\r\n")
}
