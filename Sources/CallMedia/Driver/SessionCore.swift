import NIOCore
import NIOPosix
import NIOSSL
import RealtimeMedia
import VoiceCore
import VoicePlatform

/// Owns the sockets and the timer of one connection, and performs what it asks for. Confined to the loop of its thread.
///
/// States: *opening* (see ``SessionOpening``), *open*, *closed*. Everything that comes in ends with ``pump()``.
final class SessionCore: PacedMember {
  typealias Report = @Sendable (MediaSession.Event) -> Void

  private let thread: MediaThread
  let configuration: MediaSession.Configuration
  let audio: CallAudio
  let paths: (any NetworkPathMonitor)?
  let lookup: HostLookup
  private let report: Report
  private let clock = MonotonicClock()
  private let random: any RandomNumberGenerator & Sendable
  private var opening: SessionOpening?
  private(set) var connection: AudioConnection?
  private var failure: VoiceFailure?
  var sockets: [ICEAgent.SocketID: MediaSocket] = [:]
  var addresses: [IPAddress: ICEAgent.SocketID] = [:]
  var streams: [ICEAgent.StreamID: RelayStream] = [:]
  /// Where streams lead, and why those that failed last did.
  var streamServers: [ICEAgent.StreamID: TransportAddress] = [:]
  var streamErrors: [TransportAddress: any Error] = [:]
  var relayTLSContext: EventLoopFuture<NIOSSLContext>?
  var nextSocket = 0
  var pathTask: Task<Void, Never>?
  var hasBoundFirst = false
  /// A change of the network that came before the first sockets were bound.
  var earlyPath: NetworkPath?
  private var timer: Scheduled<Void>?
  private var timerDeadline: VoiceInstant?
  private var gathering: [EventLoopPromise<Void>] = []
  /// What the pacer had left out when this session was added to it; `nil` before.
  private var skippedBefore: Int?
  private(set) var isClosed = false
  private var isPumping = false
  private var ticks = 0
  private var outgoing: [Int16] = []
  private var incoming: [Int16] = []
  private var datagrams = DatagramRing()
  var isMuted = false
  var isHeld = false

  init(
    thread: MediaThread, paths: (any NetworkPathMonitor)?, lookup: @escaping HostLookup,
    configuration: MediaSession.Configuration, audio: CallAudio,
    random: any RandomNumberGenerator & Sendable,
    report: @escaping Report
  ) {
    self.thread = thread
    self.paths = paths
    self.lookup = lookup
    self.configuration = configuration
    self.audio = audio
    self.random = random
    self.report = report
  }

  var loop: any EventLoop { self.thread.loop }
  var now: VoiceInstant { self.clock.now }

  // MARK: Beginning and end

  func start() {
    // The first description is not to wait for a resolver alone.
    let timeout = min(self.configuration.lookupTimeout, self.configuration.gatheringTimeout)
    self.opening = SessionOpening(
      servers: self.configuration.iceServers.count, timeout: timeout, at: self.now)
    // Before the present addresses are taken, so that no change is lost between the two.
    self.followPaths()
    self.bindFirst()
    self.lookUpServers()
    self.loop.assumeIsolated().scheduleTask(in: TimeAmount(timeout)) { [weak self] in
      guard let self else { return }
      // The loop's clock may be a little ahead of ours.
      self.open { $0.timePassed(at: max(self.now, $0.deadline)) }
    }
  }

  /// Steps the opening, and begins the connection when it says so.
  func open(_ step: (inout SessionOpening) -> SessionOpening.Beginning?) {
    guard !self.isClosed, var opening = self.opening else { return }
    let beginning = step(&opening)
    self.opening = opening
    guard let beginning else { return }
    let servers = self.configuration.iceServers
    for number in beginning.late {
      self.warnOfLookup(servers[number].address.host, "cannot be looked up in time", cause: nil)
    }
    var connection = self.configuration.connection
    connection.ice.servers = servers.indices.compactMap { number in
      beginning.found[number].flatMap {
        servers[number].resolved($0, relaysIPv6: self.configuration.relaysIPv6)
      }
    }
    do throws(VoiceFailure) {
      self.begin(try AudioConnection(configuration: connection, random: self.random))
    } catch {
      self.fail(error)
    }
  }

