import ArgumentParser
import Foundation
import SpeechProtocol
import SpeechStreaming
import SpeechUnderstanding
import VoiceCore
import VoiceServer

/// `voice deploy`: gives an app of a server a new configuration, or fetches the one that it has.
struct DeployCommand: ContextCommand {
  static let configuration = CommandConfiguration(
    commandName: "deploy",
    abstract: "Deploys an app's configuration to a server, or downloads it.",
    usage: """
      voice deploy DIR [--watch] [--app ID] [--server ADDR] [--key-file FILE]
      voice deploy --download DIR [--app ID] [--server ADDR] [--key-file FILE]
      """,
    discussion: """
      The configuration is checked here first, then sent, compiled there, and used by every utterance that begins \
      afterwards; those that are being spoken go on with the old one. A configuration with errors changes nothing.

      With --watch it stays, and deploys again whenever the files change, until Ctrl-C; errors are shown, and what was \
      deployed before keeps serving.

      The API key of the app's project comes from VOICE_API_KEY or from a file, never from the command line, where other \
      users could see it. A server of this user without any configured key has made one: it is found by itself.
      """)

  @Argument(
    help: ArgumentHelp("A folder with .yaml, .sal and .csv files, or one such file.", valueName: "dir"))
  var directory: String?

  @Option(help: ArgumentHelp("Write the app's present configuration into this folder.", valueName: "dir"))
  var download: String?

  @Flag(help: "Deploy again whenever the files change.")
  var watch = false

  @Option(help: ArgumentHelp("The app (default: the demo app).", valueName: "uuid"))
  var app: String?

  @Option(
    help: ArgumentHelp(
      "The server (default: VOICE_SERVER, else the one on this machine).", valueName: "addr"))
  var server: String?

  @Option(help: ArgumentHelp("A file with the API key of the project.", valueName: "file"))
  var keyFile: String?

  @Option(
    name: .customLong("tls-ca"),
    help: ArgumentHelp("A PEM file with authorities to trust instead of the system's.", valueName: "file"))
  var trustedCertificates: String?

  @OptionGroup var common: CommonOptions

  func validate() throws {
    guard (self.directory == nil) != (self.download == nil) else {
      throw ValidationError("Give either a folder to deploy or --download with a folder to write.")
    }
    if self.watch, self.download != nil {
      throw ValidationError("--watch is for deploying, not for --download.")
    }
    if let app, UUID(uuidString: app) == nil {
      throw ValidationError("--app is the id of an app, a UUID such as \(Self.demo.uuidString.lowercased()).")
    }
  }

  private static let demo = ServerConfiguration.App.demo.id

  func run(in context: CommandContext) async -> CommandStatus {
    let (events, continuation) = AsyncStream.makeStream(of: CommandStatus.self)
    return await withTaskGroup(of: Void.self) { group in
      group.addTask { [stopSignals = context.stopSignals] in
        for await _ in stopSignals() { continuation.yield(.interrupted) }
      }
      group.addTask { continuation.yield(await self.perform(in: context)) }
      defer { group.cancelAll() }
      for await status in events { return status }
      return .interrupted
    }
  }

  private func perform(in context: CommandContext) async -> CommandStatus {
    do throws(VoiceFailure) {
      let app = self.app.flatMap { UUID(uuidString: $0) } ?? Self.demo
      if let download { return try await self.download(app, to: download, in: context) }
      let directory = self.directory ?? ""
      return self.watch
        ? try await self.watch(directory, for: app, in: context)
        : try await self.deploy(directory, to: app, in: context)
    } catch {
      return Task.isCancelled ? .interrupted : context.fail(error, json: self.common.json)
    }
  }

  // MARK: Deployment

  /// Deploys what is in the folder, and again whenever it changes, until the task is cancelled.
  ///
  /// - Throws: ``VoiceFailure`` if the first attempt fails for a reason that no change of the files removes.
  private func watch(
    _ directory: String, for app: UUID, in context: CommandContext
  ) async throws(VoiceFailure) -> CommandStatus {
    let watch = FolderWatch(folder: ConfigurationFolder(path: directory), clock: context.clock)
    var isFirst = true
    while true {
      // Taken before, so that what changes meanwhile is deployed next.
      let stamp = watch.stamp()
      do throws(VoiceFailure) {
        _ = try await self.deploy(directory, to: app, in: context)
      } catch {
        if Task.isCancelled { return .interrupted }
        // What the files have to do with gives the status of an input.
        if isFirst, CommandStatus(error.code) != .input { throw error }
        _ = context.fail(error, json: self.common.json)
      }
      isFirst = false
      if !self.common.json {
        context.console.error.line(
          StyledText("Waiting for changes in \(directory); Ctrl-C ends.", .dim))
      }
      do { _ = try await watch.change(from: stamp) } catch { return .interrupted }
    }
  }

