public import VoiceCore

/// The audio of one call over WebRTC: descriptions, ICE, DTLS, SRTP, RTP and sound, without sockets and without a clock.
///
/// Who owns it opens sockets, hands in what they receive, asks for what to do next, and wakes it in time:
///
/// ```swift
/// let connection = try AudioConnection(configuration: .init())
/// connection.addSocket(id, local: address, at: clock.now)
/// let offer = try connection.makeOffer(at: clock.now)
/// …
/// connection.received(datagram, on: id, from: peer, at: clock.now)
/// while let output = connection.poll() { perform(output) }
/// sleep(until: connection.nextWake)
/// ```
///
/// Three parts have states of their own, and ``State`` is computed from them by one function:
///
/// - **agreement**: none, *provisional* (an answer that a later one may replace), *final*; see ``AudioNegotiator``.
/// - **way**: the states of ``ICEAgent``.
/// - **keys**: *waiting* (for the other side's fingerprint), *ready* (there is no way yet), *handshaking*, *paused* (the way is
///   lost, so no time counts until there is one again), *secured*, *failed*, *closed* (the other side said goodbye). The first
///   flight of the other side may come while this one is waiting or ready; it is kept. A new fingerprint of either side begins
///   the handshake anew, and a restart of ICE after *failed* or *closed* brings a new certificate, and so a new fingerprint.
///
/// What is agreed on takes effect as a whole: an offer without an answer, or one that is refused, leaves all of them as they are.
///
/// Not `Sendable`: one thread at a time.
public final class AudioConnection {
  /// How a connection behaves.
  public struct Configuration: Sendable {
    /// The way: STUN and TURN servers, times.
    public var ice: ICEAgent.Configuration
    /// What is offered and accepted.
    public var audio: AudioNegotiator.Options
    /// How long both sides may take from the first agreement until audio can flow.
    public var connectTimeout: Duration
    /// How long the handshake may take once there is a way.
    public var handshakeTimeout: Duration
    /// How to encode.
    public var sending: AudioSender.Options
    /// How to receive.
    public var receiving: AudioReceiver.Options

    /// Creates a configuration.
    public init(
      ice: ICEAgent.Configuration = .init(), audio: AudioNegotiator.Options = .init(),
      connectTimeout: Duration = .seconds(20), handshakeTimeout: Duration = .seconds(10),
      sending: AudioSender.Options = .init(), receiving: AudioReceiver.Options = .init()
    ) {
      self.ice = ice
      self.audio = audio
      self.connectTimeout = connectTimeout
      self.handshakeTimeout = handshakeTimeout
      self.sending = sending
      self.receiving = receiving
    }
  }

  /// What is known of the connection as a whole.
  public enum State: Hashable, Sendable {
    /// There is no agreement yet.
    case new
    /// There is an agreement; a way or the keys are missing.
    case connecting
    /// Audio can flow.
    case connected
    /// The way was lost and may come back by itself.
    case interrupted
    /// It ended; only a new offer can help (an ICE restart if the way failed).
    case failed
    /// This side closed it.
    case closed
  }

  /// What happened.
  public enum Event: Hashable, Sendable {
    case stateChanged(State)
    /// A candidate to tell the other side.
    case candidateFound(ICECandidate)
    /// No more candidates come.
    case gatheringEnded
    /// The other side ended the transport; the call is over or will be made anew.
    case remoteClosed
    /// The other side pressed a key.
    case keyPressed(TelephoneEvent.Key)
    /// Something to know that ends nothing.
    case warned(ICEWarning)
    /// What comes cannot be decoded, so silence is heard; the call goes on, and the other direction is good.
    case decodingFailed(VoiceFailure)
    /// Nothing comes from the other side for some seconds, though the way is good and it has agreed to send; the call goes on.
    case mediaMissing
    /// The quality became bad in one way, or recovered.
    case qualityChanged(CallQualityMonitor.Change)
    /// Why ``State/failed``.
    case failed(VoiceFailure)
  }

  /// What to do.
  public enum Output: Hashable, Sendable {
    case send([UInt8], on: ICEAgent.SocketID, to: TransportAddress)
    case openStream(ICEAgent.StreamID, ICEAgent.Server)
    case sendStream([UInt8], ICEAgent.StreamID)
    case closeStream(ICEAgent.StreamID)
    case tell(Event)
  }

  enum Keys {
    case waiting(early: [[UInt8]])
    case ready(any DTLSHandshaking, early: [[UInt8]])
    case handshaking(any DTLSHandshaking, until: VoiceInstant)
    case paused(any DTLSHandshaking)
    case secured(any DTLSHandshaking, SRTPContext)
    case failed
    case closed
  }

  /// What the transport was last set up for, to tell what an agreement changes.
  struct Applied: Hashable {
    var userFragment: String
    var password: String
    var fingerprints: Set<CertificateFingerprint>
    var role: NegotiatedAudio.DTLSRole
    /// The fingerprint of this side's certificate.
    var own: CertificateFingerprint
  }

  /// Makes the handshake; tests put a model in its place.
  public typealias HandshakeFactory =
    (DTLSCertificate, NegotiatedAudio.DTLSRole, [CertificateFingerprint]) throws(DTLSError) ->
    any DTLSHandshaking

  /// The handshake with OpenSSL.
  public static func openSSL(
    _ certificate: DTLSCertificate, _ role: NegotiatedAudio.DTLSRole, _ fingerprints: [CertificateFingerprint]
  ) throws(DTLSError) -> any DTLSHandshaking {
    try DTLSConnection(certificate: certificate, role: role, remoteFingerprints: fingerprints)
  }

