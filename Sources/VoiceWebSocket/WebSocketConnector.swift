import Foundation
public import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL
import NIOWebSocket
import Synchronization
import VoiceCore

/// Whose certificates a client takes.
public enum WebSocketTrust: Hashable, Sendable {
  /// Those that the operating system takes.
  case system
  /// Those signed by an authority in a PEM text, and no others.
  case authorities(pem: [UInt8])
}

/// Opens WebSocket connections (RFC 6455 section 4.1).
public struct WebSocketConnector: Sendable {
  private let group: any EventLoopGroup
  private let settings: WebSocketSettings
  private let trust: WebSocketTrust
  private let resolver: (any Resolver & Sendable)?

  /// Creates a connector.
  ///
  /// - Parameters:
  ///   - group: The event loops that connections run on; by default those of the process.
  ///   - settings: The limits of the connections.
  ///   - trust: Whose certificates are taken.
  public init(
    group: (any EventLoopGroup)? = nil, settings: WebSocketSettings = WebSocketSettings(),
    trust: WebSocketTrust = .system
  ) {
    self.init(group: group, settings: settings, trust: trust, resolver: nil)
  }

  /// - Parameter resolver: Finds the addresses of a host; `nil` for that of the operating system.
  init(
    group: (any EventLoopGroup)?, settings: WebSocketSettings, trust: WebSocketTrust,
    resolver: (any Resolver & Sendable)?
  ) {
    self.group = group ?? MultiThreadedEventLoopGroup.singleton
    self.settings = settings
    self.trust = trust
    self.resolver = resolver
  }

  /// Opens a connection.
  ///
  /// Cancelling the task gives it up.
  ///
  /// - Parameters:
  ///   - address: Where to.
  ///   - headers: Fields to add to the request.
  ///   - onEvent: Called on the connection's event loop, possibly before this method returns.
  /// - Throws: ``WebSocketFailure``.
  public func connect(
    to address: WebSocketAddress, headers: [(String, String)] = [],
    onEvent: @escaping @Sendable (WebSocketConnection, WebSocketEvent) -> Void
  ) async throws(WebSocketFailure) -> WebSocketConnection {
    let tls: NIOSSLContext?
    do {
      tls = address.isSecure ? try self.tlsContext() : nil
    } catch {
      throw .tlsFailed(reason: "the authorities cannot be read")
    }
    let attempt = ConnectAttempt(
      address: address, headers: headers, settings: self.settings, loop: self.group.next(),
      resolver: self.resolver, onEvent: onEvent)
    let result = await withTaskCancellationHandler {
      await attempt.run(tls: tls)
    } onCancel: {
      attempt.fail(.cancelled)
    }
    return try result.get()
  }

  private func tlsContext() throws -> NIOSSLContext {
    var configuration = TLSConfiguration.makeClientConfiguration()
    configuration.applicationProtocols = ["http/1.1"]
    if case .authorities(let pem) = self.trust {
      let certificates = try NIOSSLCertificate.fromPEMBytes(pem)
      guard !certificates.isEmpty else { throw NIOSSLError.failedToLoadCertificate }
      configuration.trustRoots = .certificates(certificates)
    }
    return try NIOSSLContext(configuration: configuration)
  }
}

/// One try to open a connection; its outcome is what happens first.
private final class ConnectAttempt: Sendable {
  private struct State {
    /// Those to the addresses of the host that are being made; then the first that is, which is to be upgraded.
    var channels: [any Channel] = []
    var isConnected = false
    var isDone = false
  }

  private let address: WebSocketAddress
  private let headers: [(String, String)]
  private let settings: WebSocketSettings
  private let loop: any EventLoop
  private let resolver: (any Resolver & Sendable)?
  private let onEvent: @Sendable (WebSocketConnection, WebSocketEvent) -> Void
  private let outcome: EventLoopPromise<WebSocketConnection>
  private let state = Mutex(State())

  init(
    address: WebSocketAddress, headers: [(String, String)], settings: WebSocketSettings, loop: any EventLoop,
    resolver: (any Resolver & Sendable)?,
    onEvent: @escaping @Sendable (WebSocketConnection, WebSocketEvent) -> Void
  ) {
    self.address = address
    self.headers = headers
    self.settings = settings
    self.loop = loop
    self.resolver = resolver
    self.onEvent = onEvent
    self.outcome = loop.makePromise()
  }

  func run(tls: NIOSSLContext?) async -> Result<WebSocketConnection, WebSocketFailure> {
    let timeout = TimeAmount(self.settings.handshakeTimeout)
    let deadline = self.loop.scheduleTask(in: timeout) {
      self.fail(.timedOut(self.state.withLock { $0.isConnected } ? .upgrading : .connecting))
    }
    // On the loop, so that a connection has its handlers before it reads.
    self.loop.execute { self.open(within: timeout, tls: tls) }
    let result = await self.outcome.futureResult.map { Result<WebSocketConnection, any Error>.success($0) }
      .recover { .failure($0) }.result()
    deadline.cancel()
    switch result {
    case .success(let connection): return .success(connection)
    case .failure(let error): return .failure(error as? WebSocketFailure ?? .closed(.upgrading))
    }
  }

  private func open(within timeout: TimeAmount, tls: NIOSSLContext?) {
    guard !self.state.withLock({ $0.isDone }) else { return }
    ClientBootstrap(group: self.loop)
      .connectTimeout(timeout)
      .resolver(self.resolver)
      .channelOption(.socketOption(.tcp_nodelay), value: 1)
      .channelInitializer { channel in
        let isWanted = self.state.withLock { state in
          if !state.isDone { state.channels.append(channel) }
          return !state.isDone
        }
        return isWanted
          ? channel.eventLoop.makeSucceededVoidFuture()
          : channel.eventLoop.makeFailedFuture(WebSocketFailure.cancelled)
      }
      .connect(host: self.address.host, port: self.address.port)
      .whenComplete { result in
        switch result {
        case .success(let channel): self.connected(channel, tls: tls)
        case .failure(let error): self.fail(self.failure(of: error))
        }
      }
  }

