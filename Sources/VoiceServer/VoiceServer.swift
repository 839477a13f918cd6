import Foundation
public import Logging
import NIOCore
public import ServiceLifecycle
public import SpeechPipeline
import Synchronization
public import VoiceCore

/// A server for speech recognition that speaks the Speechly protocol over gRPC, and a gateway for calls that speaks the
/// Telnyx and Verto protocols over WebSocket, beside HTTP for health, metrics and logins.
///
/// The server runs as long as ``run()`` does: it loads the recogniser's models, listens, and serves. It stops when
/// it is told to (``beginGracefulShutdown()``, or the graceful shutdown of a `ServiceGroup` that it is part of): it
/// accepts nothing new, lets running contexts finish within ``ServerConfiguration/drainTime``, then ends.
/// Cancelling the task of `run()` stops it at once.
///
/// ```swift
/// let server = VoiceServer(configuration: ServerConfiguration(), engine: try PocketSphinxEngine())
/// try await withThrowingTaskGroup(of: Void.self) { group in
///   group.addTask { try await server.run() }
///   print("gRPC at \(try await server.addresses.grpc)")
/// }
/// ```
public final class VoiceServer: Service {
  /// What the server does beside serving; for progress bars and for tests.
  public struct Observer: Sendable {
    /// A recogniser was loaded: how many are, and how many will be.
    public var loaded: @Sendable (_ loaded: Int, _ total: Int) -> Void
    /// A server without configured users for calls made two, or took those that it made before.
    public var tookDemoUsers: @Sendable ([DemoUser]) -> Void
    /// Who can be called, when that was first looked up and each time that it changed.
    public var callUsersChanged: @Sendable (Set<String>) -> Void
    /// A call ended: how many are left. May be called on any thread and must not block.
    public var callEnded: @Sendable (_ active: Int) -> Void
    /// The server is ready: both ports are open and all recognisers are loaded.
    public var becameReady: @Sendable (ListenAddresses) -> Void

    /// Creates an observer.
    public init(
      loaded: @escaping @Sendable (_ loaded: Int, _ total: Int) -> Void = { _, _ in },
      tookDemoUsers: @escaping @Sendable ([DemoUser]) -> Void = { _ in },
      callUsersChanged: @escaping @Sendable (Set<String>) -> Void = { _ in },
      callEnded: @escaping @Sendable (_ active: Int) -> Void = { _ in },
      becameReady: @escaping @Sendable (ListenAddresses) -> Void = { _ in }
    ) {
      self.loaded = loaded
      self.tookDemoUsers = tookDemoUsers
      self.callUsersChanged = callUsersChanged
      self.callEnded = callEnded
      self.becameReady = becameReady
    }
  }

  /// The configuration that the server was made with.
  public let configuration: ServerConfiguration

  /// The numbers behind `/metrics`.
  public let metricsRegistry: PrometheusRegistry

  let engine: any RecognitionEngine
  let clock: any VoiceClock
  let logger: Logger
  let observer: Observer
  let now: @Sendable () -> Int64
  let phase = ServerPhase()
  let metrics: ServerMetrics
  let pool: RecognizerPool
  let ready = Announcement<ListenAddresses>()
  private let shutdown = Announcement<Void>()

  /// Creates a server; nothing is opened or loaded before ``run()``.
  ///
  /// - Parameters:
  ///   - configuration: What the server needs to know.
  ///   - engine: Makes the recognisers.
  ///   - clock: The time for limits, measurements and the drain time.
  ///   - logger: Takes the log. It gets no token, key or word that was said.
  ///   - metricsRegistry: Where the server counts.
  ///   - observer: Hears of the server's progress.
  public convenience init(
    configuration: ServerConfiguration,
    engine: any RecognitionEngine,
    clock: any VoiceClock = MonotonicClock(),
    logger: Logger = Logger(label: "voice.server"),
    metricsRegistry: PrometheusRegistry = PrometheusRegistry(),
    observer: Observer = Observer()
  ) {
    self.init(
      configuration: configuration, engine: engine, clock: clock, logger: logger,
      metricsRegistry: metricsRegistry, observer: observer,
      now: { Int64(Date().timeIntervalSince1970) })
  }

