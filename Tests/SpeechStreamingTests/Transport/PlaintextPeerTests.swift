import NIOCore
import Testing

@testable import SpeechStreaming

@Suite struct PlaintextPeerTests {
  @Test(
    arguments: [
      // A fatal alert of version 1.0, "protocol version".
      ([21, 3, 1, 0, 2, 2, 70], true),
      ([21, 3], true),
      // An empty frame of settings, the beginning of every connection of HTTP/2.
      ([0, 0, 0, 4, 0, 0, 0, 0, 0], false),
      (Array("HTTP/1.1 400 Bad Request".utf8), false),
      ([21], false), ([], false),
    ] as [([UInt8], Bool)])
  func onlyAnAlertMeansThatTLSIsExpected(first: [UInt8], expectsTLS: Bool) {
    let peer = PlaintextPeer()
    peer.received(ByteBuffer(bytes: first))
    #expect(peer.expectsTLS == expectsTLS)
  }
}
