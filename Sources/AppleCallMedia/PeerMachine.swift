import Calls
import RealtimeMedia
import VoiceCore

/// What becomes of what the framework's connection tells, and of what the client asks.
///
/// Three axes:
/// - **media**: *idle* (no pair of descriptions yet), *connecting*, *connected*, *interrupted* (may come back by itself),
///   *failed* (a new description can help);
/// - **negotiation**: *stable*, *offered* (this side's offer waits for its answer), *answeredEarly* (early media; the final
///   answer is to come);
/// - **life**: *open*, *stopped*, after which nothing is told.
///
/// Each new connection is a new generation; what older ones still tell counts for nothing.
struct PeerMachine {
  /// How long things may take: the framework itself waits without end for candidates that never come.
  struct Limits: Hashable, Sendable {
    /// For candidates, before a description is sent without the rest.
    var gathering = Duration.seconds(2)
    /// From both descriptions until audio flows.
    var connecting = Duration.seconds(20)
    /// For an interruption, until it counts as the end.
    var interruption = Duration.seconds(30)
    /// From one measurement to the next.
    var measuring = Duration.seconds(1)
  }

  enum Output: Sendable {
    case report(MediaPeerEvent)
    /// The description can be sent.
    case gathered
    case setAudio(sends: Bool, plays: Bool)
    case measure
  }

  enum Media: Hashable, Sendable {
    case idle
    case connecting(until: VoiceInstant)
    case connected
    case interrupted(until: VoiceInstant)
    case failed
  }

  enum Negotiation: Hashable, Sendable {
    case stable
    case offered(isRestart: Bool)
    case answeredEarly(isRestart: Bool)
  }

  let tricklesCandidates: Bool
  let measuresQuality: Bool
  let limits: Limits
  private(set) var generation = 0
  private(set) var isStopped = false
  var media = Media.idle
  var negotiation = Negotiation.stable
  var hasLocalDescription = false
  var hasRemoteDescription = false
  var lastAnswer: String?
  var remoteFragment: String?
  /// Candidates that came before the description that they belong to.
  var waiting: [MediaCandidate] = []
  var hasToldOfOverflow = false
  var gatheringUntil: VoiceInstant?
  private(set) var isMuted = false
  private(set) var isHeld = false
  private var ice = ConnectionEvent.IceState.new
  private(set) var hasBeenConnected = false
  private var failedServers: Set<String> = []
  var measuringAt: VoiceInstant?
  var isMeasuring = false
  var monitor = CallQualityMonitor()
  var window: CallQualityMonitor.Report?

  init(tricklesCandidates: Bool, measuresQuality: Bool, limits: Limits = Limits()) {
    self.tricklesCandidates = tricklesCandidates
    self.measuresQuality = measuresQuality
    self.limits = limits
  }

  /// When ``timePassed(at:)`` is due.
  var deadline: VoiceInstant? {
    guard !self.isStopped else { return nil }
    let media: VoiceInstant? =
      switch self.media {
      case .connecting(let until), .interrupted(let until): until
      case .idle, .connected, .failed: nil
      }
    return [media, self.gatheringUntil, self.measuringAt].compactMap { $0 }.min()
  }

  // MARK: Life

  /// A connection was made; it takes the place of the one before.
  ///
  /// - Returns: Its generation.
  mutating func connectionMade() -> Int {
    self.generation += 1
    self.media = .idle
    self.negotiation = .stable
    self.hasLocalDescription = false
    self.hasRemoteDescription = false
    self.lastAnswer = nil
    self.remoteFragment = nil
    self.waiting = []
    self.gatheringUntil = nil
    self.ice = .new
    self.hasBeenConnected = false
    self.failedServers = []
    self.measuringAt = nil
    // Counters begin anew, and warnings with them.
    self.monitor = CallQualityMonitor()
    self.window = nil
    return self.generation
  }

  /// - Returns: Whether this was the first time.
  mutating func stopped() -> Bool {
    defer { self.isStopped = true }
    return !self.isStopped
  }

