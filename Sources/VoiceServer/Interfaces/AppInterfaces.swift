import Foundation
import Logging
import SpeechPipeline
import SpeechUnderstanding
import Synchronization
import VoiceCore

/// The configurations that the server's apps serve, and how new ones are deployed while streams run.
///
/// Streams ask for the present configuration when a context begins and keep what they got. A new configuration replaces
/// the old one whole, in one step, once it is compiled and kept; one with errors changes nothing.
final class AppInterfaces: Sendable {
  private let state = Mutex(Deployments())
  private let store: InterfaceStore
  private let compiler: InterfaceCompiler
  private let clock: any VoiceClock
  private let now: @Sendable () -> Int64
  private let logger: Logger
  private let engine: (any RecognitionEngine)?

  /// Creates a store without any configuration; ``load(_:)`` brings them in.
  ///
  /// - Parameters:
  ///   - now: The time in seconds since 1970-01-01T00:00:00 UTC.
  ///   - engine: Is asked what of each configuration it cannot recognise.
  init(
    dataFolder: String, clock: any VoiceClock, now: @escaping @Sendable () -> Int64, logger: Logger,
    engine: (any RecognitionEngine)? = nil
  ) {
    self.store = InterfaceStore(dataFolder: dataFolder)
    self.compiler = InterfaceCompiler(clock: clock, cacheFolder: dataFolder + "/grammars")
    self.clock = clock
    self.now = now
    self.logger = logger
    self.engine = engine
  }

  /// What an app serves now; `nil` for an app without a configuration, which recognises free text.
  func current(of app: UUID) -> DeployedInterface? {
    self.state.withLock { $0.current(of: app) }
  }

  /// How an app is doing.
  func status(of app: UUID) -> Deployments.Status {
    self.state.withLock { $0.status(of: app) }
  }

  /// How long the last deployment of an app took.
  func lastDuration(of app: UUID) -> Duration? {
    self.state.withLock { $0.lastDuration(of: app) }
  }

  // MARK: Start

  /// Loads what apps serve from the start on: what was deployed last, else what the server's configuration names, else
  /// for the demo app its built-in one.
  ///
  /// - Throws: ``VoiceFailure`` with `server.interface.invalid` or another code for a configuration that cannot be used;
  ///   each problem goes to the log.
  func load(_ apps: [ServerConfiguration.App]) async throws(VoiceFailure) {
    for app in apps {
      if let record = try self.store.current(of: app.id) {
        let source = try self.store.source(of: record, for: app.id)
        let result = await self.compiler.compile(source, language: app.language)
        if let templates = app.templates {
          self.logger.notice(
            "a configuration was deployed to the app: it counts, not the file",
            metadata: ["app": "\(app.name)", "file": "\(templates)"])
        }
        try self.take(
          result, of: app, configID: record.configID, deployedAt: record.deployedAt,
          from: "that was deployed to the app \(app.name)")
      } else if let templates = app.templates {
        try self.take(
          await self.compiler.compile(path: templates, language: app.language), of: app, configID: UUID(),
          deployedAt: self.now(), from: "of the app \(app.name) in \(templates)")
      } else if app.id == ServerConfiguration.App.demo.id {
        let source = InterfaceSource(form: .yaml, bytes: Array(DemoInterface.text.utf8))
        try self.take(
          await self.compiler.compile(source, language: app.language), of: app,
          configID: DemoInterface.configID, deployedAt: self.now(), from: "of the demo app")
      }
    }
  }

  private func take(
    _ result: Result<InterfaceCompiler.Product, InterfaceProblem>, of app: ServerConfiguration.App,
    configID: UUID, deployedAt: Int64, from origin: String
  ) throws(VoiceFailure) {
    switch result {
    case .success(let product):
      self.log(product.diagnostics.filter { $0.severity == .warning }, of: app)
      self.log(product.problems)
      let interface = DeployedInterface(
        configID: configID, deployedAt: deployedAt, compileTime: product.duration,
        understanding: product.understanding, engine: self.engine)
      self.log(interface.problems)
      self.state.withLock { $0.loaded(interface, for: app.id) }
    case .failure(let problem):
      self.log(problem.diagnostics.filter { $0.severity >= .warning }, of: app)
      var failure = problem.failure
      failure.message = "The configuration \(origin) cannot be used. " + failure.message
      throw failure
    }
  }

  private func log(_ diagnostics: [SALDiagnostic], of app: ServerConfiguration.App) {
    for diagnostic in diagnostics {
      self.logger.log(
        level: diagnostic.severity == .error ? .error : .warning, "\(diagnostic.line)",
        metadata: ["app": "\(app.name)", "code": "\(diagnostic.code)"])
    }
  }

  private func log(_ problems: [VoiceFailure]) {
    for problem in problems {
      self.logger.warning("\(problem.message)", metadata: ["code": "\(problem.code)"])
    }
  }

  // MARK: Deployment

  /// Reserves an app for a deployment whose content is still on its way.
  ///
  /// Must be followed by ``deploy(_:to:)`` or ``abandon(_:)``.
  ///
  /// - Throws: ``VoiceFailure`` with `server.interface.busy` if another one is under way.
  func begin(_ app: UUID) throws(VoiceFailure) {
    let now = self.clock.now
    try self.state.withLock { state throws(VoiceFailure) in try state.began(app, at: now) }
  }

