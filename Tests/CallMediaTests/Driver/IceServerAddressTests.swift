import RealtimeMedia
import Testing
import VoiceCore

@testable import CallMedia

struct IceServerAddressTests {
  @Test(arguments: [
    "", "stun", "http://example.org", "stun:", "turn:?transport=udp", "turn:example.org:0",
    "turn:example.org:65536", "turn:example.org:port", "turn:[::1", "turn:[::1]3478",
    "turn:example.org?transport=sctp", "turns:example.org?transport=udp", "turn:user@example.org",
    "turn:exa mple.org", "turn:example.org/path",
  ])
  func refusesWhatIsNoAddressByName(_ text: String) {
    let failure = #expect(throws: VoiceFailure.self) { try IceServerAddress(text) }
    #expect(failure?.code == .addressInvalid)
  }

  @Test(arguments: [
    ("stun:stun.example.org", "stun.example.org", 3478, ICEAgent.Server.Transport.udp),
    ("STUN:example.org:19302", "example.org", 19302, .udp),
    ("turn:10.0.0.1:3478?transport=tcp", "10.0.0.1", 3478, .tcp),
    ("turn:[2001:db8::1]:4000", "2001:db8::1", 4000, .udp),
    ("turns:example.org", "example.org", 5349, .tls),
    ("turns:example.org:443?transport=tcp", "example.org", 443, .tls),
  ])
  func readsHostPortAndTransport(
    _ text: String, _ host: String, _ port: UInt16, _ transport: ICEAgent.Server.Transport
  ) throws {
    let address = try IceServerAddress(text)
    #expect(address.host == host)
    #expect(address.port == port)
    #expect(address.transport == transport)
  }
}
