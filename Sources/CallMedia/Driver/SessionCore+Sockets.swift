import NIOCore
import NIOPosix
import NIOSSL
import RealtimeMedia
import VoiceCore
import VoicePlatform

extension SessionCore {
  // MARK: Servers

  /// Looks up all servers at once; one that is not found is told and left out.
  func lookUpServers() {
    for (number, server) in self.configuration.iceServers.enumerated() {
      let found = server.address.resolve(on: self.loop, with: self.lookup).assumeIsolated()
      found.whenComplete { [weak self] result in
        guard let self else { return }
        switch result {
        case .success(let addresses): self.open { $0.lookedUp(number, addresses) }
        case .failure(let error):
          // One that was given up was told already.
          if self.connection == nil {
            self.warnOfLookup(server.address.host, "cannot be looked up", cause: error)
          }
          self.open { $0.lookedUp(number, []) }
        }
      }
    }
  }

  func warnOfLookup(_ host: String, _ what: String, cause: (any Error)?) {
    self.tell(
      .warned(VoiceFailure(.callRelayFailed, message: "The host “\(host)” \(what).", cause: cause)))
  }

  // MARK: Sockets

  /// Binds a socket to each address that there is now.
  func bindFirst() {
    let path = self.paths?.currentPath.map { Self.addresses(of: $0) } ?? []
    let addresses = path.isEmpty ? LocalAddresses.current() : LocalAddresses.usable(path)
    let bindings = addresses.map { self.bind($0) }
    EventLoopFuture.andAllComplete(bindings, on: self.loop).assumeIsolated().whenComplete { _ in
      guard !self.isClosed else { return }
      if self.sockets.isEmpty {
        self.fail(
          VoiceFailure(
            .callMediaFailed, message: "This machine has no network address that a socket can be bound to."))
      }
      self.hasBoundFirst = true
      self.open { $0.bound() }
      guard let path = self.earlyPath else { return }
      self.earlyPath = nil
      self.pathChanged(path)
    }
  }

  private static func addresses(of path: NetworkPath) -> [IPAddress] {
    path.interfaces.flatMap(\.addresses).compactMap { IPAddress($0) }
  }

  private func bind(_ address: IPAddress) -> EventLoopFuture<Void> {
    self.nextSocket += 1
    let id = ICEAgent.SocketID(rawValue: self.nextSocket)
    self.addresses[address] = id
    guard let local = TransportAddress(address, port: 0).socketAddress else {
      return self.loop.makeSucceededVoidFuture()
    }
    let bound = MediaSocket.bind(local, on: self.loop) { [weak self] in SocketHandler(id: id, core: self) }
    return bound.assumeIsolated().map { socket in
      guard !self.isClosed, self.addresses[address] == id, let bound = socket.local
      else { return socket.close() }
      self.sockets[id] = socket
      self.socketBound()
      self.connection?.addSocket(id, local: bound, at: self.now)
      self.pump()
    }.flatMapErrorThrowing { error in
      guard !self.isClosed, self.addresses[address] == id else { return }
      // Bound again when the path next changes: an IPv6 address that is new cannot be used for a moment.
      self.addresses[address] = nil
      self.tell(
        .warned(
          VoiceFailure(
            .callMediaFailed, message: "No socket could be bound to one of this machine's addresses.",
            cause: error)))
    }.nonisolated()
  }

  /// A socket that the system took away; its address is bound again when the path next changes.
  func socketClosed(_ id: ICEAgent.SocketID) {
    guard !self.isClosed, self.sockets.removeValue(forKey: id) != nil else { return }
    self.addresses = self.addresses.filter { $0.value != id }
    self.connection?.removeSocket(id, at: self.now)
    self.pump()
  }

  // MARK: Paths

  /// Follows the machine's addresses: the stream of changes has no end of its own, so it has a task until the session ends.
  func followPaths() {
    guard let paths = self.paths else { return }
    let box = NIOLoopBound(WeakCore(self), eventLoop: self.loop)
    let loop = self.loop
    let changes = paths.changes()
    self.pathTask = Task {
      for await path in changes {
        loop.execute { box.value.core?.pathChanged(path) }
      }
    }
  }

