public import Dispatch
public import Foundation
public import NIOCore
import VoiceCore

// The names of generation 0.3, for apps that were written against it. (Source: protocol §1.10.)

/// The name of ``SpeechClient`` in generation 0.3.
public typealias Client = SpeechClient
/// The name of ``SpeechClientProtocol`` in generation 0.3.
public typealias SpeechlyProtocol = SpeechClientProtocol
/// The name of ``SpeechClientDelegate`` in generation 0.3.
public typealias SpeechlyDelegate = SpeechClientDelegate
/// The name of ``SpeechClientError`` in generation 0.3.
public typealias SpeechlyError = SpeechClientError
/// The name of ``SpeechContext`` in generation 0.3.
public typealias AudioContext = SpeechContext
/// The name of ``SpeechSegment`` in generation 0.3.
public typealias Segment = SpeechSegment
/// The name of ``SpeechTranscript`` in generation 0.3.
public typealias Transcript = SpeechTranscript
/// The name of ``SpeechEntity`` in generation 0.3.
public typealias Entity = SpeechEntity
/// The name of ``SpeechIntent`` in generation 0.3.
public typealias Intent = SpeechIntent

extension SpeechClient {
  /// What can be wrong with the identifiers of the initialiser of generation 0.3.
  public enum SpeechlyClientInitError: Error, Hashable, Sendable {
    /// Neither an app nor a project was given.
    case keysMissing
  }

  /// Creates a client on a microphone for an app or a project; with both, the project counts.
  ///
  /// - Throws: ``SpeechlyClientInitError``, and as the initialiser of generation 0.1.
  public convenience init(
    appId: UUID? = nil,
    projectId: UUID? = nil,
    prepareOnInit: Bool = true,
    identityAddr: String = GRPCAddress.defaultAddress,
    sluAddr: String = GRPCAddress.defaultAddress,
    eventLoopGroup: any EventLoopGroup = PlatformSupport.makeEventLoopGroup(loopCount: 1),
    delegateDispatchQueue: DispatchQueue = DispatchQueue(label: "com.speechly.Client.delegateQueue")
  ) throws {
    guard let app = projectId.map(App.project) ?? appId.map(App.app) else {
      throw SpeechlyClientInitError.keysMissing
    }
    try self.init(
      app: app, language: "", prepareOnInit: prepareOnInit, identityAddr: identityAddr, sluAddr: sluAddr,
      eventLoopGroup: eventLoopGroup, delegateDispatchQueue: delegateDispatchQueue)
  }

  /// Starts a context, for the given app after a project login.
  public func startContext(appId: String? = nil) {
    guard let appId else { return self.start() }
    self.start(appIdentifier: appId)
  }

  /// Stops the context.
  public func stopContext() {
    self.stop()
  }
}
