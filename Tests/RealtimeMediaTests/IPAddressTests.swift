import RealtimeMedia
import Testing
import VoiceTesting

@Suite struct IPAddressTests {
  @Test(arguments: [
    "", ".", "1.2.3", "1.2.3.4.5", "01.2.3.4", "256.1.1.1", "1.2.3.-4", " 1.2.3.4", ":", ":::", "1::2::3",
    "1:2:3",
    "12345::", "1:2:3:4:5:6:7:8:9", "1:2:3:4:5:6:7::8:9", "::g", "::1%1", "1.2.3.4::", "::1.2.3", "[::1]",
    ":1",
    "1:2:3:4:5:6:7:", "٣.1.1.1",
  ])
  func refusesWhatIsNoAddress(text: String) {
    #expect(IPAddress(text) == nil)
  }

  /// RFC 5952 section 4.
  @Test(arguments: [
    ("192.0.2.1", "192.0.2.1"), ("2001:0DB8::0001", "2001:db8::1"), ("::", "::"), ("::1", "::1"),
    ("1::", "1::"),
    ("2001:db8:0:1:1:1:1:1", "2001:db8:0:1:1:1:1:1"), ("2001:0:0:1:0:0:0:1", "2001:0:0:1::1"),
    ("2001:db8:0:0:1:0:0:1", "2001:db8::1:0:0:1"), ("::ffff:192.0.2.1", "::ffff:c000:201"),
  ])
  func writesAddressesInTheirShortestForm(text: String, expected: String) {
    #expect(IPAddress(text)?.description == expected)
  }

  @Test func everyAddressIsReadAsItIsWritten() {
    var random = SeededGenerator(seed: 5952)
    for _ in 0..<2000 {
      let bytes = (0..<16).map { _ in
        Bool.random(using: &random) ? 0 : UInt8.random(in: 0...255, using: &random)
      }
      for bytes in [bytes, Array(bytes.prefix(4))] {
        let address = IPAddress(bytes: bytes)
        #expect(address?.bytes == bytes)
        #expect(address.flatMap { IPAddress($0.description) } == address)
      }
    }
    #expect(IPAddress(bytes: [1, 2, 3]) == nil)
  }
}
