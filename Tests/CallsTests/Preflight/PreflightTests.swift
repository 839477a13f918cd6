import CallSignaling
import Calls
import Testing
import VoiceCore
import VoiceTesting

/// Test calls with a scripted gateway and scripted media, on a clock that the test moves.
@Suite(.timeLimit(.minutes(4))) struct PreflightTests {
  static let settings = PreflightSettings(duration: .seconds(3), setupTimeout: .seconds(10))

  /// Begins a preflight and waits until its call is answered.
  static func begin(_ world: CallsWorld) async throws -> (Task<PreflightReport, any Error>, Call) {
    let began = world.clock.now
    let task = Task { try await world.client.preflight(Self.settings) }
    // It listens to the call before it sets its timer; what the media says earlier would be heard by nobody.
    await world.clock.waitForTimer(at: began.advanced(by: Self.settings.setupTimeout))
    let event = await world.log.first {
      if case .callStateUpdated(_, .ACTIVE) = $0 { true } else { false }
    }
    guard case .callStateUpdated(let call, _)? = event else { throw VoiceFailure(.callNotFound) }
    await world.mediaIsDone(of: call)
    return (task, call)
  }

  /// Lets time pass whenever somebody waits for it, until the task has ended.
  static func outcome(
    of task: Task<PreflightReport, any Error>, in world: CallsWorld, by time: Duration
  ) async -> Result<PreflightReport, any Error> {
    let mover = Task {
      let end = world.clock.now.advanced(by: time)
      while !Task.isCancelled, world.clock.now < end {
        world.clock.advance(to: min(end, await world.clock.nextTimer()))
      }
    }
    defer { mover.cancel() }
    return await task.result
  }

  /// Reports a measurement without numbers; returns when the preflight has taken it, and what came before it.
  static func startMeasuring(_ peer: ScriptedMediaPeer, in world: CallsWorld) async {
    peer.report(.measured(CallQualityMetrics(jitter: .infinity, rtt: .infinity, mos: .nan)))
    await world.clock.waitForTimer(at: world.clock.now.advanced(by: Self.settings.duration))
  }

  static func failure(_ result: Result<PreflightReport, any Error>) -> VoiceFailure? {
    if case .failure(let error) = result { error as? VoiceFailure } else { nil }
  }

  @Test func mediaThatMeasuresNothingIsSaidByName() async throws {
    let world = try await CallsWorld.ready()
    let (task, call) = try await Self.begin(world)
    let failure = try #require(
      Self.failure(await Self.outcome(of: task, in: world, by: .seconds(60))))
    #expect(failure.code == .callMetricsMissing)
    guard case .callFailed(reason: .noMetricsCollected) = TxError(failure) else {
      Issue.record("It is another error in the documented form.")
      return
    }
    #expect(call.callState == .DONE(reason: nil))
  }

  @Test func numbersThatAreNoneAreNoMeasurement() async throws {
    let world = try await CallsWorld.ready()
    let (task, call) = try await Self.begin(world)
    let peer = try #require(world.peer(of: call))
    await Self.startMeasuring(peer, in: world)
    let result = await Self.outcome(of: task, in: world, by: .seconds(60))
    #expect(Self.failure(result)?.code == .callMetricsMissing)
  }

  @Test func aWayThatIsNotFoundIsPassedOn() async throws {
    var media = ScriptedMedia.Script()
    media.connects = false
    let world = try await CallsWorld.ready(media: media)
    let (task, call) = try await Self.begin(world)
    let peer = try #require(world.peer(of: call))
    peer.report(.warned(VoiceFailure(.callMediaUnreachable)))
    await Self.startMeasuring(peer, in: world)
    let result = await Self.outcome(of: task, in: world, by: .seconds(60))
    #expect(Self.failure(result)?.code == .callMediaUnreachable)
  }

  @Test func aCallThatIsRefusedSaysWhy() async throws {
    var script = ScriptedGateway.Script()
    script.afterInvite = [.bye(.userBusy, sipCode: 486)]
    let world = try await CallsWorld.ready(script)
    await #expect { try await world.client.preflight(Self.settings) } throws: {
      ($0 as? VoiceFailure)?.code == .callBusy
    }
  }

  @Test func aClientThatIsNotConnectedSaysSo() async throws {
    let world = CallsWorld()
    await #expect { try await world.client.preflight() } throws: {
      ($0 as? VoiceFailure)?.code == .callNotConnected
    }
  }

  @Test func cancellingHangsUp() async throws {
    let world = try await CallsWorld.ready()
    let (task, call) = try await Self.begin(world)
    task.cancel()
    let result = await task.result
    #expect(throws: CancellationError.self) { try result.get() }
    _ = try await world.gateway.request(.bye)
    #expect(call.callState == .DONE(reason: nil))
  }

  @Test func reportsWhatWasMeasured() async throws {
    let world = try await CallsWorld.ready()
    let (task, call) = try await Self.begin(world)
    let peer = try #require(world.peer(of: call))
    peer.report(.measured(CallQualityMetrics(jitter: 0.010, rtt: 0.050, mos: 3.8)))
    await world.clock.waitForTimer(at: world.clock.now.advanced(by: Self.settings.duration))
    world.clock.advance(by: Self.settings.duration)
    let report = try await task.value
    #expect(report.mos == PreflightReport.Range([3.8]))
    #expect(report.roundTrip == PreflightReport.Range([0.050]))
    #expect(report.quality == .fair)
    #expect(report.registeredAfter == nil)
    #expect(report.firstAudioAfter == nil && report.localCandidate == nil && report.loss == nil)
    guard case .invite(let invite) = try await world.gateway.request(.invite) else { return }
    #expect(invite.dialog.destinationNumber == "echo")
    _ = try await world.gateway.request(.bye)
    #expect(call.callState == .DONE(reason: nil))
  }
}
