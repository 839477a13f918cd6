import NIOCore
import NIOPosix
public import RealtimeMedia
public import VoiceCore

/// The media of one call: real WebRTC audio over the sockets of this machine.
///
/// ```swift
/// let session = engine.makeSession(.init()) { event in … }
/// let offer = try await session.makeOffer()
/// try await session.receivedAnswer(answer)
/// try await session.audio.play(greeting)
/// await session.close()
/// ```
///
/// Its methods may be called on any thread; what happens is told in order, on one thread of the engine.
public final class MediaSession: Sendable {
  /// How a session behaves.
  public struct Configuration: Sendable {
    /// A STUN or TURN server.
    public struct IceServer: Hashable, Sendable, CustomStringConvertible, CustomReflectable {
      /// Its address.
      public var address: IceServerAddress
      /// The user, for TURN.
      public var username: String
      /// The password, for TURN; never printed.
      public var password: String

      /// Creates a server.
      public init(_ address: IceServerAddress, username: String = "", password: String = "") {
        self.address = address
        self.username = username
        self.password = password
      }

      public var description: String { "\(self.address)" }
      public var customMirror: Mirror { Mirror(self, children: ["address": self.address]) }
    }

    /// STUN and TURN servers.
    public var iceServers: [IceServer] = []
    /// The connection: codecs, times, delays.
    public var connection = AudioConnection.Configuration()
    /// How long the names of servers are looked up; a call goes on without those that were not found by then.
    public var lookupTimeout = Duration.seconds(1)
    /// Whether candidates are told one by one instead of waiting for all of them before the first description.
    public var tricklesCandidates = false
    /// How long the first description waits for candidates when they are not told one by one.
    public var gatheringTimeout = Duration.seconds(2)
    /// How often statistics are told; `nil` for never.
    public var statisticsInterval: Duration? = .seconds(1)
    /// Whether relays are asked for IPv6 addresses (RFC 6156); IPv4 ones are reached by more peers.
    public var relaysIPv6 = false
    /// A file of certificates in PEM that relays over TLS may have, in place of the system's.
    public var trustRoots: String?

    /// Creates the default.
    public init() {}
  }

  /// What happened.
  public enum Event: Sendable {
    /// Audio can flow.
    case connected
    /// The way was lost and may come back by itself.
    case interrupted
    /// It ended, with the reason; an ICE restart may help.
    case failed(VoiceFailure)
    /// The other side ended the transport.
    case remoteClosed
    /// A candidate to tell the other side, from `candidate:`; `nil` says that there are no more.
    case candidateFound(String?)
    /// The other side pressed a key: 0–9, *, #, A–D.
    case keyPressed(Character)
    /// Something failed that ends nothing, such as a relay that refused the password.
    case warned(VoiceFailure)
    /// The quality became bad in one way, or recovered.
    case qualityChanged(CallQualityMonitor.Change)
    /// A measurement.
    case measured(MediaStatistics)
  }

  /// The audio in both directions.
  public let audio: CallAudio
  /// Kept because its threads end with it.
  private let engine: MediaEngine
  private let loop: any EventLoop
  private let core: NIOLoopBoundBox<SessionCore>

  init(
    engine: MediaEngine, thread: MediaThread, configuration: Configuration, audio: CallAudio,
    report: @escaping @Sendable (Event) -> Void
  ) {
    self.engine = engine
    self.loop = thread.loop
    self.audio = audio
    let random = engine.random()
    thread.join()
    self.core = NIOLoopBoundBox.makeBoxSendingValue(
      SessionCore(
        thread: thread, paths: engine.paths, lookup: engine.lookup,
        configuration: configuration, audio: audio, random: random, report: report),
      eventLoop: thread.loop)
    self.perform { $0.start() }
  }

  deinit {
    let core = self.core
    self.loop.execute { core.value.close() }
  }

  private func perform(_ body: @escaping @Sendable (SessionCore) -> Void) {
    let core = self.core
    self.loop.execute { body(core.value) }
  }

  private func ask<Value: Sendable>(
    _ body: @escaping @Sendable (SessionCore) throws -> Value
  ) async throws(VoiceFailure) -> Value {
    let core = self.core
    do {
      return try await self.loop.submit { try body(core.value) }.get()
    } catch {
      throw error as? VoiceFailure ?? VoiceFailure(.callMediaFailed, cause: error)
    }
  }

  private func gathered() async throws(VoiceFailure) {
    let core = self.core
    do {
      try await self.loop.flatSubmit { core.value.gathered }.get()
    } catch {
      throw error as? VoiceFailure ?? VoiceFailure(.callMediaFailed, cause: error)
    }
  }

  // MARK: Descriptions

  /// Makes an offer: the first one, or one that changes who sends (hold, resume) or restarts ICE.
  ///
  /// - Parameter direction: Who sends from now on, seen from this side; `nil` leaves it as it is.
  /// - Throws: ``VoiceFailure`` with a `call.media.*` code.
  public func makeOffer(
    _ direction: MediaDirection? = nil, restartingICE: Bool = false
  ) async throws(VoiceFailure) -> String {
    try await self.gathered()
    let offer = try await self.ask { try $0.makeOffer(direction, restartingICE: restartingICE) }
    guard restartingICE else { return offer }
    // Candidates of the new credentials: described again once they are found.
    try await self.gathered()
    return try await self.ask { try $0.repeatOffer() }
  }

  /// Takes the other side's offer and makes the answer.
  ///
  /// - Parameter isReattach: Whether this takes up a call after an outage, with what the other side said last; a session that
  ///   failed looks for a new way then, although nothing in the offer is new.
  /// - Throws: ``VoiceFailure`` with a `call.media.*` code.
  public func receivedOffer(
    _ offer: String, isReattach: Bool = false
  ) async throws(VoiceFailure) -> String {
    try await self.gathered()
    return try await self.ask { try $0.receivedOffer(offer, isReattach: isReattach) }
  }

  /// Takes the other side's answer; one that is not final is early media.
  ///
  /// - Throws: ``VoiceFailure`` with a `call.media.*` code.
  public func receivedAnswer(_ answer: String, isFinal: Bool = true) async throws(VoiceFailure) {
    try await self.ask { try $0.receivedAnswer(answer, isFinal: isFinal) }
  }

  /// Takes a candidate of the other side, from `candidate:`; `nil` says that there are no more.
  public func addRemoteCandidate(_ line: String?) {
    self.perform { $0.addRemoteCandidate(line) }
  }

  // MARK: In the call

  /// Sends silence instead of what is to be said, or not any more.
  public func setMuted(_ isMuted: Bool) {
    self.perform { $0.isMuted = isMuted }
  }

  /// Sends and plays nothing, or goes on.
  public func setHeld(_ isHeld: Bool) {
    self.perform { $0.isHeld = isHeld }
  }

  /// Presses keys (RFC 4733): 0–9, *, #, A–D.
  ///
  /// - Returns: Whether they will be sent; they are not if the other side does not know telephone events.
  public func press(_ keys: String) async -> Bool {
    let pressed = keys.compactMap { TelephoneEvent.Key($0) }
    guard pressed.count == keys.count else { return false }
    return (try? await self.ask { try $0.press(pressed) }) ?? false
  }

  /// What was measured since the beginning and in the last second.
  public func statistics() async -> MediaStatistics? {
    try? await self.ask { try $0.statistics() }
  }

  /// Says goodbye to the other side and releases everything; afterwards nothing is told.
  public func close() async {
    try? await self.ask { $0.close() }
  }
}
