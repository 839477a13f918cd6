import CallMedia
import CallSignaling
import Foundation
import NIOCore
import NIOPosix
import VoiceCore

extension CallGateway {
  /// Puts the gateway of a server together.
  ///
  /// Users come from the configuration and the store; if there are none at all, from the demo file.
  static func make(
    _ server: VoiceServer, _ configuration: ServerConfiguration, tokens: TokenAuthority,
    interfaces: AppInterfaces
  ) async throws(VoiceFailure) -> (CallGateway, CallRecordWriter) {
    let store = try CallStore(dataFolder: configuration.dataFolder)
    var calls = configuration.calls
    var usesDemoUsers = false
    if calls.users.isEmpty, try await store.names().isEmpty {
      usesDemoUsers = true
      var generator = SystemRandomNumberGenerator()
      let demo = try DemoUser.load(dataFolder: configuration.dataFolder, using: &generator)
      calls.users = demo.map { .init(name: $0.name, password: $0.password) }
      server.observer.tookDemoUsers(demo)
    }
    let users = ConfiguredUsers(calls.users.map { CallUser($0) }, next: store)
    let metrics = CallMetrics(factory: server.metricsRegistry)
    let desk = CallLoginDesk(
      users: users,
      opaqueTokens: Dictionary(
        calls.users.flatMap { user in user.tokens.map { (Secret($0), user.name) } },
        uniquingKeysWith: { first, _ in first }),
      allowsGuests: calls.allowsGuests ?? usesDemoUsers, loginsPerSecond: calls.limits.loginsPerSecond,
      tokens: tokens, threads: CallLoginDesk.sharedThreads, clock: server.clock, metrics: metrics,
      logger: server.logger)
    let assistant = try AssistantService(server, configuration, interfaces)
    let records = CallRecordWriter(store: store, metrics: metrics, logger: server.logger)
    let gateway = CallGateway(
      configuration: calls, users: try await users.names(),
      parts: Parts(
        desk: desk, users: users,
        media: AnsweringMedia(
          engine: MediaEngine(threads: System.coreCount),
          iceServers: try calls.iceServers.map(MediaSession.Configuration.IceServer.init),
          service: { service in
            switch service {
            case .echo: EchoService()
            case .silence: SilenceService()
            case .assistant: assistant
            }
          }, logger: server.logger),
        records: records, clock: server.clock,
        wallTime: { Int64(Date().timeIntervalSince1970 * 1000) }, metrics: metrics, logger: server.logger,
        observer: server.observer))
    return (gateway, records)
  }
}

extension MediaSession.Configuration.IceServer {
  init(_ server: ServerConfiguration.Calls.IceServer) throws(VoiceFailure) {
    self.init(
      try IceServerAddress(server.url), username: server.username ?? "", password: server.password ?? "")
  }
}

extension CallUser {
  init(_ user: ServerConfiguration.Calls.User) {
    self.name = user.name
    self.password =
      if let password = user.password {
        .plain(Secret(password))
      } else if let hash = user.passwordHash.flatMap({ PasswordHash($0) }) {
        .hashed(hash)
      } else {
        .none
      }
  }
}
