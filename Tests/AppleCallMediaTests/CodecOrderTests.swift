import Calls
import Foundation
import Testing

@testable import AppleCallMedia

struct CodecOrderTests {
  private let description = [
    "v=0", "m=video 9 RTP 96 0", "a=rtpmap:96 opus/48000/2", "m=audio 9 UDP/TLS/RTP/SAVPF 111 63 0 8 110",
    "a=rtpmap:111 opus/48000/2", "a=rtpmap:63 red/48000/2", "a=rtpmap:0 PCMU/8000", "a=rtpmap:8 PCMA/8000",
    "a=rtpmap:110 telephone-event/48000", "",
  ]

  private func types(wanting codecs: [TxCodecCapability]) -> String? {
    let text = CodecOrder.applied(codecs, to: self.description.joined(separator: "\r\n"))
    let lines = text.components(separatedBy: "\r\n")
    // Nothing else is touched.
    #expect(lines.filter { !$0.hasPrefix("m=audio") } == self.description.filter { !$0.hasPrefix("m=audio") })
    return lines.first { $0.hasPrefix("m=audio") }
  }

  private let pcma = TxCodecCapability(mimeType: "audio/pcma", clockRate: 8_000)
  private let opus = TxCodecCapability(mimeType: "audio/opus", clockRate: 48_000, channels: 2)

  @Test(arguments: [
    "", "v=0", "m=audio ", "m=audio 9", "m=audio 9 X\r\na=rtpmap:", "m=audio 9 X 1 1\r\na=rtpmap:1 ",
    "m=audio 9 X 1\r\na=rtpmap:1 PCMA",
  ])
  func leavesADescriptionAloneThatItDoesNotUnderstand(_ text: String) {
    #expect(CodecOrder.applied([self.pcma], to: text) == text)
  }

  @Test func putsWhatIsWantedFirstAndExcludesNothing() {
    #expect(self.types(wanting: [self.pcma]) == "m=audio 9 UDP/TLS/RTP/SAVPF 8 111 63 0 110")
    #expect(self.types(wanting: [self.pcma, self.opus]) == "m=audio 9 UDP/TLS/RTP/SAVPF 8 111 63 0 110")
    #expect(self.types(wanting: [self.opus, self.pcma]) == "m=audio 9 UDP/TLS/RTP/SAVPF 111 8 63 0 110")
  }

  @Test func aCodecThatIsNotThereOrAtAnotherRateChangesNothing() {
    let absent = TxCodecCapability(mimeType: "audio/G722", clockRate: 8_000)
    let other = TxCodecCapability(mimeType: "audio/PCMA", clockRate: 16_000)
    #expect(self.types(wanting: [absent, other]) == "m=audio 9 UDP/TLS/RTP/SAVPF 111 63 0 8 110")
    #expect(self.types(wanting: [self.pcma, self.pcma]) == "m=audio 9 UDP/TLS/RTP/SAVPF 8 111 63 0 110")
  }
}
