import RealtimeMedia
import Testing

@testable import CallMedia

struct LocalAddressesTests {
  private func addresses(_ texts: String...) -> [IPAddress] { texts.compactMap { IPAddress($0) } }

  @Test func leavesOutWhatNobodyElseCanReach() {
    let all = self.addresses("127.0.0.1", "fe80::1", "2001:db8::7", "169.254.3.4", "10.1.2.3", "::1")
    #expect(LocalAddresses.usable(all) == self.addresses("10.1.2.3", "2001:db8::7"))
  }

  @Test func usesLoopbackIfThereIsNothingElse() {
    let all = self.addresses("::1", "127.0.0.1", "fe80::1")
    #expect(LocalAddresses.usable(all) == self.addresses("127.0.0.1", "::1"))
  }

  @Test func usesEachAddressOnce() {
    let all = self.addresses("10.1.2.3", "10.1.2.3")
    #expect(LocalAddresses.usable(all) == self.addresses("10.1.2.3"))
  }
}
