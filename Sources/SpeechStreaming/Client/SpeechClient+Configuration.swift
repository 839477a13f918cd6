public import Foundation
public import NIOCore
public import VoiceAudio
public import VoiceCore
public import VoicePlatform

extension SpeechClient {
  /// Whose voice interface is used.
  public enum App: Hashable, Sendable {
    /// One app.
    case app(UUID)
    /// All apps of a project; ``SpeechClient/start(appId:options:)`` says which one.
    case project(UUID)

    var loginScope: LoginScope {
      switch self {
      case .app(let id): .app(id)
      case .project(let id): .project(id)
      }
    }
  }

  /// The settings of a client; every one has a default but the app.
  public struct Configuration: Sendable {
    /// Whose voice interface is used.
    public var app: App
    /// The language that will be spoken; empty for the language of the app.
    public var language: LanguageCode
    /// The address of the identity service.
    public var identityAddress = GRPCAddress.defaultAddress
    /// The address of the recognition service.
    public var speechAddress = GRPCAddress.defaultAddress
    /// A PEM file of authorities to trust in place of the system's.
    public var trustedCertificates: String?
    /// Where networking runs; `nil` for a shared group.
    public var eventLoopGroup: (any EventLoopGroup)?
    /// Options sent with every start (protocol §2.4).
    public var options: [String: [String]] = [:]
    /// How long the client tries to get a lost server back.
    public var retry = RetryPolicy()
    /// How long recording goes on after ``SpeechClient/stop()``, so that the last word is whole.
    public var postRoll: Duration = .milliseconds(500)
    /// How much audio is kept for a server that is slow or away; 32 KB for each second. When it is full the oldest audio goes.
    public var window: Duration = .seconds(300)
    /// How long a stream without a context stays open.
    public var idleTimeout: Duration = .seconds(30)
    /// How long the server may owe an answer before it counts as lost.
    public var replyTimeout: Duration = .seconds(15)
    /// How long a login may take.
    public var loginTimeout: Duration = .seconds(8)
    /// The longest context that the server is given; longer ones are split at a pause. The protocol allows five minutes.
    public var contextLimit: Duration = .seconds(290)
    /// How many events a slow reader may leave unread.
    public var eventCapacity = 4096
    /// Where the token and the device id are kept; `nil` for the system's store: files that only the user can read on Linux, the
    /// keychain on Apple platforms.
    public var store: (any SecureStore)?
    /// Tells when the network has changed, so that a waiting client tries again at once; `nil` to do without.
    public var paths: (any NetworkPathMonitor)? = SystemNetworkPathMonitor.shared
    /// Recognises on this device when the server cannot be used: the utterance that is running goes on there, and the next one
    /// tries the server again. `nil` to wait for the server, as long as ``retry`` allows.
    public var onDevice: OnDeviceRecognition?
    /// With ``onDevice``: how long the server may leave an utterance unacknowledged before it is recognised on the device.
    public var serverPatience: Duration = .seconds(2)
    /// Whether a server is used at all.
    let usesServer: Bool
    /// The identity of this device; `nil` for one that is made once and kept.
    public var deviceId: UUID?

    /// Creates settings.
    public init(app: App, language: LanguageCode = "") {
      self.app = app
      self.language = language
      self.usesServer = true
    }

    /// Creates settings for recognition on this device alone: no login, no network.
    public init(onDevice: OnDeviceRecognition, language: LanguageCode = "") {
      self.app = .app(UUID())
      self.language = language
      self.onDevice = onDevice
      self.usesServer = false
    }

    var machineConfiguration: SessionMachine.Configuration {
      var result = SessionMachine.Configuration()
      result.language = self.language.rawValue
      if case .app(let id) = self.app { result.appId = id.uuidString.lowercased() }
      result.options = self.options
      result.window = max(.seconds(1), self.window)
      result.postRoll = self.postRoll
      result.idleTimeout = self.idleTimeout
      result.replyTimeout = self.replyTimeout
      result.legLimit = min(max(.seconds(5), self.contextLimit), max(.seconds(5), self.window))
      result.retry = self.retry
      result.hasServer = self.usesServer
      result.hasEngine = self.onDevice != nil
      result.serverPatience = max(.zero, self.serverPatience)
      return result
    }
  }
}

/// Runs a client for the time of a closure.
///
/// When the closure returns, the open context is finished and the client is closed; when it throws, or the task is cancelled, the
/// context is given up.
///
/// - Throws: What the closure throws, and ``VoiceFailure`` `network.address.invalid`.
public func withSpeechClient<Result: Sendable>(
  _ configuration: SpeechClient.Configuration,
  source: any AudioSource,
  _ body: @Sendable @escaping (SpeechClient) async throws -> Result
) async throws -> Result {
  let client = try SpeechClient(configuration: configuration, source: source)
  return try await client.whileRunning { try await body(client) }
}

extension SpeechClient {
  func whileRunning<Result: Sendable>(
    _ body: @Sendable @escaping () async throws -> Result
  ) async throws -> Result {
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { await self.run() }
      do {
        let result = try await body()
        self.close()
        return result
      } catch {
        group.cancelAll()
        throw error
      }
    }
  }
}
