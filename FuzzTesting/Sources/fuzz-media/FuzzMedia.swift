import Foundation
import FuzzSupport
import RealtimeMedia

/// A description that is read is written to something that is read as the same; an offer is answered or refused.
func fuzzSDP(_ bytes: [UInt8]) {
  let description: SessionDescription
  do throws(SDPError) {
    description = try SessionDescription(parsing: bytes)
  } catch {
    require(error.line > 0 && error.column > 0 && !error.suggestion.isEmpty, "an error says where and what")
    return
  }
  let again = try? SessionDescription(parsing: description.text)
  require(again == description, "a description is read as what was written")
  require(again?.text == description.text, "a description is always written the same")
  let transport = AudioNegotiator.Transport(
    iceUserFragment: "abcd", icePassword: String(repeating: "p", count: 22),
    fingerprint: CertificateFingerprint(function: "sha-256", bytes: Array(repeating: 1, count: 32)))
  var negotiator = AudioNegotiator(source: .init(ssrc: 1, cname: "c", track: "t"), sessionID: 1)
  if let (answer, audio) = try? negotiator.receivedOffer(description, transport: transport) {
    require((try? SessionDescription(parsing: answer.text)) == answer, "an answer can be read")
    require(!audio.codecs.isEmpty, "an agreement has a codec")
  }
  negotiator = AudioNegotiator(source: .init(ssrc: 1, cname: "c", track: "t"), sessionID: 1)
  if (try? negotiator.makeOffer(.sendAndReceive, transport: transport)) != nil {
    _ = try? negotiator.receivedAnswer(description)
  }
}

/// A message that is read is written to something that is read as the same.
func fuzzSTUN(_ bytes: [UInt8]) {
  guard let read = try? ReceivedSTUNMessage(parsing: bytes) else { return }
  _ = read.isAuthentic(.sha1([1]))
  _ = read.isAuthentic(.sha256([1]))
  let written = read.message.encoded(integrity: .sha1([1]), fingerprint: true)
  let again = try? ReceivedSTUNMessage(parsing: written)
  require(again?.message == read.message, "a message is read as what was written")
  require(again?.isAuthentic(.sha1([1])) == true && again?.hasFingerprint == true, "it is authentic")
}

/// Packets that are read are written to something that is read as the same.
func fuzzPackets(_ bytes: [UInt8]) {
  _ = DatagramKind(bytes)
  _ = ChannelData.parse(bytes[...])
  _ = OpusPacket.duration(of: bytes[...])
  if let event = TelephoneEvent(parsing: bytes[...]) {
    require(
      event.payload == Array(bytes.prefix(4)) || bytes[1] & 0x40 != 0, "an event is written as it was read")
  }
  if let packet = try? RTPPacket(parsing: bytes[...]) {
    _ = packet.headerExtension?.elements
    var written: [UInt8] = []
    packet.append(to: &written)
    require((try? RTPPacket(parsing: written[...])) == packet, "a packet is read as what was written")
  }
  if let packets = try? RTCPPacket.parse(bytes[...]) {
    var written: [UInt8] = []
    for packet in packets { packet.append(to: &written) }
    require((try? RTCPPacket.parse(written[...]))?.count == packets.count, "all packets are written")
  }
}

/// Objects of C libraries, made once; one thread uses them.
final class Libraries {
  let certificate: DTLSCertificate
  let decoder: OpusDecoder
  let contexts: [SRTPContext]

  init() throws {
    self.certificate = try .make()
    self.decoder = try OpusDecoder()
    self.contexts = try SRTPProfile.allCases.map { profile in
      let key = SRTPMasterKey(
        key: Array(repeating: 1, count: profile.keyCount), salt: Array(repeating: 2, count: profile.saltCount)
      )
      return try SRTPContext(keys: SRTPKeys(profile: profile, local: key, remote: key))
    }
  }

  /// The bytes as one datagram, then as several, each with a length in two bytes before it; for both roles.
  func fuzzDTLS(_ bytes: ArraySlice<UInt8>) {
    for role in [NegotiatedAudio.DTLSRole.client, .server] {
      guard
        let connection = try? DTLSConnection(
          certificate: self.certificate, role: role, remoteFingerprints: [self.certificate.fingerprint])
      else { return require(false, "a connection can be made") }
      connection.start()
      var rest = bytes
      connection.received(rest)
      while rest.count > 2 {
        let count = Int(rest[rest.startIndex]) << 8 | Int(rest[rest.startIndex + 1])
        rest = rest.dropFirst(2)
        connection.received(rest.prefix(count))
        rest = rest.dropFirst(count)
      }
      var ends = 0
      while let output = connection.poll() {
        switch output {
        case .send(let datagram): require(!datagram.isEmpty && datagram.count <= 1200, "a datagram fits")
        case .established: require(false, "nobody gets keys without the private key")
        case .failed, .closed: ends += 1
        }
      }
      require(ends <= 1, "it ends once")
      connection.close()
    }
  }

  /// Nothing is authentic; and what is protected can be opened.
  func fuzzSRTP(_ bytes: [UInt8]) {
    for context in self.contexts {
      var packet = bytes
      require((try? context.unprotect(&packet)) == nil && packet.isEmpty, "a forged packet is refused")
      packet = bytes
      require((try? context.unprotectRTCP(&packet)) == nil && packet.isEmpty, "a forged report is refused")
      packet = bytes
      if (try? context.protectRTCP(&packet)) != nil {
        require((try? context.unprotectRTCP(&packet)) != nil && packet == bytes, "a report survives")
      }
    }
  }

  /// A payload gives as many samples as it says, or none.
  func fuzzOpus(_ payload: ArraySlice<UInt8>) {
    var samples: [Int16] = []
    if let count = try? self.decoder.decode(payload, into: &samples) {
      require(count == OpusPacket.duration(of: payload), "it is as long as it says")
    } else {
      require(samples.isEmpty, "nothing is left of a payload that is refused")
    }
    try? self.decoder.recover(960, from: payload, into: &samples)
  }
}

/// Only the fuzzer's one thread gets here.
nonisolated(unsafe) private let libraries = try? Libraries()

@main
struct FuzzMedia {
  static func main() {
    guard libraries != nil else { return require(false, "the libraries are there") }
    runFuzzer { bytes in
      // A description begins with its version, datagrams for a handshake with a letter, a payload too; other
      // datagrams say what they are.
      switch (bytes.first, DatagramKind(bytes)) {
      case (UInt8(ascii: "v"), _): fuzzSDP(bytes)
      case (UInt8(ascii: "d"), _): libraries?.fuzzDTLS(bytes.dropFirst())
      case (UInt8(ascii: "o"), _): libraries?.fuzzOpus(bytes.dropFirst())
      case (_, .stun): fuzzSTUN(bytes)
      case (_, .dtls): libraries?.fuzzDTLS(bytes[...])
      case (_, .rtp), (_, .rtcp):
        fuzzPackets(bytes)
        libraries?.fuzzSRTP(bytes)
      default: fuzzPackets(bytes)
      }
    }
  }
}
