import Testing

@testable import VoicePlatform

struct NetlinkSessionTests {
  private let lan = NetworkPath(
    interfaces: [.init(name: "x0", addresses: ["10.1.2.3"])], gateways: ["10.1.2.1"])

  @Test func aRefusalEndsTheSession() {
    var session = NetlinkSession()
    _ = session.start()
    // NLMSG_ERROR with -EPERM for request 1.
    let refusal: [UInt8] = [20, 0, 0, 0, 2, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF, 0xFF, 0xFF]
    #expect(session.received(refusal) == [.fail(1)])
    #expect(session.received(Recording.done(1)) == [])
  }

  @Test func ignoresAnswersToOtherRequests() {
    var session = NetlinkSession()
    _ = session.start()
    #expect(session.received(Recording.done(99)) == [])
    #expect(session.received(Recording.bytes("ffff")) == [])
  }

  @Test func readsTheTablesOneAfterTheOther() {
    var session = NetlinkSession()
    #expect(session.start() == [.send(NetlinkMessage.dumpRequest(18, sequence: 1))])
    #expect(session.received(Recording.bytes(Recording.linkUp)) == [])
    #expect(session.received(Recording.done(1)) == [.send(NetlinkMessage.dumpRequest(22, sequence: 2))])
    #expect(session.received(Recording.bytes(Recording.addressAdded)) == [])
    #expect(session.received(Recording.done(2)) == [.send(NetlinkMessage.dumpRequest(26, sequence: 3))])
    #expect(session.received(Recording.bytes(Recording.defaultRoute)) == [])
    #expect(session.received(Recording.done(3)) == [.report(self.lan)])
  }

  @Test func startsAgainWhenMessagesWereLost() {
    var session = self.following([Recording.linkUp, Recording.addressAdded])
    let overrun: [UInt8] = [16, 0, 0, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]
    #expect(session.received(overrun) == [.send(NetlinkMessage.dumpRequest(18, sequence: 4))])
    _ = session.received(Recording.done(4))
    _ = session.received(Recording.done(5))
    #expect(session.received(Recording.done(6)) == [.report(NetworkPath(interfaces: []))])
  }

  @Test func followsAnInterfaceThatComesAndGoes() {
    var session = self.following([])
    #expect(session.received(Recording.bytes(Recording.linkAdded)) == [.report(NetworkPath(interfaces: []))])
    #expect(
      session.received(Recording.bytes(Recording.addressAdded)) == [.report(NetworkPath(interfaces: []))])
    #expect(
      session.received(Recording.bytes(Recording.linkUp))
        == [.report(NetworkPath(interfaces: [.init(name: "x0", addresses: ["10.1.2.3"])]))])
    #expect(session.received(Recording.bytes(Recording.defaultRoute)) == [.report(self.lan)])
    #expect(session.received(Recording.bytes(Recording.linkDown)) == [.report(NetworkPath(interfaces: []))])
    // The kernel forgets the route of an interface that went down, and tells nobody.
    #expect(
      session.received(Recording.bytes(Recording.linkUp))
        == [.report(NetworkPath(interfaces: [.init(name: "x0", addresses: ["10.1.2.3"])]))])
  }

  @Test func severalAddressesAreInOrder() {
    var session = self.following([Recording.linkUp, Recording.wideAddress])
    #expect(
      session.received(Recording.bytes(Recording.addressAdded))
        == [
          .report(
            NetworkPath(interfaces: [.init(name: "x0", addresses: ["10.1.2.3", "fd00:0:0:0:0:0:0:7"])]))
        ])
    #expect(
      session.received(Recording.bytes(Recording.wideAddressRemoved))
        == [.report(NetworkPath(interfaces: [.init(name: "x0", addresses: ["10.1.2.3"])]))])
  }

  /// A session that has read its tables and received some messages.
  private func following(_ messages: [String]) -> NetlinkSession {
    var session = NetlinkSession()
    _ = session.start()
    for sequence in UInt8(1)...3 { _ = session.received(Recording.done(sequence)) }
    for hex in messages { _ = session.received(Recording.bytes(hex)) }
    return session
  }
}