  private func begin(_ connection: AudioConnection) {
    self.connection = connection
    if !self.sockets.isEmpty { self.failure = nil }
    for (id, socket) in self.sockets.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
      if let local = socket.local { connection.addSocket(id, local: local, at: self.now) }
    }
    connection.socketsAdded(at: self.now)
    self.pump()
    self.checkGathered()
  }

  /// There is a socket at last, where none could be bound before.
  func socketBound() {
    guard self.connection != nil else { return }
    self.failure = nil
  }

  func fail(_ failure: VoiceFailure) {
    self.failure = failure
    self.tell(.failed(failure))
    self.tellGathered()
  }

  func tell(_ event: MediaSession.Event) {
    guard !self.isClosed else { return }
    self.report(event)
  }

  func close() {
    guard !self.isClosed else { return }
    self.connection?.close(at: self.now)
    self.isClosed = true
    self.thread.leave()
    self.pump()
    self.pathTask?.cancel()
    self.timer?.cancel()
    if self.skippedBefore != nil { self.thread.pacer.value.remove(self) }
    for socket in self.sockets.values { socket.close() }
    for stream in self.streams.values { stream.close() }
    self.sockets = [:]
    self.streams = [:]
    self.tellGathered()
    self.audio.end()
  }

  // MARK: Gathering

  /// When a description can be made: all candidates are there, or as many as are told one by one later, or time is up.
  var gathered: EventLoopFuture<Void> {
    let promise = self.loop.makePromise(of: Void.self)
    self.gathering.append(promise)
    self.loop.assumeIsolated().scheduleTask(in: TimeAmount(self.configuration.gatheringTimeout)) {
      promise.succeed()
    }
    self.checkGathered()
    return promise.futureResult
  }

  func checkGathered() {
    let isReady =
      self.failure != nil || self.isClosed
      || (self.configuration.tricklesCandidates
        ? self.connection != nil : self.connection?.hasAllCandidates ?? false)
    if isReady { self.tellGathered() }
  }

  private func tellGathered() {
    let promises = self.gathering
    self.gathering = []
    for promise in promises { promise.succeed() }
  }

  // MARK: Descriptions

  private func opened() throws(VoiceFailure) -> AudioConnection {
    if let failure = self.failure { throw failure }
    guard !self.isClosed else {
      throw VoiceFailure(.callNotFound, message: "The media of the call has ended.")
    }
    guard let connection = self.connection else {
      throw VoiceFailure(.callMediaFailed, message: "The sockets for media could not be bound in time.")
    }
    return connection
  }

  func makeOffer(_ direction: MediaDirection?, restartingICE: Bool) throws(VoiceFailure) -> String {
    defer { self.pump() }
    return try self.opened().makeOffer(direction, restartingICE: restartingICE, at: self.now)
  }

  func repeatOffer() throws(VoiceFailure) -> String {
    defer { self.pump() }
    return try self.opened().repeatOffer()
  }

  func receivedOffer(_ offer: String, isReattach: Bool) throws(VoiceFailure) -> String {
    defer { self.pump() }
    return try self.opened().receivedOffer(
      offer, isReattach: isReattach, at: self.now)
  }

  func receivedAnswer(_ answer: String, isFinal: Bool) throws(VoiceFailure) {
    defer { self.pump() }
    try self.opened().receivedAnswer(answer, isFinal: isFinal, at: self.now)
  }

  func addRemoteCandidate(_ line: String?) {
    self.connection?.addRemoteCandidate(line, at: self.now)
    self.pump()
  }

  func press(_ keys: [TelephoneEvent.Key]) throws(VoiceFailure) -> Bool {
    try self.opened().press(keys)
  }

  func statistics() throws(VoiceFailure) -> MediaStatistics {
    self.completed(try self.opened().statistics)
  }

  /// Adds what only the driver knows.
  private func completed(_ statistics: MediaStatistics) -> MediaStatistics {
    var statistics = statistics
    statistics.liveSamplesDropped = self.audio.liveSamplesDropped
    if let skippedBefore = self.skippedBefore {
      statistics.stepsSkipped = self.thread.pacer.value.skipped - skippedBefore
    }
    return statistics
  }

  // MARK: What comes in

  func received(
    _ buffer: ByteBuffer, on id: ICEAgent.SocketID, from remote: TransportAddress
  ) {
    guard let connection = self.connection, !self.isClosed else { return }
    let now = self.now
    self.datagrams.take(buffer) { connection.received(&$0, on: id, from: remote, at: now) }
    self.pump()
  }

  /// Sends and plays 20 ms.
  func tick() {
    guard let connection = self.connection, !self.isClosed else { return }
    let now = self.now
    let isHeard =
      connection.state == .connected && !self.isHeld && connection.agreed?.direction.sends ?? false
    let hasAudio = self.audio.takeFrame(into: &self.outgoing, isHeard: isHeard)
    let frame = hasAudio && !self.isMuted && !self.isHeld ? self.outgoing[...] : nil
    connection.sendAudio(frame, at: now) { packet, path in
      guard case .direct(let id, let remote) = path else { return }
      self.sockets[id]?.send(packet, to: remote)
    }
    let concealed = connection.readAudio(960, into: &self.incoming, at: now)
    if self.isHeld { for index in self.incoming.indices { self.incoming[index] = 0 } }
    if self.audio.hasReaders {
      self.audio.deliver(self.incoming, concealed: concealed)
    } else {
      self.audio.skip(self.incoming.count)
    }
    self.tellStatistics(connection, at: now)
    self.pump()
  }

  func skip(_ steps: Int) {
    guard !self.isClosed else { return }
    self.connection?.skipAudio(.milliseconds(20) * steps)
  }

  /// The thread has more to do than it can.
  func overloaded() {
    self.tell(
      .warned(
        VoiceFailure(.callMediaOverloaded, message: "The thread that carries this call cannot keep up.")))
  }

  private func tellStatistics(_ connection: AudioConnection, at now: VoiceInstant) {
    guard let interval = self.configuration.statisticsInterval else { return }
    self.ticks += 1
    guard Duration.milliseconds(20) * self.ticks >= interval else { return }
    self.ticks = 0
    connection.measure(isMuted: self.isMuted || self.isHeld, at: now)
    self.tell(.measured(self.completed(connection.statistics)))
  }

  // MARK: What goes out

  func pump() {
    // Sending may fail at once and come back here.
    guard let connection = self.connection, !self.isPumping else { return }
    self.isPumping = true
    defer { self.isPumping = false }
    while let output = connection.poll() {
      switch output {
      case .send(let datagram, let id, let remote): self.sockets[id]?.send(datagram, to: remote)
      case .openStream(let id, let server): self.openStream(id, to: server)
      case .sendStream(let bytes, let id): self.streams[id]?.send(bytes)
      case .closeStream(let id):
        self.streamServers[id] = nil
        self.streams.removeValue(forKey: id)?.close()
      case .tell(let event): self.tell(event, of: connection)
      }
    }
    if !self.isClosed { self.schedule(connection.nextWake(at: self.now)) }
  }

  private func tell(_ event: AudioConnection.Event, of connection: AudioConnection) {
    switch event {
    case .stateChanged(let state): self.stateChanged(state)
    case .candidateFound(let candidate):
      if self.configuration.tricklesCandidates { self.tell(.candidateFound(candidate.text)) }
    case .gatheringEnded:
      if self.configuration.tricklesCandidates { self.tell(.candidateFound(nil)) }
      self.checkGathered()
    case .remoteClosed: self.tell(.remoteClosed)
    case .keyPressed(let key): self.tell(.keyPressed(key.character))
    case .warned(.onlyHostCandidates) where self.configuration.iceServers.isEmpty: break
    case .warned(let warning): self.tell(.warned(self.failure(for: warning)))
    case .mediaMissing: self.tell(.warned(VoiceFailure(.callMediaSilent)))
    case .decodingFailed(let failure): self.tell(.warned(failure))
    case .qualityChanged(let change): self.tell(.qualityChanged(change))
    case .failed(let failure): self.tell(.failed(failure))
    }
  }

  private func stateChanged(_ state: AudioConnection.State) {
    switch state {
    case .connected:
      self.tell(.connected)
      guard self.skippedBefore == nil else { return }
      self.skippedBefore = self.thread.pacer.value.skipped
      self.thread.pacer.value.add(self)
    case .interrupted: self.tell(.interrupted)
    case .new, .connecting, .failed, .closed: break
    }
  }

  private func schedule(_ deadline: VoiceInstant?) {
    guard deadline != self.timerDeadline else { return }
    self.timer?.cancel()
    self.timerDeadline = deadline
    guard let deadline else { return }
    let delay = max(.zero, self.now.duration(to: deadline))
    self.timer = self.loop.assumeIsolated().scheduleTask(in: TimeAmount(delay)) {
      self.timerDeadline = nil
      guard !self.isClosed else { return }
      self.connection?.timePassed(at: self.now)
      self.pump()
    }
  }
}
