public import CallSignaling
public import Calls
import Synchronization
public import VoiceCore

/// Makes media peers without audio, whose descriptions look like real ones.
///
/// ```swift
/// let media = ScriptedMedia()
/// let client = TxClient(media: media, transport: gateway.transport)
/// …
/// media.peer(of: callID)?.report(.interrupted)
/// ```
public final class ScriptedMedia: MediaPeerFactory {
  /// What the peers do.
  public struct Script: Sendable {
    /// Whether audio flows as soon as both descriptions are there.
    public var connects = true
    /// Thrown in place of an offer.
    public var offerFailure: VoiceFailure?
    /// Thrown in place of an answer.
    public var answerFailure: VoiceFailure?
    /// Thrown when the other side's answer is applied.
    public var remoteFailure: VoiceFailure?
    /// Thrown in place of an offer with new candidates.
    public var restartFailure: VoiceFailure?

    /// Creates peers that work.
    public init() {}
  }

  private struct State {
    var script: Script
    var peers: [CallID: ScriptedMediaPeer] = [:]
    var made = 0
  }

  private let state: Mutex<State>

  /// Creates a factory.
  public init(_ script: Script = Script()) {
    self.state = Mutex(State(script: script))
  }

  /// What the peers do from now on.
  public var script: Script {
    get { self.state.withLock { $0.script } }
    set { self.state.withLock { $0.script = newValue } }
  }

  /// How many peers were made.
  public var made: Int { self.state.withLock { $0.made } }

  /// The newest peer of a call.
  public func peer(of id: CallID) -> ScriptedMediaPeer? { self.state.withLock { $0.peers[id] } }

  public var supportedCodecs: [TxCodecCapability] {
    [
      TxCodecCapability(mimeType: "audio/opus", clockRate: 48_000, channels: 2),
      TxCodecCapability(mimeType: "audio/PCMU", clockRate: 8_000),
      TxCodecCapability(mimeType: "audio/PCMA", clockRate: 8_000),
    ]
  }

  public func makePeer(_ setup: MediaPeerSetup) throws -> any MediaPeer {
    self.state.withLock { state in
      state.made += 1
      let peer = ScriptedMediaPeer(setup: setup, number: state.made) { [weak self] in self?.script ?? Script()
      }
      state.peers[setup.callID] = peer
      return peer
    }
  }
}

/// A media peer without audio; see ``ScriptedMedia``.
public final class ScriptedMediaPeer: MediaPeer {
  /// What the client asked of the peer.
  public enum Step: Hashable, Sendable {
    case madeOffer
    case madeAnswer(isReattach: Bool)
    case madeRestartOffer
    case appliedRemote(SDP, isFinal: Bool)
    case addedCandidate(MediaCandidate?)
    case muted(Bool)
    case stopped
  }

  private struct State {
    var steps: [Step] = []
    var version = 0
    var isConnected = false
  }

  private let setup: MediaPeerSetup
  private let number: Int
  private let script: @Sendable () -> ScriptedMedia.Script
  private let state = Mutex(State())

  init(setup: MediaPeerSetup, number: Int, script: @escaping @Sendable () -> ScriptedMedia.Script) {
    self.setup = setup
    self.number = number
    self.script = script
  }

  /// What the client asked so far.
  public var steps: [Step] { self.state.withLock { $0.steps } }

  /// Whether the microphone is muted.
  public var isMuted: Bool {
    self.steps.reduce(false) { isMuted, step in if case .muted(let now) = step { now } else { isMuted } }
  }

  /// Tells the client something.
  public func report(_ event: MediaPeerEvent) {
    self.setup.report(event)
  }

  public func makeOffer() async throws -> SDP {
    if let failure = self.script().offerFailure { throw failure }
    return self.describe(.madeOffer)
  }

  public func makeAnswer(to offer: SDP, isReattach: Bool) async throws -> SDP {
    if let failure = self.script().answerFailure { throw failure }
    defer { if self.script().connects { self.report(.connected) } }
    return self.describe(.madeAnswer(isReattach: isReattach))
  }

  public func makeRestartOffer() async throws -> SDP {
    if let failure = self.script().restartFailure { throw failure }
    return self.describe(.madeRestartOffer)
  }

  public func applyRemote(_ answer: SDP, isFinal: Bool) async throws {
    // Last, so that who sees the step knows that what it causes was reported.
    defer { self.state.withLock { $0.steps.append(.appliedRemote(answer, isFinal: isFinal)) } }
    if let failure = self.script().remoteFailure { throw failure }
    if isFinal, self.script().connects { self.report(.connected) }
  }

  /// Waits until the peer that made an offer has the answer; returns early if the task is cancelled.
  package func hasBothDescriptions() async {
    while !Task.isCancelled,
      !self.steps.contains(where: { if case .appliedRemote(_, isFinal: true) = $0 { true } else { false } })
    {
      await Task.yield()
    }
  }

  public func addRemoteCandidate(_ candidate: MediaCandidate?) async {
    self.state.withLock { $0.steps.append(.addedCandidate(candidate)) }
  }

  public func setMuted(_ isMuted: Bool) {
    self.state.withLock { $0.steps.append(.muted(isMuted)) }
  }

  public func stop() async {
    self.state.withLock { $0.steps.append(.stopped) }
  }

  private func describe(_ step: Step) -> SDP {
    let version = self.state.withLock { state in
      state.steps.append(step)
      state.version += 1
      return state.version
    }
    return .scripted(number: self.number, version: version)
  }
}

extension SDP {
  /// A description of an audio session as a browser makes it (RFC 8829 section 5.2), with addresses of the documentation.
  public static func scripted(number: Int, version: Int = 1) -> SDP {
    let port = 40_000 + number % 10_000
    let lines = [
      "v=0", "o=- \(1_000_000 + number) \(version) IN IP4 192.0.2.1", "s=-", "t=0 0", "a=group:BUNDLE 0",
      "m=audio \(port) UDP/TLS/RTP/SAVPF 111 0 8 101", "c=IN IP4 192.0.2.1", "a=rtcp:9 IN IP4 0.0.0.0",
      "a=candidate:1 1 udp 2122260223 192.0.2.1 \(port) typ host", "a=ice-ufrag:u\(number)v\(version)",
      "a=ice-pwd:scripted-password-of-peer-\(number)",
      "a=fingerprint:sha-256 " + Array(repeating: "AB", count: 32).joined(separator: ":"),
      "a=setup:actpass", "a=mid:0", "a=sendrecv", "a=rtcp-mux", "a=rtpmap:111 opus/48000/2",
      "a=fmtp:111 minptime=10;useinbandfec=1", "a=rtpmap:0 PCMU/8000", "a=rtpmap:8 PCMA/8000",
      "a=rtpmap:101 telephone-event/8000",
    ]
    return SDP(lines.joined(separator: "\r\n") + "\r\n")
  }
}