  private func pathChanged(_ path: NetworkPath) {
    guard !self.isClosed else { return }
    guard self.hasBoundFirst else {
      self.earlyPath = path
      return
    }
    let now = Set(LocalAddresses.usable(Self.addresses(of: path)))
    // A machine without a network keeps its sockets: the addresses usually come back.
    guard !now.isEmpty else { return }
    for (address, id) in self.addresses where !now.contains(address) {
      self.addresses[address] = nil
      self.sockets.removeValue(forKey: id)?.close()
      self.connection?.removeSocket(id, at: self.now)
    }
    for address in now where self.addresses[address] == nil { _ = self.bind(address) }
    self.connection?.checkNow(at: self.now)
    self.pump()
  }

  // MARK: Relays over streams

  func openStream(_ id: ICEAgent.StreamID, to server: ICEAgent.Server) {
    guard let address = server.address.socketAddress else { return }
    let stream = RelayStream(id: id)
    self.streams[id] = stream
    self.streamServers[id] = server.address
    guard server.transport == .tls else { return stream.open(address, tls: nil, on: self.loop, core: self) }
    self.relayTLS().assumeIsolated().whenComplete { [weak self] result in
      // It may have been given up meanwhile.
      guard let self, self.streams[id] != nil else { return }
      switch result {
      case .success(let context):
        let name = server.tlsName ?? server.address.ip.description
        stream.open(address, tls: (name, context), on: self.loop, core: self)
      case .failure(let error): self.streamClosed(id, error)
      }
    }
  }

  /// How certificates of relays are checked; made once, on another thread, because it reads the authorities from files.
  private func relayTLS() -> EventLoopFuture<NIOSSLContext> {
    if let made = self.relayTLSContext { return made }
    let trustRoots = self.configuration.trustRoots
    let made = NIOThreadPool.singleton.runIfActive(eventLoop: self.loop) {
      var configuration = TLSConfiguration.makeClientConfiguration()
      if let trustRoots { configuration.trustRoots = .file(trustRoots) }
      return try NIOSSLContext(configuration: configuration)
    }
    self.relayTLSContext = made
    return made
  }

  func streamOpened(_ id: ICEAgent.StreamID) {
    self.connection?.streamOpened(id, at: self.now)
    self.pump()
  }

  func streamReceived(_ bytes: ByteBuffer, on id: ICEAgent.StreamID) {
    self.connection?.streamReceived(Array(bytes.readableBytesView), on: id, at: self.now)
    self.pump()
  }

  /// - Parameter error: Why, if it was not closed in order.
  func streamClosed(_ id: ICEAgent.StreamID, _ error: (any Error)?) {
    self.streams[id] = nil
    if let server = self.streamServers.removeValue(forKey: id) { self.streamErrors[server] = error }
    self.connection?.streamClosed(id, at: self.now)
    self.pump()
  }

  /// What to tell of a warning: of a relay that cannot be reached, the reason.
  func failure(for warning: ICEWarning) -> VoiceFailure {
    guard case .serverUnreachable(let server) = warning, server.transport != .udp,
      let address = [server.address, server.alternative].compactMap({ $0 }).first(where: {
        self.streamErrors[$0] != nil
      }), let error = self.streamErrors[address]
    else { return warning.failure }
    let isTLS = error is NIOSSLError || error is NIOSSLExtraError || error is BoringSSLError
    return VoiceFailure(
      .callRelayFailed,
      message: isTLS
        ? "\(address) offers no secure connection that can be trusted."
        : "\(address) cannot be connected to.",
      cause: error)
  }
}

/// A session that a task knows and does not keep.
struct WeakCore {
  weak var core: SessionCore?

  init(_ core: SessionCore?) { self.core = core }
}

extension MediaSession.Configuration.IceServer {
  /// The server at its addresses, the best first; `nil` without one.
  func resolved(_ addresses: [TransportAddress], relaysIPv6: Bool) -> ICEAgent.Server? {
    guard let first = addresses.first else { return nil }
    return ICEAgent.Server(
      self.address.isRelay ? .turn : .stun, first,
      alternative: addresses.first { $0.ip.isV6 != first.ip.isV6 }, transport: self.address.transport,
      tlsName: self.address.host, username: self.username, password: self.password,
      relayIsV6: relaysIPv6)
  }
}