  init(
    configuration: ServerConfiguration, engine: any RecognitionEngine, clock: any VoiceClock,
    logger: Logger, metricsRegistry: PrometheusRegistry, observer: Observer,
    now: @escaping @Sendable () -> Int64
  ) {
    self.configuration = configuration
    self.engine = engine
    self.clock = clock
    self.logger = logger
    self.metricsRegistry = metricsRegistry
    self.observer = observer
    self.now = now
    let metrics = ServerMetrics(factory: metricsRegistry)
    self.metrics = metrics
    self.pool = RecognizerPool(engine: engine, size: configuration.limits.decoders, clock: clock) { failure in
      metrics.failed(failure.code)
      Refusal(failure).log("a recogniser that broke cannot be replaced", to: logger)
    }
  }

  /// Where the server listens; waits until it is ready.
  ///
  /// - Throws: What ``run()`` threw if the server could not start, or `CancellationError`.
  public var addresses: ListenAddresses {
    get async throws { try await self.ready.value() }
  }

  /// Asks the server to stop as described for ``VoiceServer``; ``run()`` returns when it has. May be called
  /// repeatedly, on any thread.
  public func beginGracefulShutdown() {
    self.shutdown.announce(())
  }

  /// Serves until the server is asked to stop; call once.
  ///
  /// - Throws: ``VoiceFailure`` if the server cannot start: with a `server.*` code for configuration, data
  ///   folder, key, certificate and ports, with a `speech.engine.*` code for the models; `CancellationError` if the task was cancelled.
  public func run() async throws {
    do {
      try await self.serve()
    } catch {
      self.ready.fail(error)
      throw error
    }
    self.ready.fail(CancellationError())
  }

  private func serve() async throws {
    try self.configuration.validate()
    try self.checkLanguages()
    // Before anything of the folder is read: what another server is writing there must not be tidied up.
    let lock = try DataFolderLock(folder: self.configuration.dataFolder, logger: self.logger)
    defer { lock.release() }
    let parts = try await ServerParts(self)
    var configuration = ServiceGroupConfiguration(
      services: [
        // Records are written until nobody makes any more.
        .init(service: parts.callRecords, successTerminationBehavior: .ignore, serviceName: "call records"),
        .init(service: parts.calls, successTerminationBehavior: .ignore, serviceName: "calls"),
        // The last service stops first: HTTP tells until the end that the server is not ready any more.
        .init(
          service: parts.web, successTerminationBehavior: .gracefullyShutdownGroup,
          serviceName: "http"),
        .init(
          service: parts.speech, successTerminationBehavior: .gracefullyShutdownGroup,
          serviceName: "grpc"),
        .init(service: parts.batch, successTerminationBehavior: .ignore, serviceName: "batch"),
      ], logger: self.logger)
    // Clients that neither finish nor go away do not keep the server.
    configuration.maximumGracefulShutdownDuration = self.configuration.drainTime + .seconds(20)
    let group = ServiceGroup(configuration: configuration)
    try await withThrowingTaskGroup(of: Bool.self) { tasks in
      tasks.addTask {
        try await group.run()
        return true
      }
      tasks.addTask {
        guard (try? await self.shutdown.value()) != nil else { return false }
        await group.triggerGracefulShutdown()
        return false
      }
      while let isOver = try await tasks.next() {
        if isOver { tasks.cancelAll() }
      }
    }
  }

  private func checkLanguages() throws(VoiceFailure) {
    let offered = self.engine.capabilities.languages
    for app in self.configuration.apps
    where !offered.contains(where: { Language.same($0, app.language) }) {
      throw VoiceFailure(
        .engineLanguageMissing,
        message: "The app \(app.name) wants \(app.language), but \(self.engine.name) has only "
          + "\(offered.joined(separator: ", ")). Change the language of the app.")
    }
  }
}