  /// Ends a deployment of which not everything came.
  func abandon(_ app: UUID) {
    self.state.withLock { $0.abandoned(app) }
  }

  /// Compiles a configuration, keeps it, and lets new contexts use it.
  ///
  /// Goes on to its end also when the caller is cancelled: a client that went away finds the result in the app's status.
  ///
  /// - Returns: What serves now, and the warnings.
  /// - Throws: ``InterfaceProblem``; then what was deployed before keeps serving.
  func deploy(
    _ source: InterfaceSource, to app: ServerConfiguration.App
  ) async throws(InterfaceProblem) -> (interface: DeployedInterface, diagnostics: [SALDiagnostic]) {
    let result = await self.compiler.compile(source, language: app.language)
    let product: InterfaceCompiler.Product
    switch result {
    case .success(let value): product = value
    case .failure(let problem):
      self.refuse(problem.failure, of: app)
      throw problem
    }
    self.log(product.problems)
    let interface = DeployedInterface(
      configID: UUID(), deployedAt: self.now(), compileTime: product.duration,
      understanding: product.understanding, engine: self.engine)
    self.log(interface.problems)
    do throws(VoiceFailure) {
      try await self.keep(source, interface, for: app.id)
    } catch {
      self.refuse(error, of: app)
      throw InterfaceProblem(failure: error, diagnostics: product.diagnostics)
    }
    let end = self.clock.now
    self.state.withLock { $0.succeeded(app.id, interface, at: end) }
    self.logger.info(
      "configuration deployed",
      metadata: [
        "app": "\(app.name)", "config": "\(interface.configID.uuidString.lowercased())",
        "intents": "\(interface.understanding.grammar.intents.count)",
        "entities": "\(interface.understanding.grammar.entities.count)",
        "seconds": "\(product.duration / .seconds(1))",
      ])
    return (interface, product.diagnostics)
  }

  private func keep(
    _ source: InterfaceSource, _ interface: DeployedInterface, for app: UUID
  ) async throws(VoiceFailure) {
    let record = InterfaceStore.Record(
      configID: interface.configID, form: source.form, deployedAt: interface.deployedAt)
    try await self.compiler.perform { [store = self.store] () throws(VoiceFailure) in
      try store.keep(source, record, for: app)
    }
  }

  private func refuse(_ failure: VoiceFailure, of app: ServerConfiguration.App) {
    self.state.withLock { $0.failed(app.id, failure) }
    self.logger.notice(
      "configuration refused",
      metadata: ["app": "\(app.name)", "code": "\(failure.code)", "reason": "\(failure.message)"])
  }

  // MARK: What was deployed

  /// The files of a configuration as they were sent.
  ///
  /// - Parameter configID: Which one; `nil` for the current one.
  /// - Throws: ``VoiceFailure`` with `server.interface.missing` if there is none, or a code of the data folder.
  func source(
    of app: ServerConfiguration.App, configID: UUID? = nil
  ) async throws(VoiceFailure) -> InterfaceSource {
    let current = self.current(of: app.id)
    let source = try await self.compiler.perform {
      [store = self.store] () throws(VoiceFailure) -> InterfaceSource? in
      if let configID, configID != current?.configID { return try store.source(of: configID, for: app.id) }
      guard let record = try store.current(of: app.id) else { return nil }
      return try store.source(of: record, for: app.id)
    }
    if let source { return source }
    let wantsCurrent = configID == nil || configID == current?.configID
    if wantsCurrent, current?.configID == DemoInterface.configID {
      return InterfaceSource(form: .yaml, bytes: Array(DemoInterface.text.utf8))
    }
    throw VoiceFailure(
      .interfaceMissing,
      message: wantsCurrent
        ? "Nothing was deployed to the app \(app.name) yet. Deploy a configuration first."
        : "The server does not keep this configuration any more. Leave its id empty to get the current one.")
  }

  /// Forgets all about an app.
  func remove(_ app: UUID) async {
    self.state.withLock { $0.removed(app) }
    await self.compiler.perform { [store = self.store] in store.remove(app) }
  }

  /// What is wrong or odd in a configuration.
  ///
  /// - Throws: ``VoiceFailure`` with `server.interface.archive-invalid` if its files cannot be read.
  func diagnostics(of source: InterfaceSource, language: String) async throws(VoiceFailure) -> [SALDiagnostic]
  {
    try await self.compiler.diagnostics(of: source, language: language)
  }

  /// Compiles a configuration without deploying it.
  func compile(
    _ source: InterfaceSource, language: String
  ) async -> Result<InterfaceCompiler.Product, InterfaceProblem> {
    await self.compiler.compile(source, language: language, keeps: false)
  }

  /// What of a compiled configuration the recogniser cannot recognise.
  func recognitionProblems(of product: InterfaceCompiler.Product) async -> [VoiceFailure] {
    await self.compiler.perform { [engine = self.engine] in
      engine?.problems(of: RecognitionGrammar(product.understanding)) ?? []
    }
  }
}