  mutating func muted(_ isMuted: Bool) -> [Output] {
    self.isMuted = isMuted
    return self.audio
  }

  mutating func held(_ isHeld: Bool) -> [Output] {
    self.isHeld = isHeld
    return self.audio
  }

  /// Hold is agreed on in signalling; here it stops both directions without a new description.
  var audio: [Output] {
    self.isStopped ? [] : [.setAudio(sends: !self.isMuted && !self.isHeld, plays: !self.isHeld)]
  }

  // MARK: What the connection tells

  mutating func happened(
    _ event: ConnectionEvent, generation: Int, at now: VoiceInstant
  ) -> [Output] {
    guard generation == self.generation, !self.isStopped else { return [] }
    switch event {
    case .stateChanged(let state): return self.stateChanged(state, at: now)
    case .iceStateChanged(let state):
      self.ice = state
      return []
    case .candidateFound(let candidate):
      return self.tricklesCandidates ? [.report(.candidateFound(candidate))] : []
    case .gatheringEnded:
      let isAwaited = self.gatheringUntil != nil
      self.gatheringUntil = nil
      return (isAwaited ? [.gathered] : [])
        + (self.tricklesCandidates ? [.report(.candidateFound(nil))] : [])
    case .serverFailed(let url, let code):
      // Told for every network of the device.
      guard self.failedServers.insert(url).inserted else { return [] }
      let failure = VoiceFailure(.callRelayFailed, message: "\(url) gives no address (error \(code)).")
      return [.report(.warned(failure))]
    }
  }

  private mutating func stateChanged(
    _ state: ConnectionEvent.State, at now: VoiceInstant
  ) -> [Output] {
    switch state {
    case .new, .connecting: return []
    case .connected: return self.connected(at: now)
    case .disconnected:
      switch self.media {
      case .connected:
        self.media = .interrupted(until: now.advanced(by: self.limits.interruption))
        return [.report(.interrupted)]
      case .idle, .connecting, .interrupted, .failed: return []
      }
    case .failed:
      // The handshake begins when there is a way, so without a failure of ICE it is the handshake that failed. Later on the
      // certificate is known, and a failure is a lost way.
      let hasWay = self.ice == .connected || self.ice == .completed
      return self.failed(
        VoiceFailure(hasWay && !self.hasBeenConnected ? .callMediaInsecure : .callMediaUnreachable))
    case .closed:
      return self.failed(VoiceFailure(.callMediaFailed, message: "The framework closed the connection."))
    }
  }

  private mutating func connected(at now: VoiceInstant) -> [Output] {
    let wasConnected = self.media == .connected
    self.media = .connected
    self.hasBeenConnected = true
    if self.measuresQuality, self.measuringAt == nil, !self.isMeasuring {
      self.measuringAt = now.advanced(by: self.limits.measuring)
    }
    return wasConnected ? [] : [.report(.connected)]
  }

  private mutating func failed(_ failure: VoiceFailure) -> [Output] {
    switch self.media {
    case .failed: return []
    case .idle, .connecting, .connected, .interrupted:
      self.media = .failed
      self.measuringAt = nil
      return [.report(.warned(failure)), .report(.failed)]
    }
  }

  // MARK: Time

  mutating func timePassed(at now: VoiceInstant) -> [Output] {
    guard !self.isStopped else { return [] }
    var outputs: [Output] = []
    if let until = self.gatheringUntil, now >= until {
      self.gatheringUntil = nil
      outputs.append(.gathered)
    }
    switch self.media {
    case .connecting(let until) where now >= until, .interrupted(let until) where now >= until:
      outputs += self.failed(VoiceFailure(.callMediaUnreachable))
    case .idle, .connecting, .connected, .interrupted, .failed: break
    }
    if let due = self.measuringAt, now >= due {
      self.measuringAt = nil
      self.isMeasuring = true
      outputs.append(.measure)
    }
    return outputs
  }
}
