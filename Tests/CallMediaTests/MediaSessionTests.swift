import NIOCore
import RealtimeMedia
import Testing
import VoiceCore
import VoicePlatform

@testable import CallMedia

/// Sessions on real sockets of this machine.
@Suite(.timeLimit(.minutes(4)))
struct MediaSessionTests {
  /// A resolver that drops every question: what is asked is never answered.
  private static let silentLookup: HostLookup = { _, _, loop in
    loop.scheduleTask(in: .hours(24)) { throw SocketAddressError.unsupported }.futureResult
  }

  /// A call that needs no server at all failed when the name of one could not be looked up in time.
  @Test func connectsWhileTheResolverIsSilent() async throws {
    let engine = MediaEngine(paths: nil, lookup: Self.silentLookup)
    var configuration = MediaSession.Configuration()
    configuration.iceServers = [
      .init(try IceServerAddress("stun:stun.example.org")),
      .init(try IceServerAddress("turn:turn.example.org")),
    ]
    configuration.lookupTimeout = .milliseconds(50)
    let caller = ToldSession(configuration, engine: engine)
    let callee = ToldSession(engine: engine)
    let offer = try await caller.session.makeOffer()
    try await caller.session.receivedAnswer(try await callee.session.receivedOffer(offer))
    let before = await caller.connected()
    let warnings = before.compactMap { event -> VoiceFailure? in
      if case .warned(let failure) = event, failure.message.contains("in time") { failure } else { nil }
    }
    #expect(warnings.map(\.code) == [.callRelayFailed, .callRelayFailed])
    await caller.session.close()
    await callee.session.close()
  }

  /// The first description has to wait less for a resolver than for candidates, or it comes too early.
  @Test func makesAnOfferAlsoIfLookupsMayTakeLongerThanCandidates() async throws {
    let engine = MediaEngine(paths: nil, lookup: Self.silentLookup)
    var configuration = MediaSession.Configuration()
    configuration.iceServers = [.init(try IceServerAddress("stun:stun.example.org"))]
    configuration.gatheringTimeout = .milliseconds(50)
    let caller = ToldSession(configuration, engine: engine)
    let offer = try await caller.session.makeOffer()
    #expect(offer.contains("a=candidate:"))
    await caller.session.close()
  }

  /// The offer is described again once candidates are found, which took the restart back.
  @Test func aRestartFindsAWayOfItsOwn() async throws {
    let engine = MediaEngine(paths: nil)
    var configuration = MediaSession.Configuration()
    configuration.statisticsInterval = .milliseconds(50)
    let (caller, callee) = (ToldSession(configuration, engine: engine), ToldSession(engine: engine))
    let offer = try await caller.session.makeOffer()
    try await caller.session.receivedAnswer(try await callee.session.receivedOffer(offer))
    _ = await caller.connected()
    let before = try #require(await caller.session.statistics()).ice.selections
    let restart = try await caller.session.makeOffer(restartingICE: true)
    try await caller.session.receivedAnswer(try await callee.session.receivedOffer(restart))
    let after = await caller.next { event -> Int? in
      guard case .measured(let statistics) = event else { return nil }
      let selections = statistics.ice.selections
      return selections > before ? Int(selections) : nil
    }
    #expect(after != nil)
    await caller.session.close()
    await callee.session.close()
  }

  private static func path(_ addresses: String...) -> NetworkPath {
    NetworkPath(interfaces: [.init(name: "test0", addresses: addresses)])
  }

  /// An address that could not be bound once, such as a new one of IPv6, was never tried again, and nobody was told.
  @Test func bindsAnAddressAgainThatCouldNotBeBound() async throws {
    // The second is no address of this machine.
    let paths = ManualNetworkPathMonitor(path: Self.path("0.0.0.0", "198.51.100.1"))
    let engine = MediaEngine(paths: paths)
    let caller = ToldSession(engine: engine)
    let first = try #require(await caller.warning())
    #expect(first.code == .callMediaFailed)
    #expect(!first.description.contains("198.51.100.1"))
    paths.change(to: Self.path("0.0.0.0", "198.51.100.1", "198.51.100.2"))
    let codes = [await caller.warning()?.code, await caller.warning()?.code]
    #expect(codes == [.callMediaFailed, .callMediaFailed])
    await caller.session.close()
  }

  /// A machine whose only address was too new to be bound could never make a call, also when it had another one.
  @Test func describesItselfOnceAnAddressCanBeBound() async throws {
    // No address of this machine.
    let paths = ManualNetworkPathMonitor(path: Self.path("198.51.100.1"))
    let caller = ToldSession(engine: MediaEngine(paths: paths))
    let failure = await caller.next { event in
      if case .failed(let failure) = event { failure } else { nil }
    }
    #expect(failure?.code == .callMediaFailed)
    paths.change(to: Self.path("198.51.100.1", "0.0.0.0"))
    var offer: String?
    // Each try goes through the loop that binds the address.
    while offer == nil { offer = try? await caller.session.makeOffer() }
    #expect(offer?.contains("m=audio") ?? false)
    await caller.session.close()
  }

  /// The failure of the first address outlived it if the address came before the connection did.
  @Test func describesItselfOnceAnAddressIsBoundWhileTheResolverIsSilent() async throws {
    let paths = ManualNetworkPathMonitor(path: Self.path("198.51.100.1"))
    var configuration = MediaSession.Configuration()
    configuration.iceServers = [.init(try IceServerAddress("stun:stun.example.org"))]
    configuration.lookupTimeout = .milliseconds(500)
    let caller = ToldSession(configuration, engine: MediaEngine(paths: paths, lookup: Self.silentLookup))
    let failure = await caller.next { event in
      if case .failed(let failure) = event { failure } else { nil }
    }
    #expect(failure?.code == .callMediaFailed)
    paths.change(to: Self.path("198.51.100.1", "0.0.0.0"))
    var offer: String?
    while offer == nil { offer = try? await caller.session.makeOffer() }
    #expect(offer?.contains("m=audio") ?? false)
    await caller.session.close()
  }

  /// What was played while the other side could not hear it was lost, and `play` reported that it was sent.
  @Test func keepsWhatIsSaidUntilItCanBeHeard() async throws {
    let engine = MediaEngine(paths: nil)
    let caller = ToldSession(engine: engine)
    let callee = ToldSession(engine: engine)
    let offer = try await caller.session.makeOffer()
    try await caller.session.receivedAnswer(try await callee.session.receivedOffer(offer))
    _ = await caller.connected()
    let hold = try await callee.session.makeOffer(.inactive)
    try await callee.session.receivedAnswer(try await caller.session.receivedOffer(hold))

    let audio = caller.session.audio
    try await audio.send([Int16](repeating: 1000, count: 4_800))
    // Each frame that is heard is a moment at which one could be sent.
    var frames = audio.frames.makeAsyncIterator()
    for _ in 0..<10 { _ = await frames.next() }
    #expect(audio.queued == .milliseconds(100))

    let resume = try await callee.session.makeOffer(.sendAndReceive)
    try await callee.session.receivedAnswer(try await caller.session.receivedOffer(resume))
    while audio.queued > .zero, await frames.next() != nil {}
    #expect(audio.queued == .zero)
    await caller.session.close()
    await callee.session.close()
  }
}