  private func deploy(
    _ directory: String, to app: UUID, in context: CommandContext
  ) async throws(VoiceFailure) -> CommandStatus {
    let file = InterfaceFile(path: directory)
    let understanding = try file.understanding(in: context, json: self.common.json)
    if !self.common.json { file.report(.warning, on: context.console.error) }
    let archive = try TarArchive.archive(of: try ConfigurationFolder(path: directory).files())
    let client = try self.client(in: context)
    let start = context.clock.now
    let progress = DeploymentProgress(
      console: context.console, total: archive.count, isShown: !self.common.json)
    defer { progress.clear() }
    let deployed = try await client.connected { connection in
      try await client.upload(archive, to: app, over: connection) { progress.sent($0) }
      while true {
        let state = try await client.app(app, over: connection)
        switch state.status {
        case .trained: return state
        case .failed: throw VoiceFailure(.interfaceInvalid, message: state.errorMsg)
        case .unspecified, .new, .training, .inactive, .deleted, .UNRECOGNIZED: break
        }
        progress.compiling()
        try await context.clock.sleep(
          until: context.clock.now.advanced(by: .milliseconds(500)), tolerance: nil)
      }
    }
    progress.clear()
    for problem in DeploymentWarnings.problems(in: deployed.errorMsg) {
      context.warn(problem, json: self.common.json)
    }
    let summary = DeploymentSummary(
      name: deployed.name, id: app, understanding: understanding, time: start.duration(to: context.clock.now))
    if self.common.json {
      context.console.output.write(summary.json.text + "\n")
    } else {
      context.console.output.line(summary.text(context.console.symbols))
    }
    return .done
  }

  // MARK: Download

  private func download(
    _ app: UUID, to directory: String, in context: CommandContext
  ) async throws(VoiceFailure) -> CommandStatus {
    let client = try self.client(in: context)
    let (bytes, isArchive) = try await client.connected { connection in
      try await client.download(app, over: connection)
    }
    let files =
      isArchive ? try TarArchive.files(in: bytes) : [ConfigurationFile(name: "app.yaml", bytes: bytes)]
    try ConfigurationFolder(path: Paths.absolute(directory)).write(files)
    if self.common.json {
      let object = JSONValue.object([
        "event": .string("downloaded"), "app": .string(app.uuidString.lowercased()),
        "files": .array(files.map { .string($0.name) }),
      ])
      context.console.output.write(object.text + "\n")
    } else {
      let good = StyledText("\(context.console.symbols.good) ", .green)
      let names = files.map(\.name).joined(separator: ", ")
      context.console.output.line(good + StyledText("Wrote \(names) into \(directory)."))
    }
    return .done
  }

  // MARK: The server

  private func client(in context: CommandContext) throws(VoiceFailure) -> DeploymentClient {
    let named = self.server ?? context.environment["VOICE_SERVER"].flatMap { $0.isEmpty ? nil : $0 }
    let address = try GRPCAddress.parse(RecognizeCommand.address(named ?? "127.0.0.1"))
    return DeploymentClient(
      address: address, key: try self.key(for: address, in: context),
      trustedCertificates: self.trustedCertificates)
  }

  /// The key: that of the file, of the environment, or the one that a server of this user has made for itself.
  private func key(for address: GRPCAddress, in context: CommandContext) throws(VoiceFailure) -> String {
    if let keyFile {
      guard let key = Self.key(inFile: keyFile) else {
        throw VoiceFailure(
          .credentialsRejected,
          message:
            "There is no API key in \(keyFile). The file holds the key of the app's project in one line.",
          recovery: .changeConfiguration("the key file"))
      }
      return key
    }
    if let key = context.environment["VOICE_API_KEY"], Self.isKey(key) { return key }
    let isLocal = ["127.0.0.1", "localhost", "::1"].contains(address.host)
    let folder = ServerConfiguration.defaultDataFolder(environment: context.environment)
    if isLocal, let key = Self.key(inFile: folder + "/" + ServerConfiguration.demoKeyName) { return key }
    throw VoiceFailure(
      .credentialsRejected,
      message:
        "There is no API key. Put the key of the app's project into VOICE_API_KEY, or name a file with --key-file.",
      recovery: .changeConfiguration("VOICE_API_KEY"))
  }

  private static func key(inFile path: String) -> String? {
    guard let data = FileManager.default.contents(atPath: path), data.count <= 4096,
      let text = String(validating: data, as: UTF8.self)
    else { return nil }
    let key = text.trimmingCharacters(in: .whitespacesAndNewlines)
    return Self.isKey(key) ? key : nil
  }

  /// Whether a text can stand in a header.
  private static func isKey(_ text: String) -> Bool {
    !text.isEmpty && text.utf8.allSatisfy { (33...126).contains($0) }
  }
}