  /// Asks for the upgrade.
  ///
  /// Not before, in the bootstrap's initializer: that is called for each address of the host, and the end of a connection that
  /// another one has overtaken is no failure.
  private func connected(_ channel: any Channel, tls: NIOSSLContext?) {
    let isWanted = self.state.withLock { state in
      state.isConnected = true
      if !state.isDone { state.channels = [channel] }
      return !state.isDone
    }
    guard isWanted else { return channel.close(mode: .all, promise: nil) }
    do {
      try self.configure(channel, tls: tls)
    } catch {
      self.fail(HandshakeWatch.failure(of: error, stage: tls == nil ? .upgrading : .securing))
    }
  }

  /// Ends the attempt, unless it has ended, and leaves no channel behind.
  func fail(_ failure: WebSocketFailure) {
    guard self.finish() else { return }
    self.outcome.fail(failure)
    for channel in self.state.withLock({ $0.channels }) { channel.close(mode: .all, promise: nil) }
  }

  private func finish() -> Bool {
    self.state.withLock { state in
      defer { state.isDone = true }
      return !state.isDone
    }
  }

  private func configure(_ channel: any Channel, tls: NIOSSLContext?) throws {
    let pipeline = channel.pipeline.syncOperations
    if let tls {
      // A server name is a name: an address in its place is no SNI (RFC 6066 section 3).
      let isAddress = (try? SocketAddress(ipAddress: self.address.host, port: 0)) != nil
      try pipeline.addHandler(
        NIOSSLClientHandler(context: tls, serverHostname: isAddress ? nil : self.address.host))
    }
    let watch = HandshakeWatch(isSecure: tls != nil) { [self] in self.fail($0) }
    try pipeline.addHandler(watch)
    let upgrader = NIOTypedWebSocketClientUpgrader<WebSocketConnection>(
      maxFrameSize: self.settings.frameLimit, enableAutomaticErrorHandling: false
    ) { [settings, onEvent] channel, _ in
      WebSocketConnection.attach(to: channel, role: .client, settings: settings, onEvent: onEvent)
    }
    var head = HTTPRequestHead(version: .http1_1, method: .GET, uri: self.address.target)
    head.headers.add(name: "Host", value: self.address.hostField)
    for (name, value) in self.headers { head.headers.add(name: name, value: value) }
    var configuration = NIOUpgradableHTTPClientPipelineConfiguration(
      upgradeConfiguration: NIOTypedHTTPClientUpgradeConfiguration(
        upgradeRequestHead: head, upgraders: [upgrader],
        notUpgradingCompletionHandler: { channel in
          channel.eventLoop.makeFailedFuture(
            WebSocketFailure.upgradeInvalid("the answer to the challenge is wrong"))
        }))
    // A server may send its first frames together with the answer.
    configuration.leftOverBytesStrategy = .forwardBytes
    let upgraded = try pipeline.configureUpgradableHTTPClientPipeline(configuration: configuration)
    let negotiator = try pipeline.handler(type: NIOTypedHTTPClientUpgradeHandler<WebSocketConnection>.self)
    try pipeline.addHandler(UpgradeAnswerWatch { [self] in self.judge($0) }, position: .before(negotiator))
    let bound = NIOLoopBound(watch, eventLoop: channel.eventLoop)
    upgraded.whenComplete { result in
      channel.pipeline.syncOperations.removeHandler(bound.value, promise: nil)
      switch result {
      case .success(let connection):
        if self.finish() { self.outcome.succeed(connection) } else { connection.abort() }
      case .failure(let error): self.fail(HandshakeWatch.failure(of: error, stage: .upgrading))
      }
    }
  }

  private func judge(_ head: HTTPResponseHead) {
    guard head.status == .switchingProtocols else {
      return self.fail(
        .notUpgraded(status: Int(head.status.code), contentType: head.headers.first(name: "Content-Type")))
    }
    // The client offers neither, so a server that picks one speaks another protocol (RFC 6455 section 4.1).
    for name in ["Sec-WebSocket-Extensions", "Sec-WebSocket-Protocol"] where head.headers.contains(name: name)
    {
      return self.fail(.upgradeInvalid("it has a field \(name) that was not asked for"))
    }
  }

  private func failure(of error: any Error) -> WebSocketFailure {
    let (host, port) = (self.address.host, self.address.port)
    guard let error = error as? NIOConnectionError else {
      if case ChannelError.connectTimeout = error { return .timedOut(.connecting) }
      return .unreachable(host: host, port: port, reason: "the connection could not be made")
    }
    guard let last = error.connectionErrors.last else { return .hostUnresolvable(host: host) }
    switch last.error {
    case let error as IOError where error.errnoCode == ECONNREFUSED: return .refused(host: host, port: port)
    case let error as IOError:
      return .unreachable(
        host: host, port: port, reason: String(cString: strerror(error.errnoCode)).lowercased())
    case ChannelError.connectTimeout: return .timedOut(.connecting)
    default: return .unreachable(host: host, port: port, reason: "the connection could not be made")
    }
  }
}

extension EventLoopFuture {
  /// The value, which cannot fail because failures were recovered from.
  fileprivate func result<Success: Sendable>() async -> Value where Value == Result<Success, any Error> {
    do {
      return try await self.get()
    } catch {
      return .failure(error)
    }
  }
}
