import RealtimeMedia
import Testing
import VoiceCore

@testable import CallMedia

struct SessionOpeningTests {
  private let start = VoiceInstant(offset: .seconds(100))

  private func opening(_ servers: Int) -> SessionOpening {
    SessionOpening(servers: servers, timeout: .seconds(1), at: self.start)
  }

  private func address(_ port: UInt16) throws -> TransportAddress {
    TransportAddress(try #require(IPAddress("192.0.2.1")), port: port)
  }

  @Test func beginsAtOnceWithoutServers() {
    var opening = self.opening(0)
    #expect(opening.bound() == .init(found: [:], late: []))
  }

  @Test func waitsForSocketsAlsoWhenTimeIsUp() {
    var opening = self.opening(1)
    #expect(opening.timePassed(at: opening.deadline) == nil)
    #expect(opening.bound() == .init(found: [:], late: [0]))
  }

  /// A resolver that dropped the question of one server ended every call, also in a network that needs no server.
  @Test func beginsWithoutServersThatAreNotFoundInTime() throws {
    var opening = self.opening(3)
    let found = try self.address(1)
    #expect(opening.bound() == nil)
    #expect(opening.lookedUp(1, [found]) == nil)
    #expect(opening.lookedUp(2, []) == nil)
    #expect(opening.deadline == self.start.advanced(by: .seconds(1)))
    #expect(opening.timePassed(at: self.start.advanced(by: .milliseconds(999))) == nil)
    #expect(opening.timePassed(at: opening.deadline) == .init(found: [1: [found]], late: [0]))
  }

  @Test func beginsAsSoonAsAllLookupsHaveEnded() throws {
    var opening = self.opening(2)
    let found = try self.address(1)
    #expect(opening.bound() == nil)
    #expect(opening.lookedUp(0, [found]) == nil)
    #expect(opening.lookedUp(1, []) == .init(found: [0: [found]], late: []))
  }

  @Test func beginsOnce() throws {
    var opening = self.opening(1)
    _ = opening.bound()
    _ = opening.timePassed(at: opening.deadline)
    #expect(opening.lookedUp(0, [try self.address(1)]) == nil)
    #expect(opening.bound() == nil)
    #expect(opening.timePassed(at: opening.deadline) == nil)
  }

  @Test func ignoresAServerThatWasNotAskedFor() throws {
    var opening = self.opening(1)
    #expect(opening.bound() == nil)
    #expect(opening.lookedUp(7, [try self.address(7)]) == nil)
    #expect(opening.lookedUp(0, []) == .init(found: [:], late: []))
  }
}
