public import Foundation
public import VoiceCore

extension ServerConfiguration {
  /// Reads a configuration file (YAML); what the file does not say has the default value.
  ///
  /// Keys: `host`, `grpc_port`, `http_port`, `data`, `token_seconds`, `drain_seconds`, `tls` (`certificate`,
  /// `key`), `apps` (list of `id`, `name`, `project`, `language`, `templates`, `silence_triggered_segmentation` in
  /// ms), `projects` (list of `id`, `api_keys`), `limits` (`decoders`, `streams`, `chunk_bytes`, `context_seconds`,
  /// `metadata_bytes`, `idle_seconds`, `decoder_patience_seconds`, `logins_per_second`), `calls` (`users`: list of `name`,
  /// `password` or `password_hash`, `tokens`; `dial_plan`: list of `number`, `to`; `guests`; `node`; `limits`, see
  /// ``Calls/Limits``). Relative paths count from the folder of the file.
  ///
  /// - Throws: ``VoiceFailure`` with `server.configuration.not-found` if there is no such file, or with
  ///   `server.configuration.invalid` for anything else, naming file, line, key and what is expected.
  public init(
    contentsOfFile path: String,
    environment: [String: String] = ProcessInfo.processInfo.environment
  ) throws(VoiceFailure) {
    let data: Data
    do {
      data = try Data(contentsOf: URL(fileURLWithPath: path))
    } catch let error as CocoaError
      where error.code == .fileReadNoSuchFile || error.code == .fileNoSuchFile
    {
      throw VoiceFailure(
        .configurationNotFound, message: "There is no configuration file at \(path).", cause: error)
    } catch {
      throw VoiceFailure(
        .configurationInvalid,
        message: "\(path): expected a file that can be read: check that it is one, and its rights.",
        cause: error)
    }
    guard let text = String(validating: data, as: UTF8.self) else {
      throw ConfigurationError.failure(
        file: path, line: nil, key: "", expected: "expected YAML in UTF-8, found something that is not")
    }
    try self.init(text: text, file: path, environment: environment)
  }

  /// Reads a configuration from YAML text.
  ///
  /// - Parameters:
  ///   - text: The YAML text.
  ///   - file: The name of the file for messages; its folder is the one that relative paths count from.
  ///   - environment: The environment variables.
  /// - Throws: ``VoiceFailure`` with `server.configuration.invalid`, naming file, line, key and what is expected.
  public init(text: String, file: String, environment: [String: String]) throws(VoiceFailure) {
    self.init(dataFolder: Self.defaultDataFolder(environment: environment))
    let folder = URL(fileURLWithPath: file).deletingLastPathComponent().path
    if let root = try ConfigurationNode.root(ofText: text, file: file) {
      try self.read(root, folder: folder)
    }
    do {
      try self.validate()
    } catch {
      throw VoiceFailure(
        .configurationInvalid, message: "\(file): \(error.message)", recovery: error.recovery)
    }
  }

  private mutating func read(_ root: ConfigurationNode, folder: String) throws(VoiceFailure) {
    let keys = try root.mapping([
      "host", "grpc_port", "http_port", "data", "apps", "projects", "limits", "token_seconds",
      "drain_seconds", "tls", "calls",
    ])
    if let node = keys["host"] { self.host = try node.text("an address or a host name") }
    if let node = keys["grpc_port"] { self.grpcPort = try node.integer(in: Rules.port) }
    if let node = keys["http_port"] { self.httpPort = try node.integer(in: Rules.port) }
    if let node = keys["data"] { self.dataFolder = try node.file(relativeTo: folder) }
    if let node = keys["token_seconds"] {
      self.tokenLifetime = try node.seconds(in: Rules.tokenSeconds)
    }
    if let node = keys["drain_seconds"] {
      self.drainTime = try node.seconds(in: Rules.drainSeconds)
    }
    if let node = keys["limits"] { try self.limits.read(node) }
    if let node = keys["calls"] { self.calls = try Calls(node) }
    if let node = keys["tls"] {
      let tls = try node.mapping(["certificate", "key"])
      guard let certificate = tls["certificate"], let key = tls["key"] else {
        throw node.failure("expected both certificate and key, found only one")
      }
      self.tls = TLS(
        certificate: try certificate.file(relativeTo: folder), key: try key.file(relativeTo: folder))
    }
    if let node = keys["apps"] {
      self.apps = []
      for item in try node.list() {
        let app = try App(item, folder: folder)
        guard !self.apps.contains(where: { $0.id == app.id }) else {
          throw item.failure("expected an id of its own, found \(app.id) a second time")
        }
        self.apps.append(app)
      }
    }
    if let node = keys["projects"] {
      self.projects = []
      for item in try node.list() {
        self.projects.append(try Project(item))
      }
    }
  }
}

extension ServerConfiguration.App {
  fileprivate init(_ node: ConfigurationNode, folder: String) throws(VoiceFailure) {
    let keys = try node.mapping([
      "id", "name", "project", "language", "templates", "silence_triggered_segmentation",
    ])
    guard let id = keys["id"] else { throw node.failure("expected an id (a UUID), found none") }
    guard let project = keys["project"] else {
      throw node.failure("expected a project (a UUID), found none")
    }
    let appID = try id.identifier()
    self.init(
      id: appID, name: try keys["name"]?.text() ?? appID.uuidString.lowercased(),
      project: try project.identifier())
    if let language = keys["language"] { self.language = try language.language() }
    if let templates = keys["templates"] {
      self.templates = try templates.file(relativeTo: folder)
    }
    if let silence = keys["silence_triggered_segmentation"] {
      let milliseconds = try silence.integer(
        in: ServerConfiguration.Rules.silenceMilliseconds)
      self.segmentingSilence = milliseconds == 0 ? nil : .milliseconds(milliseconds)
    }
  }
}

extension ServerConfiguration.Project {
  fileprivate init(_ node: ConfigurationNode) throws(VoiceFailure) {
    let keys = try node.mapping(["id", "api_keys"])
    guard let id = keys["id"] else { throw node.failure("expected an id (a UUID), found none") }
    self.init(id: try id.identifier())
    for key in try keys["api_keys"]?.list() ?? [] {
      self.apiKeys.append(try key.text("a key", isSecret: true))
    }
  }
}

extension ServerConfiguration.Limits {
  fileprivate mutating func read(_ node: ConfigurationNode) throws(VoiceFailure) {
    typealias Rules = ServerConfiguration.Rules
    let keys = try node.mapping([
      "decoders", "streams", "chunk_bytes", "context_seconds", "metadata_bytes", "idle_seconds",
      "decoder_patience_seconds", "logins_per_second",
    ])
    if let node = keys["decoders"] { self.decoders = try node.integer(in: Rules.decoders) }
    if let node = keys["streams"] { self.streams = try node.integer(in: Rules.streams) }
    if let node = keys["chunk_bytes"] { self.chunkBytes = try node.integer(in: Rules.chunkBytes) }
    if let node = keys["context_seconds"] {
      self.contextDuration = try node.seconds(in: Rules.contextSeconds)
    }
    if let node = keys["metadata_bytes"] {
      self.metadataBytes = try node.integer(in: Rules.metadataBytes)
    }
    if let node = keys["idle_seconds"] { self.idleTime = try node.seconds(in: Rules.idleSeconds) }
    if let node = keys["decoder_patience_seconds"] {
      self.decoderPatience = try node.seconds(in: Rules.decoderPatienceSeconds)
    }
    if let node = keys["logins_per_second"] {
      self.loginsPerSecond = try node.integer(in: Rules.loginsPerSecond)
    }
  }
}
