public import Foundation
import VoiceCore

/// What a ``VoiceServer`` needs to know; the defaults give a working server for one demo app.
///
/// From a file: ``init(contentsOfFile:environment:)``. The keys are named there.
public struct ServerConfiguration: Hashable, Sendable {
  /// The address to listen at: an IPv4 or IPv6 address or a host name; only this machine by default.
  public var host: String

  /// The port for gRPC; 0 takes a free one.
  public var grpcPort: Int

  /// The port for calls, health, metrics and the JSON login; 0 takes a free one.
  public var httpPort: Int

  /// Where the server keeps what must survive a restart.
  public var dataFolder: String

  /// The apps that clients may use.
  public var apps: [App]

  /// Settings of projects; a project without settings need not be listed.
  public var projects: [Project]

  /// What the server allows.
  public var limits: Limits

  /// How long an access token is valid.
  ///
  /// Published clients sign in again on every start if less than an hour is left.
  public var tokenLifetime: Duration

  /// How long running contexts may go on when the server is asked to stop.
  public var drainTime: Duration

  /// What the gateway for calls needs to know.
  public var calls: Calls

  /// The certificate of both ports, or `nil` for ports without TLS.
  public var tls: TLS?

  /// The port for gRPC unless the configuration says otherwise.
  public static let defaultGRPCPort = 50051

  /// Creates a configuration.
  public init(
    host: String = "127.0.0.1",
    grpcPort: Int = ServerConfiguration.defaultGRPCPort,
    httpPort: Int = 8080,
    dataFolder: String = ServerConfiguration.defaultDataFolder(),
    apps: [App] = [.demo],
    projects: [Project] = [],
    limits: Limits = Limits(),
    tokenLifetime: Duration = .seconds(86_400),
    drainTime: Duration = .seconds(10),
    calls: Calls = Calls(),
    tls: TLS? = nil
  ) {
    self.host = host
    self.grpcPort = grpcPort
    self.httpPort = httpPort
    self.dataFolder = dataFolder
    self.apps = apps
    self.projects = projects
    self.limits = limits
    self.tokenLifetime = tokenLifetime
    self.drainTime = drainTime
    self.calls = calls
    self.tls = tls
  }

  /// The data folder that is used when none is named: `$XDG_STATE_HOME/swift-voice/server`, else
  /// `~/.local/state/swift-voice/server`.
  ///
  /// - Parameter environment: The environment variables.
  public static func defaultDataFolder(
    environment: [String: String] = ProcessInfo.processInfo.environment
  ) -> String {
    // The XDG base directory specification tells to ignore a path that is not absolute.
    if let state = environment["XDG_STATE_HOME"], state.hasPrefix("/") {
      return state + "/swift-voice/server"
    }
    let home = environment["HOME"].flatMap { $0.hasPrefix("/") ? $0 : nil }
    return (home ?? FileManager.default.homeDirectoryForCurrentUser.path)
      + "/.local/state/swift-voice/server"
  }
}

extension ServerConfiguration {
  /// Something that clients sign in to: a voice interface in one language.
  public struct App: Hashable, Sendable, Identifiable {
    /// What clients name in their login.
    public var id: UUID
    /// For people.
    public var name: String
    /// The project that the app belongs to.
    public var project: UUID
    /// The language as a BCP 47 tag.
    public var language: String
    /// The file or folder with the app's configuration, as an absolute path; it counts until another is deployed.
    public var templates: String?
    /// How long a pause ends a segment, or `nil` if pauses do not; clients may ask for something else.
    public var segmentingSilence: Duration?

    /// Creates an app.
    public init(
      id: UUID, name: String, project: UUID, language: String = "en-US",
      templates: String? = nil, segmentingSilence: Duration? = nil
    ) {
      self.id = id
      self.name = name
      self.project = project
      self.language = language
      self.templates = templates
      self.segmentingSilence = segmentingSilence
    }

    /// The app of a server without configuration: id `00000000-0000-4000-8000-000000000001`, project
    /// `00000000-0000-4000-8000-000000000002`, language `en-US`.
    public static let demo = App(
      id: UUID(uuid: (0, 0, 0, 0, 0, 0, 0x40, 0, 0x80, 0, 0, 0, 0, 0, 0, 1)), name: "demo",
      project: UUID(uuid: (0, 0, 0, 0, 0, 0, 0x40, 0, 0x80, 0, 0, 0, 0, 0, 0, 2)))
  }

  /// Settings of a project: a group of apps with one login.
  public struct Project: Hashable, Sendable, Identifiable {
    /// What clients name in a project login.
    public var id: UUID
    /// Long-lived keys that are accepted in place of an access token, at least 16 characters each.
    public var apiKeys: [String]

    /// Creates the settings of a project.
    public init(id: UUID, apiKeys: [String] = []) {
      self.id = id
      self.apiKeys = apiKeys
    }
  }

  /// The files of a certificate, in PEM form.
  public struct TLS: Hashable, Sendable {
    /// The file with the certificate, followed by the certificates of its issuers.
    public var certificate: String
    /// The file with the private key.
    public var key: String

    /// Names the files.
    public init(certificate: String, key: String) {
      self.certificate = certificate
      self.key = key
    }
  }

  /// What the server allows, so that one client cannot take it all.
  public struct Limits: Hashable, Sendable {
    /// How many utterances are recognised at once; each takes one decoder with its models in memory.
    public var decoders = 2
    /// How many streams may be open at once.
    public var streams = 256
    /// The size of one audio message from which on it is refused, in bytes; the protocol says 1 MB.
    public var chunkBytes = 1_000_000
    /// How long a context may be, in audio.
    public var contextDuration: Duration = .seconds(300)
    /// The most metadata that a request may have, names and values together, in bytes.
    public var metadataBytes = 8192
    /// How long a stream may be open without a message.
    public var idleTime: Duration = .seconds(60)
    /// How long a context waits for a free decoder before it is refused.
    public var decoderPatience: Duration = .seconds(2)
    /// How many logins per second one client address may make in the long run; ten times as many at once.
    public var loginsPerSecond = 20

    /// Creates the default limits.
    public init() {}
  }
}

/// A configuration is printed without the keys in it.
extension ServerConfiguration.Project: CustomStringConvertible, CustomDebugStringConvertible {
  public var description: String { "project \(self.id) with \(self.apiKeys.count) keys" }
  public var debugDescription: String { self.description }
}
