import RealtimeMedia
import Testing

@testable import CallMedia

struct HostLookupTests {
  private func address(_ ip: String) throws -> TransportAddress {
    TransportAddress(try #require(IPAddress(ip)), port: 3478)
  }

  @Test func findsEachAddressOfAHostOnce() throws {
    let found = try SystemLookup.addresses(of: "localhost", port: 3478)
    #expect(found.contains(try self.address("127.0.0.1")))
    #expect(Set(found).count == found.count)
    #expect(try SystemLookup.addresses(of: "::1", port: 3478) == [self.address("::1")])
  }

  @Test func aHostThatCannotBeThrows() {
    #expect(throws: (any Error).self) { try SystemLookup.addresses(of: "", port: 3478) }
  }

  @Test func aServerHasOneAddressOfEachIPVersionTheBestFirst() throws {
    let addresses = try ["2001:db8::1", "2001:db8::2", "192.0.2.1", "192.0.2.2"].map(self.address)
    let server = MediaSession.Configuration.IceServer(try IceServerAddress("stun:stun.example.org"))
    let both = server.resolved(addresses, relaysIPv6: false)
    #expect(both?.address == addresses[0] && both?.alternative == addresses[2])
    let one = server.resolved(Array(addresses[2...]), relaysIPv6: false)
    #expect(one?.address == addresses[2] && one?.alternative == nil)
    #expect(server.resolved([], relaysIPv6: false) == nil)
  }
}
