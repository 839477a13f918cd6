import Testing
import VoiceCore

@testable import RealtimeMedia

/// A decoder that cannot be made, as without memory.
@Suite struct MissingDecoderTests {
  @Test func isToldOnceAndTheCallGoesOnInOneDirection() throws {
    let world = try CallWorld(seed: 31)
    world.bob.connection.receiver.makeDecoder = { _ in nil }
    world.openSockets()
    try world.negotiate()
    world.run(.seconds(5))
    let told = world.bob.events.compactMap { event -> VoiceFailure? in
      if case .decodingFailed(let failure) = event { failure } else { nil }
    }
    #expect(told.map(\.code) == [.callMediaFailed])
    #expect(told.first?.message.contains("opus") ?? false)
    #expect(world.bob.connection.state == .connected && world.bob.failures.isEmpty)
    let statistics = world.bob.connection.statistics.receiver
    #expect(statistics.packetsUndecodable > 100)
    // What cannot be decoded is counted as lost, so that the quality tells of it.
    #expect(statistics.concealed > 4 * 48_000)
    #expect(world.alice.heard.contains { $0 != 0 })
  }
}
