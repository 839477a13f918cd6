import Foundation
import GRPCCore
import GRPCNIOTransportHTTP2
import Hummingbird
import HummingbirdCore
import Logging
import NIOCore
import NIOSSL
import ServiceLifecycle
import SpeechPipeline
import SpeechProtocol
import SpeechUnderstanding
import VoiceCore

/// The services that a ``VoiceServer`` is made of, put together.
struct ServerParts: Sendable {
  let web: WebService
  let speech: SpeechService
  let batch: BatchWorker
  let calls: CallGateway
  let callRecords: CallRecordWriter

  init(_ server: VoiceServer) async throws {
    var generator = SystemRandomNumberGenerator()
    let configuration = try server.configuration.withDemoKey(using: &generator)
    let (key, isExposed) = try SigningKey.load(folder: configuration.dataFolder, using: &generator)
    if isExposed {
      server.logger.warning(
        "other users of this machine can read the signing key: set its mode to 0600",
        metadata: ["folder": "\(configuration.dataFolder)"])
    }
    let tokens = await TokenAuthority(
      key: key, lifetime: configuration.tokenLifetime, now: server.now)
    let apps = try AppRegistry(configuration)
    let desk = LoginDesk(
      configuration: configuration, apps: apps, tokens: tokens, clock: server.clock, metrics: server.metrics,
      logger: server.logger)
    let interfaces = AppInterfaces(
      dataFolder: configuration.dataFolder, clock: server.clock, now: server.now, logger: server.logger,
      engine: server.engine)
    try await interfaces.load(Array(apps.directory.apps.values))
    let authenticator = try await Authenticator(
      configuration: configuration, apps: apps, tokens: tokens, key: key)
    let gate = ServiceGate(
      authenticator: authenticator, apps: apps, clock: server.clock, idleTime: configuration.limits.idleTime,
      metrics: server.metrics, phase: server.phase, logger: server.logger)
    let interface: @Sendable (UUID) -> ContextUnderstanding? = { [now = server.now] app in
      interfaces.understanding(of: app, at: now())
    }
    let slu = SLUService(
      configuration: configuration, apps: apps, authenticator: authenticator,
      resumeTokens: try await ResumeTokens(key: key),
      services: StreamDriver.Services(
        pool: server.pool, clock: server.clock, metrics: server.metrics, phase: server.phase,
        decoderPatience: configuration.limits.decoderPatience,
        interface: interface),
      logger: server.logger)
    self.batch = try BatchWorker(
      dataFolder: configuration.dataFolder, apps: apps, pool: server.pool, phase: server.phase,
      now: server.now, interface: interface, logger: server.logger)
    let addresses = BoundAddresses(ready: server.ready)
    (self.calls, self.callRecords) = try await CallGateway.make(
      server, configuration, tokens: tokens, interfaces: interfaces)
    let refreshMetrics: @Sendable () -> Void = { [pool = server.pool, metrics = server.metrics, calls] in
      calls.refreshMetrics()
      let status = pool.status
      metrics.setDecoders(busy: status.busy, total: status.total)
    }
    self.web = WebService(
      address: try ListenFailure.resolve(configuration.host, port: configuration.httpPort),
      routes: WebRoutes(
        phase: server.phase, desk: desk, registry: server.metricsRegistry,
        refreshMetrics: refreshMetrics),
      gateway: self.calls, tls: try configuration.tls?.httpContext(), addresses: addresses,
      logger: server.logger)
    self.speech = SpeechService(
      address: try ListenFailure.resolve(configuration.host, port: configuration.grpcPort),
      configuration: configuration,
      services: [
        IdentityServiceV1(desk: desk), IdentityServiceV2(desk: desk), slu,
        WLUService(gate: gate, interfaces: interfaces),
        CompilerService(gate: gate, interfaces: interfaces),
        ConfigService(gate: gate, interfaces: interfaces, languages: server.engine.capabilities.languages),
        ModelService(gate: gate, languages: server.engine.capabilities.languages),
        BatchService(gate: gate, worker: self.batch, now: server.now),
        HealthService(
          phase: server.phase,
          services: [
            Speechly_Slu_V1_SLU.descriptor.fullyQualifiedService,
            Speechly_Identity_V1_Identity.descriptor.fullyQualifiedService,
            Speechly_Identity_V2_IdentityAPI.descriptor.fullyQualifiedService,
            Speechly_Slu_V1_WLU.descriptor.fullyQualifiedService,
            Speechly_Slu_V1_BatchAPI.descriptor.fullyQualifiedService,
            Speechly_Sal_V1_Compiler.descriptor.fullyQualifiedService,
            Speechly_Config_V1_ConfigAPI.descriptor.fullyQualifiedService,
          ]),
      ],
      pool: server.pool, clock: server.clock, phase: server.phase, addresses: addresses,
      observer: server.observer, logger: server.logger)
  }
}

/// Where the two ports were opened; each tells the other's service.
struct BoundAddresses: Sendable {
  let grpc = Announcement<ListenAddress>()
  let http = Announcement<ListenAddress>()
  let ready: Announcement<ListenAddresses>
}

/// The HTTP port.
struct WebService: Service {
  let address: ListenAddress
  let routes: WebRoutes
  let gateway: CallGateway
  let tls: NIOSSLContext?
  let addresses: BoundAddresses
  let logger: Logger

  func run() async throws {
    let bound = self.addresses.http
    let host = self.address.host
    var logger = self.logger
    // What the HTTP library says of each request is for those who look for it.
    logger.logLevel = max(logger.logLevel, .notice)
    let application = Application(
      router: self.routes.router(),
      server: HTTPServerBuilder { [gateway, tls] in
        GatewayChannel(responder: $0, gateway: gateway, tls: tls)
      },
      configuration: ApplicationConfiguration(
        address: .hostname(host, port: self.address.port), serverName: "swift-voice"),
      onServerRunning: { channel in
        bound.announce(ListenAddress(host: host, port: channel.localAddress?.port ?? 0))
      },
      logger: logger)
    do {
      try await application.run()
    } catch {
      let failure = ListenFailure.failure(from: error, at: self.address, usesTLS: false)
      bound.fail(failure)
      throw failure
    }
  }
}
