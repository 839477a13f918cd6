import CallSignaling
import Calls
import Foundation
import Synchronization
import Testing
import VoiceCore
import VoiceTesting

/// `Call.onCallQualityChange` (telnyx.md section 1).
@Suite(.timeLimit(.minutes(4))) struct QualityHandlerTests {
  private final class Told: Sendable {
    let scores = Mutex<[Double]>([])

    var all: [Double] { self.scores.withLock { $0 } }

    func add(_ metrics: CallQualityMetrics) { self.scores.withLock { $0.append(metrics.mos) } }
  }

  private static func metrics(_ score: Double) -> MediaPeerEvent {
    .measured(CallQualityMetrics(jitter: 0.01, rtt: 0.1, mos: score))
  }

  private static let config = TxConfig(sipUser: "alice", password: "secret", debug: true)

  @Test func isToldNothingOfACallThatIsNotMeasured() async throws {
    let world = try await CallsWorld.ready()
    let (call, log) = try await world.activeCall()
    let told = Told()
    call.onCallQualityChange = { told.add($0) }
    #expect(!call.debug)
    world.peer(of: call)?.report(Self.metrics(4.3))
    call.hangup()
    _ = await log.ended()
    #expect(told.all.isEmpty)
    #expect(call.qualityMetrics == nil)
    #expect(!log.events.contains { if case .qualityMeasured = $0 { true } else { false } })
    #expect(call.report?.measurements.isEmpty == true)
  }

  @Test func isToldEachMeasurement() async throws {
    let world = try await CallsWorld.ready(config: Self.config)
    let (call, _) = try await world.activeCall()
    let peer = try #require(world.peer(of: call))
    peer.report(Self.metrics(4.4))
    let (first, second) = (Told(), Told())
    call.onCallQualityChange = { first.add($0) }
    #expect(first.all.isEmpty)
    for score in [4.3, 4.3, 3.2] { peer.report(Self.metrics(score)) }
    #expect(first.all == [4.3, 4.3, 3.2])
    #expect(call.qualityMetrics?.mos == 3.2)
    call.onCallQualityChange = { second.add($0) }
    peer.report(Self.metrics(2.5))
    call.onCallQualityChange = nil
    peer.report(Self.metrics(1.5))
    #expect(first.all.count == 3)
    #expect(second.all == [2.5])
    #expect(call.qualityMetrics?.mos == 1.5)
  }

  @Test func isToldOfACallThatAloneIsMeasured() async throws {
    let world = try await CallsWorld.ready()
    let call = try world.client.newCall(
      callerName: "", callerNumber: "", destinationNumber: "bob", callId: UUID(), debug: true)
    try await call.answered()
    let told = Told()
    call.onCallQualityChange = { told.add($0) }
    try #require(world.peer(of: call)).report(Self.metrics(4.3))
    #expect(told.all == [4.3])
  }

  @Test func isToldOfAnInboundCallWhoseAnswerAsksForIt() async throws {
    let world = try await CallsWorld.ready()
    world.gateway.invite(CallID("1b0c9f4e-7a1f-4f0e-9e6b-0f6f3a1b2c3d"))
    let event = await world.log.first { if case .incomingCall = $0 { true } else { false } }
    guard case .incomingCall(let call)? = event else {
      Issue.record("no call came: \(String(describing: event))")
      return
    }
    let told = Told()
    call.onCallQualityChange = { told.add($0) }
    call.answer(debug: true)
    _ = try await world.gateway.request(.answer)
    try #require(world.peer(of: call)).report(Self.metrics(4.3))
    #expect(told.all == [4.3])
  }

  @Test func isToldAfterAReattachAsBefore() async throws {
    let world = try await CallsWorld.ready(config: Self.config)
    let (call, log) = try await world.activeCall()
    let told = Told()
    call.onCallQualityChange = { told.add($0) }
    try #require(world.peer(of: call)).report(Self.metrics(4.3))
    world.gateway.cut()
    await log.state("RECONNECTING")
    let count = log.events.count
    world.clock.advance(by: .seconds(15))
    await log.state("ACTIVE", from: count)
    try #require(world.peer(of: call)).report(Self.metrics(3.8))
    #expect(told.all == [4.3, 3.8])
  }
}
