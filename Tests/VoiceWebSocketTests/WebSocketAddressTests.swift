import Testing
import VoiceWebSocket

@Suite struct WebSocketAddressTests {
  @Test func keepsSchemePortPathAndQuery() throws {
    let address = try WebSocketAddress("wss://calls.example.org:8443/gateway/a?region=eu&x=%20")
    #expect(address.isSecure)
    #expect(address.host == "calls.example.org")
    #expect(address.port == 8443)
    #expect(address.target == "/gateway/a?region=eu&x=%20")
    #expect(address.description == "wss://calls.example.org:8443/gateway/a?region=eu&x=%20")
  }

  @Test(arguments: [
    ("ws://h", 80, "/", "h"), ("WSS://h/", 443, "/", "h"), ("ws://[::1]:9?q", 9, "/?q", "[::1]:9"),
  ])
  func fillsInWhatIsNotWritten(text: String, port: Int, target: String, hostField: String) throws {
    let address = try WebSocketAddress(text)
    #expect(address.port == port)
    #expect(address.target == target)
    #expect(address.hostField == hostField)
  }

  @Test(arguments: [
    "", "h", "http://h", "ws://", "ws:///p", "ws://h:", "ws://h:0", "ws://h:65536", "ws://h:-1", "ws://h:+1",
    "ws://h:x",
    "ws://u:p@h", "ws://h/#f", "ws://h /", "ws://[::1", "ws://[x]", "ws://[::1]9", "ws://hö", "ws://h\n",
  ])
  func refusesWhatIsNoAddress(text: String) {
    #expect {
      try WebSocketAddress(text)
    } throws: { error in
      guard case .addressInvalid? = error as? WebSocketFailure else { return false }
      return true
    }
  }
}