  /// Handshake datagrams that come before the answer are kept up to so many: one flight has at most four.
  static let earlyHandshakeLimit = 8

  let configuration: Configuration
  var certificate: DTLSCertificate
  /// The one of the last own offer, which counts from its answer on.
  var offeredCertificate: DTLSCertificate?
  let makeHandshake: HandshakeFactory
  var random: any RandomNumberGenerator & Sendable
  var negotiator: AudioNegotiator
  /// The state before a provisional answer, to which the final one belongs.
  var negotiatorBeforeAnswer: AudioNegotiator?
  /// What is wanted; what was agreed on may be less.
  var direction = MediaDirection.sendAndReceive
  var ice: ICEAgent
  var keys = Keys.waiting(early: [])
  var applied: Applied?
  var connectDeadline: VoiceInstant?
  /// Both sides have new credentials, and the way is still the old one.
  var awaitsNewWay = false
  var hasBeenConnected = false
  var isClosed = false
  var failure: VoiceFailure?
  var told = State.new
  var unwrapped: [(datagram: [UInt8], isFromKnownAddress: Bool)] = []
  var outputs: [Output] = []
  var nextOutput = 0
  let ssrc: UInt32
  /// There is a sender from the first agreement on, which says what to send.
  var sender: AudioSender?
  let receiver: AudioReceiver
  let cname: String
  /// There are reports once there are keys.
  var reports: RTCPSchedule?
  var lossExpectation = LossExpectation()
  var quality = CallQualityMonitor()
  var window: CallQualityMonitor.Report?
  /// Tells by the silence of the other side that the way may be broken.
  var silence = SilenceWatch()
  var packetsRefused = 0
  var packetsNotProtected = 0
  var report: [UInt8] = []
  /// The packet being made; kept so that its storage is used again.
  var packet: [UInt8] = []

  /// Creates a connection without sockets.
  ///
  /// - Parameters:
  ///   - certificate: By default a new one, so that calls cannot be told to come from the same program.
  ///   - random: The source of credentials, identifiers and jitter.
  /// - Throws: ``VoiceFailure`` `call.media.failed` if the certificate cannot be made.
  public init(
    configuration: Configuration, certificate: DTLSCertificate? = nil,
    random: any RandomNumberGenerator & Sendable = SystemRandomNumberGenerator(),
    makeHandshake: @escaping HandshakeFactory = AudioConnection.openSSL
  ) throws(VoiceFailure) {
    self.configuration = configuration
    do {
      self.certificate = try certificate ?? DTLSCertificate.make()
    } catch {
      throw VoiceFailure(.callMediaFailed, message: "A certificate could not be made.", cause: error)
    }
    self.makeHandshake = makeHandshake
    var random = random
    let ssrc = UInt32.random(in: 1...UInt32.max, using: &random)
    let name = Self.word(16, &random)
    self.negotiator = AudioNegotiator(
      options: configuration.audio, source: .init(ssrc: ssrc, cname: name, track: Self.word(16, &random)),
      sessionID: UInt64.random(in: 1...UInt64.max, using: &random))
    self.ice = ICEAgent(
      configuration: configuration.ice, role: .controlling, random: random)
    // A generator that is a value would give the agent's numbers again.
    _ = random.next()
    self.ssrc = ssrc
    self.receiver = AudioReceiver(codecs: [], options: configuration.receiving)
    self.cname = name
    self.random = random
  }

  private static func word(_ length: Int, _ random: inout any RandomNumberGenerator & Sendable) -> String {
    let letters = Array("abcdefghijklmnopqrstuvwxyz0123456789")
    return String((0..<length).map { _ in letters[Int.random(in: 0..<letters.count, using: &random)] })
  }

  // MARK: State

  /// What is known as a whole.
  public var state: State {
    if self.isClosed { return .closed }
    if self.failure != nil { return .failed }
    guard self.negotiator.agreed != nil else { return .new }
    let isSecured: Bool
    switch self.keys {
    case .secured: isSecured = true
    case .waiting, .ready, .handshaking, .paused: isSecured = false
    case .failed, .closed: return .failed
    }
    switch self.ice.state {
    case .failed: return .failed
    case .connected, .completed: return isSecured ? .connected : .connecting
    case .disconnected: return self.hasBeenConnected ? .interrupted : .connecting
    case .new, .checking, .closed: return self.hasBeenConnected ? .interrupted : .connecting
    }
  }

  /// What both sides agreed on last.
  public var agreed: NegotiatedAudio? { self.negotiator.agreed }

  /// Whether the candidates of the present credentials are all there.
  public var hasAllCandidates: Bool { self.ice.gatheringHasEnded }

  /// The pair of addresses in use, if any.
  public var selectedPair: ICEAgent.CandidatePair? { self.ice.selectedPair }

  /// The next thing to do; call it until there is none.
  public func poll() -> Output? {
    if self.nextOutput >= self.outputs.count {
      self.outputs.removeAll(keepingCapacity: true)
      self.nextOutput = 0
      self.drain()
    }
    guard self.nextOutput < self.outputs.count else { return nil }
    defer { self.nextOutput += 1 }
    return self.outputs[self.nextOutput]
  }

  func tell(_ event: Event) { self.outputs.append(.tell(event)) }

  /// Tells the state if it is another one.
  func tellState() {
    let state = self.state
    if state == .connected { self.hasBeenConnected = true }
    guard state != self.told else { return }
    self.told = state
    self.tell(.stateChanged(state))
  }

  func fail(_ failure: VoiceFailure) {
    guard self.failure == nil, !self.isClosed else { return }
    self.failure = failure
    self.tell(.failed(failure))
    self.tellState()
  }
}
