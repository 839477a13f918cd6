import Foundation
import RealtimeMedia

/// Stops the fuzzer, which then keeps the input.
func require(_ condition: Bool, _ reason: String) {
  guard !condition else { return }
  print("Broken promise: \(reason)")
  abort()
}

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

/// The fuzzer's own main loop, in the toolchain's library: it links only under `-sanitize=fuzzer`.
@_silgen_name("LLVMFuzzerRunDriver")
func runFuzzer(
  _ argumentCount: UnsafeMutablePointer<CInt>,
  _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>>,
  _ input: @convention(c) (UnsafePointer<UInt8>?, Int) -> CInt
) -> CInt

@main
struct FuzzMedia {
  static func main() {
    var count = CommandLine.argc
    var arguments = CommandLine.unsafeArgv
    let status = runFuzzer(&count, &arguments) { start, count in
      let bytes = Array(UnsafeBufferPointer(start: start, count: count))
      // A description begins with its version; datagrams say what they are.
      if bytes.first == UInt8(ascii: "v") {
        fuzzSDP(bytes)
      } else if DatagramKind(bytes) == .stun {
        fuzzSTUN(bytes)
      } else {
        fuzzPackets(bytes)
      }
      return 0
    }
    exit(status)
  }
}
