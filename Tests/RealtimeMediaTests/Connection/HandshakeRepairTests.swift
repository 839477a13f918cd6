import RealtimeMedia
import Testing
import VoiceCore

/// Handshakes that the network, or one side, ended.
@Suite struct HandshakeRepairTests {
  private static func isHandshake(_ bytes: [UInt8]) -> Bool {
    bytes.first.map { (20..<64).contains($0) } ?? false
  }

  /// The way is lost as soon as the first flight is sent, for longer than a handshake may take.
  @Test(arguments: [12, 25]) func standsStillWhileTheWayIsLost(_ seconds: Int) throws {
    let world = try CallWorld(seed: 1)
    world.openSockets()
    var isDown = false
    world.onTheWay = { _, bytes in
      if Self.isHandshake(bytes) { isDown = true }
      return isDown ? nil : bytes
    }
    try world.negotiate()
    world.run(.seconds(seconds))
    #expect(isDown && !world.areConnected)
    world.onTheWay = nil
    #expect(world.run(.seconds(5)) { world.areHeard })
    #expect(world.parties.allSatisfy { !$0.failures.contains(.callMediaInsecure) })
  }

  /// The way fails as well, so ICE has to be restarted; the handshake goes on where it was.
  @Test func goesOnAfterTheWayFailed() throws {
    var configuration = AudioConnection.Configuration()
    configuration.connectTimeout = .seconds(90)
    let world = try CallWorld(seed: 2, configuration, configuration)
    world.openSockets()
    var isDown = false
    world.onTheWay = { _, bytes in
      if Self.isHandshake(bytes) { isDown = true }
      return isDown ? nil : bytes
    }
    try world.negotiate()
    #expect(world.run(.seconds(60)) { world.parties.allSatisfy { $0.connection.state == .failed } })
    world.onTheWay = nil
    try world.negotiate(restartingICE: true)
    #expect(world.run(.seconds(5)) { world.areHeard })
    #expect(world.parties.allSatisfy { !$0.failures.contains(.callMediaInsecure) })
  }

  /// Something lets checks through and no handshake.
  @Test(arguments: [false, true]) func beginsAnewWithARestartAfterItFailed(_ byTheCallee: Bool) throws {
    let world = try CallWorld(seed: 3)
    world.openSockets()
    world.onTheWay = { _, bytes in Self.isHandshake(bytes) ? nil : bytes }
    try world.negotiate()
    world.run(.seconds(12))
    #expect(
      world.parties.allSatisfy { $0.connection.state == .failed && $0.failures == [.callMediaInsecure] })
    world.onTheWay = nil
    try world.negotiate(restartingICE: true, from: byTheCallee ? world.bob : world.alice)
    for party in world.parties { party.heard = [] }
    #expect(world.run(.seconds(5)) { world.areConnected && world.areHeard })
  }

  /// One side has keys, the other one is told that it is over.
  @Test(arguments: [false, true]) func beginsAnewWithARestartAfterOneSideWasClosed(_ byTheClosed: Bool) throws
  {
    let world = try CallWorld(seed: 4)
    world.openSockets()
    var welcome: [UInt8] = []
    world.onTheWay = { party, bytes in
      if party === world.bob, Self.isHandshake(bytes) { welcome = bytes }
      return bytes
    }
    try world.negotiate()
    #expect(world.run(.seconds(3)) { world.areHeard })
    world.onTheWay = nil
    // The message of the model that says goodbye, from where the other side is.
    let id = try #require(world.alice.sockets.keys.first)
    let source = try #require(world.bob.sockets.values.first?.address)
    welcome[1] = 4
    world.alice.connection.received(&welcome, on: id, from: source, at: world.now)
    world.perform(world.alice)
    #expect(world.alice.events.contains(.remoteClosed) && world.bob.connection.state == .connected)
    try world.negotiate(restartingICE: true, from: byTheClosed ? world.alice : world.bob)
    for party in world.parties { party.heard = [] }
    #expect(world.run(.seconds(5)) { world.areConnected && world.areHeard })
  }
}
