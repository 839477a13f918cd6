import RealtimeMedia
import Testing
import VoiceCore

/// Who knows the address of a call, and nothing else of it.
@Suite struct StrangerTests {
  private static let stranger = TransportAddress(VirtualNetwork.ip("198.51.100.9"), port: 9)
  private static func alert(_ level: UInt8, _ description: UInt8) -> [UInt8] {
    [21, 0xfe, 0xfd, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2, level, description]
  }

  /// `handshake_failure`, and `close_notify`, which is plain as long as there are no keys.
  @Test(arguments: [alert(2, 40), alert(1, 0)]) func cannotEndAHandshake(_ alert: [UInt8]) throws {
    let world = try AudioConnectionWorld(seed: 1)
    var sent = 0
    world.onDatagram = { [unowned world] side, _ in
      for way in 1...2 {
        var bytes = alert
        sent += 1
        side.connection.received(&bytes, on: .init(rawValue: way), from: Self.stranger, at: world.now)
      }
    }
    try world.agree()
    let time = world.run(for: .seconds(5)) { world.one.isHearing && world.other.isHearing }
    #expect(time != nil)
    #expect(sent > 10)
    for side in [world.one, world.other] {
      #expect(!side.events.contains(.remoteClosed))
      #expect(!side.events.contains { if case .failed = $0 { true } else { false } })
      #expect(side.connection.statistics.packetsRefused > 0)
    }
  }

  /// Twenty datagrams of one byte leave room for the handshake that begins before the answer came.
  @Test func cannotFillThePlaceOfAnEarlyHandshake() throws {
    let world = try AudioConnectionWorld(seed: 2, makeHandshake: EarlyHandshakeTests.withoutRepetition)
    for number in UInt8(20)..<40 {
      var bytes = [number]
      world.one.connection.received(&bytes, on: .init(rawValue: 1), from: Self.stranger, at: world.now)
    }
    try world.agree(answerAfter: .milliseconds(400))
    #expect(world.run(for: .seconds(5)) { world.one.isHearing && world.other.isHearing } != nil)
  }

  /// A NAT that forgot a mapping makes another one: media prove where they come from before the next check does.
  @Test func isNotWhoSendsMediaFromAnotherAddress() throws {
    let world = try CallWorld(seed: 3)
    world.openSockets()
    try world.negotiate()
    #expect(world.run(.seconds(3)) { world.areHeard })
    let id = try #require(world.bob.sockets.keys.first)
    var moved: [[UInt8]] = []
    world.onTheWay = { [unowned world] party, bytes in
      guard party === world.alice else { return bytes }
      if bytes.first.map({ $0 >= 128 }) ?? false { moved.append(bytes) }
      return nil
    }
    let concealed = world.bob.concealed
    for _ in 0..<30 {
      world.run(.milliseconds(20))
      for var bytes in moved {
        world.bob.connection.received(&bytes, on: id, from: Self.stranger, at: world.now)
      }
      moved = []
    }
    #expect(world.share(of: 440, heardBy: world.bob) > 0.9)
    #expect(world.bob.concealed - concealed < 4800)
  }
}
