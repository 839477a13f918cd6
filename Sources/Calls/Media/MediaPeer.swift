public import CallMedia
public import CallSignaling
public import RealtimeMedia
public import VoiceCore

/// The audio of one call: makes and takes session descriptions, and says whether audio flows.
///
/// The client calls the methods one after the other, never two at a time, and ``stop()`` exactly once and last;
/// ``setMuted(_:)`` may come at any time. What is thrown should be a ``VoiceFailure``; it ends the call with it.
public protocol MediaPeer: Sendable {
  /// Makes an offer for a new call.
  func makeOffer() async throws -> SDP

  /// Makes an answer to the other side's offer.
  ///
  /// - Parameter isReattach: Whether this takes up a call after an outage: the offer is of a new transport.
  func makeAnswer(to offer: SDP, isReattach: Bool) async throws -> SDP

  /// Makes an offer with new candidates for the same call (ICE restart).
  func makeRestartOffer() async throws -> SDP

  /// Applies the other side's answer; one that is not final is early media.
  func applyRemote(_ answer: SDP, isFinal: Bool) async throws

  /// Takes a candidate of the other side; `nil` says that there are no more.
  func addRemoteCandidate(_ candidate: MediaCandidate?) async

  /// Stops or resumes sending what the microphone hears.
  func setMuted(_ isMuted: Bool)

  /// Stops or resumes audio in both directions while the call is held.
  func setHeld(_ isHeld: Bool)

  /// What was measured, if the peer measures; `nil` before the call is connected.
  func statistics() async -> MediaStatistics?

  /// Ends audio and releases everything.
  func stop() async
}

extension MediaPeer {
  public func setHeld(_ isHeld: Bool) {}

  public func statistics() async -> MediaStatistics? { nil }
}

/// A candidate of a media transport, as a line (RFC 8839 section 5.1).
public struct MediaCandidate: Hashable, Sendable {
  /// The line, from `candidate:`.
  public var line: String
  /// The media section, by name.
  public var sdpMid: String?
  /// The media section, by number from 0.
  public var sdpMLineIndex: Int?

  /// Creates a value.
  public init(line: String, sdpMid: String? = "0", sdpMLineIndex: Int? = 0) {
    self.line = line
    self.sdpMid = sdpMid
    self.sdpMLineIndex = sdpMLineIndex
  }
}

/// What a media peer tells, at any time and on any thread.
public enum MediaPeerEvent: Sendable {
  /// Audio flows.
  case connected
  /// Audio stopped and may come back by itself.
  case interrupted
  /// Audio stopped for good, unless the transport is made anew.
  case failed
  /// A candidate to send to the other side; `nil` says that there are no more.
  case candidateFound(MediaCandidate?)
  /// A measurement.
  case measured(CallQualityMetrics)
  /// The quality became bad in one way, or recovered.
  case qualityChanged(CallQualityMonitor.Change)
  /// The other side pressed a key, in its audio.
  case keyPressed(Character)
  /// Something failed; what follows from it is told by itself.
  case warned(VoiceFailure)
}

/// What a media peer is made for.
public struct MediaPeerSetup: Sendable {
  /// The call.
  public var callID: CallID
  /// STUN and TURN servers.
  public var iceServers: [TxIceServer]
  /// Whether only relays are used.
  public var forcesRelay: Bool
  /// Whether candidates are told one by one.
  public var tricklesCandidates: Bool
  /// Where the peer takes what is said, and brings what it hears.
  public var audio: CallAudio
  /// The codecs that the caller would like best.
  public var preferredCodecs: [TxCodecCapability]
  /// Whether quality is measured.
  public var measuresQuality: Bool
  /// Takes what the peer tells; may be called on any thread.
  public var report: @Sendable (MediaPeerEvent) -> Void
}

/// Makes the media peers of a client's calls.
public protocol MediaPeerFactory: Sendable {
  /// The codecs that the peers speak.
  var supportedCodecs: [TxCodecCapability] { get }

  /// Makes a peer for a call.
  ///
  /// - Throws: ``VoiceFailure``; the call ends with it.
  func makePeer(_ setup: MediaPeerSetup) throws -> any MediaPeer
}
