import CallSignaling
import Testing
import VoiceCore

@testable import CallMedia
@testable import VoiceServer

@Suite(.timeLimit(.minutes(4)))
struct AnsweringMediaTests {
  /// Media that answer calls with silence, and what they tell.
  private static func peer(on engine: MediaEngine) -> (any ServerMediaPeer, AsyncStream<MediaEvent>.Iterator)
  {
    let (events, told) = AsyncStream.makeStream(of: MediaEvent.self)
    let media = AnsweringMedia(
      engine: engine, iceServers: [], service: { _ in SilenceService() }, logger: CapturingLog().logger)
    return (media.makePeer { told.yield($0) }, events.makeAsyncIterator())
  }

  /// An offer within a call that could not be taken ended the call (RFC 3264 section 8 leaves it as it was).
  @Test func refusesAChangeOfMediaAndGoesOn() async throws {
    let engine = MediaEngine(paths: nil)
    let caller = engine.makeSession(.init()) { _ in }
    let offer = try await caller.makeOffer()
    var (peer, events) = Self.peer(on: engine)
    peer.handle(.start(.silence, offer: SDP(offer)))
    #expect(await events.next() == .rang)
    guard case .answered(let answer?) = await events.next() else {
      Issue.record("not answered")
      return
    }
    try await caller.receivedAnswer(answer.text)
    // What a gateway waits for whose media had failed.
    #expect(await events.next() == .connected)

    // G.722 alone, which the server does not have.
    let lines = try await caller.makeOffer().split(separator: "\r\n").map { line in
      line.hasPrefix("m=audio ")
        ? line.split(separator: " ").prefix(3).joined(separator: " ") + " 9" : "\(line)"
    }
    peer.handle(.renegotiate(offer: SDP(lines.map { $0 + "\r\n" }.joined()), question: 7))
    #expect(await events.next() == .renegotiationRefused(question: 7))
    peer.handle(.takeAnswer("no description"))
    #expect(await events.next() == .answerRefused)
    // The next one is taken.
    peer.handle(.renegotiate(offer: SDP(try await caller.makeOffer()), question: 8))
    guard case .renegotiated(_, question: 8) = await events.next() else {
      Issue.record("not renegotiated")
      return
    }
    peer.handle(.stop)
    await caller.close()
  }

  /// One more call would take audio from those that are there.
  @Test func refusesACallWhileTheEngineIsOverloaded() async throws {
    let engine = MediaEngine(paths: nil)
    for thread in engine.threads { thread.overload.isPresent = true }
    let caller = engine.makeSession(.init()) { _ in }
    var (peer, events) = Self.peer(on: engine)
    peer.handle(.start(.silence, offer: SDP(try await caller.makeOffer())))
    #expect(await events.next() == .ended(.switchCongestion))
    peer.handle(.stop)
    await caller.close()
  }

  @Test func endsACallWhoseFirstOfferCannotBeTaken() async throws {
    var (peer, events) = Self.peer(on: MediaEngine(paths: nil))
    peer.handle(.start(.silence, offer: "no description"))
    #expect(await events.next() == .rang)
    #expect(await events.next() == .failed)
    peer.handle(.stop)
  }
}
