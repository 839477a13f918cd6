import Foundation
import GRPCCore
import GRPCNIOTransportHTTP2
import Logging
import NIOCore
import NIOPosix
import ServiceLifecycle
import SpeechPipeline
import VoiceCore

/// The gRPC port and the recognisers behind it.
///
/// On a graceful shutdown the transport accepts nothing new, streams hear of it through the phase, and after the
/// drain time those that are left are ended with UNAVAILABLE.
struct SpeechService: Service {
  private enum Step: Sendable {
    case served
    case prepared
    case elapsed
  }

  /// How long a client may take to read its last status before it is cut off.
  private static let farewell: Duration = .seconds(10)

  /// What the transport takes as one message. Above our own limit for audio, so that a chunk which is too large is
  /// refused with a message that says so; the transport just resets the stream.
  private static let messageBytes = 8 * 1024 * 1024

  let address: ListenAddress
  let configuration: ServerConfiguration
  let services: [any RegistrableRPCService]
  let pool: RecognizerPool
  let clock: any VoiceClock
  let phase: ServerPhase
  let addresses: BoundAddresses
  let observer: VoiceServer.Observer
  let logger: Logger

  func run() async throws {
    let transport = HTTP2ServerTransport.Posix(
      address: self.address.host.contains(":")
        ? .ipv6(host: self.address.host, port: self.address.port)
        : .ipv4(host: self.address.host, port: self.address.port),
      transportSecurity: try self.security(), config: self.transportConfiguration)
    let server = GRPCServer(transport: transport, services: self.services)
    defer { self.phase.advance(to: .stopped) }
    try await withGracefulShutdownHandler {
      try await self.run(server, transport)
    } onGracefulShutdown: {
      self.logger.info("stopping", metadata: ["drain": "\(self.configuration.drainTime)"])
      self.phase.advance(to: .draining)
      server.beginGracefulShutdown()
    }
    await self.pool.shutdown()
    self.logger.info("stopped")
  }

  private func run(
    _ server: GRPCServer<HTTP2ServerTransport.Posix>, _ transport: HTTP2ServerTransport.Posix
  ) async throws {
    try await withThrowingTaskGroup(of: Step.self) { group in
      group.addTask(executorPreference: EventLoopGroupExecutor(.singleton)) {
        do {
          try await server.serve()
        } catch {
          let failure = ListenFailure.failure(
            from: error, at: self.address, usesTLS: self.configuration.tls != nil)
          self.addresses.grpc.fail(failure)
          throw failure
        }
        return .served
      }
      group.addTask {
        try await self.prepare(transport)
        return .prepared
      }
      group.addTask {
        try await self.endDrain()
        return .elapsed
      }
      while let step = try await group.next() {
        switch step {
        case .prepared: continue
        // Either all calls have ended, or those that are left do not want to.
        case .served, .elapsed: group.cancelAll()
        }
        // What the cancelled tasks throw is no news.
        while !group.isEmpty { _ = try? await group.next() }
      }
    }
  }

  private func prepare(_ transport: HTTP2ServerTransport.Posix) async throws {
    guard let bound = try? await transport.listeningAddress else {
      // The serving task throws the reason.
      return
    }
    let port = bound.ipv4?.port ?? bound.ipv6?.port ?? self.address.port
    self.addresses.grpc.announce(ListenAddress(host: self.address.host, port: port))
    try await self.pool.load(progress: self.observer.loaded)
    let addresses = ListenAddresses(
      grpc: try await self.addresses.grpc.value(), http: try await self.addresses.http.value())
    self.phase.advance(to: .ready)
    self.logger.info(
      "ready",
      metadata: [
        "grpc": "\(addresses.grpc)", "http": "\(addresses.http)",
        "apps": "\(self.configuration.apps.count)", "decoders": "\(self.configuration.limits.decoders)",
      ])
    self.addresses.ready.announce(addresses)
    self.observer.becameReady(addresses)
  }

  private func endDrain() async throws {
    for await value in self.phase.values() where value >= .draining {
      try await self.clock.sleep(
        until: self.clock.now.advanced(by: self.configuration.drainTime), tolerance: nil)
      self.phase.advance(to: .stopped)
      try await self.clock.sleep(
        until: self.clock.now.advanced(by: Self.farewell), tolerance: nil)
      return
    }
    throw CancellationError()
  }

  private var transportConfiguration: HTTP2ServerTransport.Posix.Config {
    .defaults { config in
      config.rpc.maxRequestPayloadSize = Self.messageBytes
      config.http2.maxConcurrentStreams = 1024
      // Answers of one stream come one at a time: to wait for more of them would only delay them.
      config.connection.flushCoalescing = nil
      // A peer that vanished without a word is noticed within a minute.
      config.connection.keepalive.time = .seconds(30)
      config.connection.keepalive.timeout = .seconds(20)
      // Clients may look after their connections too, also between two calls.
      config.connection.keepalive.clientBehavior.minPingIntervalWithoutCalls = .seconds(10)
      config.connection.keepalive.clientBehavior.allowWithoutCalls = true
    }
  }

  private func security() throws(VoiceFailure) -> HTTP2ServerTransport.Posix.TransportSecurity {
    guard let tls = self.configuration.tls else { return .plaintext }
    try tls.checkFiles()
    return .tls(
      certificateChain: [.file(path: tls.certificate, format: .pem)],
      privateKey: .file(path: tls.key, format: .pem))
  }
}
