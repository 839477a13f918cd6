public import Foundation
public import NIOCore
public import SpeechProtocol

/// A client of the recognition service, one stream for each utterance. (Source: protocol §1.8.)
public protocol SluClientProtocol: AnyObject, Sendable {
  /// Who is told what the server sends.
  var delegate: (any SluClientDelegate)? { get set }

  /// Opens a stream and starts a context. A stream that is open is given up first.
  func start(token: ApiAccessToken, config: SluConfig) -> EventLoopFuture<Void>

  /// Stops the context; its results keep coming.
  func stop() -> EventLoopFuture<Void>

  /// Gives up the stream.
  func suspend() -> EventLoopFuture<Void>

  /// Makes the client ready again after ``suspend()``.
  func resume() -> EventLoopFuture<Void>

  /// Sends signed 16-bit little-endian samples; the result is false if no stream is open and the audio was dropped.
  func write(data: Data) -> EventLoopFuture<Bool>
}

/// The settings of a stream. (Source: protocol §1.8.)
public struct SluConfig: Hashable, Sendable {
  /// A BCP 47 language tag; the vendor's two are named, any other may be written as a string.
  public struct LanguageCode: RawRepresentable, Hashable, Sendable, ExpressibleByStringLiteral {
    /// The tag, such as `en-US`.
    public let rawValue: String

    /// Creates a code from a tag.
    public init(rawValue: String) {
      self.rawValue = rawValue
    }

    public init(stringLiteral value: String) {
      self.init(rawValue: value)
    }

    /// US English.
    public static let enUS = LanguageCode(rawValue: "en-US")
    /// Finnish.
    public static let fiFI = LanguageCode(rawValue: "fi-FI")
  }

  /// Samples per second.
  public let sampleRate: Double
  /// The number of interleaved channels.
  public let channels: UInt32
  /// The language that will be spoken.
  public let languageCode: LanguageCode

  /// Creates settings.
  public init(sampleRate: Double, channels: UInt32, languageCode: LanguageCode) {
    self.sampleRate = sampleRate
    self.channels = channels
    self.languageCode = languageCode
  }
}

/// The status with which a stream ended; code 0 is success. (The numbers are gRPC's.)
public struct GRPCStatus: Error, Hashable, Sendable {
  /// gRPC's status code.
  public let code: Int
  /// What the server said.
  public let message: String?

  /// Creates a status.
  public init(code: Int, message: String?) {
    self.code = code
    self.message = message
  }

  /// Whether the stream ended in order.
  public var isOk: Bool { self.code == 0 }
}

/// Receives the messages of a ``SluClientProtocol`` as they come. (Source: protocol §1.8.)
public protocol SluClientDelegate: AnyObject, Sendable {
  /// Words that may still change.
  typealias TentativeTranscript = Speechly_Slu_V1_SLUTentativeTranscript
  /// Entities that may still change.
  typealias TentativeEntities = Speechly_Slu_V1_SLUTentativeEntities
  /// An intent that may still change.
  typealias TentativeIntent = Speechly_Slu_V1_SLUIntent
  /// A final word.
  typealias Transcript = Speechly_Slu_V1_SLUTranscript
  /// A final entity.
  typealias Entity = Speechly_Slu_V1_SLUEntity
  /// A final intent.
  typealias Intent = Speechly_Slu_V1_SLUIntent

  /// Something failed.
  func sluClientDidCatchError(_ sluClient: any SluClientProtocol, error: any Error)
  /// The stream has ended.
  func sluClientDidStopStream(_ sluClient: any SluClientProtocol, status: GRPCStatus)
  /// The server has started a context.
  func sluClientDidReceiveContextStart(_ sluClient: any SluClientProtocol, contextId: String)
  /// The server has finished a context.
  func sluClientDidReceiveContextStop(_ sluClient: any SluClientProtocol, contextId: String)
  /// The server has finished a segment.
  func sluClientDidReceiveSegmentEnd(_ sluClient: any SluClientProtocol, contextId: String, segmentId: Int)
  /// Words that may still change came.
  func sluClientDidReceiveTentativeTranscript(
    _ sluClient: any SluClientProtocol, contextId: String, segmentId: Int, transcript: TentativeTranscript)
  /// Entities that may still change came.
  func sluClientDidReceiveTentativeEntities(
    _ sluClient: any SluClientProtocol, contextId: String, segmentId: Int, entities: TentativeEntities)
  /// An intent that may still change came.
  func sluClientDidReceiveTentativeIntent(
    _ sluClient: any SluClientProtocol, contextId: String, segmentId: Int, intent: TentativeIntent)
  /// A final word came.
  func sluClientDidReceiveTranscript(
    _ sluClient: any SluClientProtocol, contextId: String, segmentId: Int, transcript: Transcript)
  /// A final entity came.
  func sluClientDidReceiveEntity(
    _ sluClient: any SluClientProtocol, contextId: String, segmentId: Int, entity: Entity)
  /// The final intent came.
  func sluClientDidReceiveIntent(
    _ sluClient: any SluClientProtocol, contextId: String, segmentId: Int, intent: Intent)
}

extension SluClientDelegate {
  public func sluClientDidCatchError(_: any SluClientProtocol, error: any Error) {}
  public func sluClientDidStopStream(_: any SluClientProtocol, status: GRPCStatus) {}
  public func sluClientDidReceiveContextStart(_: any SluClientProtocol, contextId: String) {}
  public func sluClientDidReceiveContextStop(_: any SluClientProtocol, contextId: String) {}
  public func sluClientDidReceiveSegmentEnd(_: any SluClientProtocol, contextId: String, segmentId: Int) {}
  public func sluClientDidReceiveTentativeTranscript(
    _: any SluClientProtocol, contextId: String, segmentId: Int, transcript: TentativeTranscript
  ) {}
  public func sluClientDidReceiveTentativeEntities(
    _: any SluClientProtocol, contextId: String, segmentId: Int, entities: TentativeEntities
  ) {}
  public func sluClientDidReceiveTentativeIntent(
    _: any SluClientProtocol, contextId: String, segmentId: Int, intent: TentativeIntent
  ) {}
  public func sluClientDidReceiveTranscript(
    _: any SluClientProtocol, contextId: String, segmentId: Int, transcript: Transcript
  ) {}
  public func sluClientDidReceiveEntity(
    _: any SluClientProtocol, contextId: String, segmentId: Int, entity: Entity
  ) {}
  public func sluClientDidReceiveIntent(
    _: any SluClientProtocol, contextId: String, segmentId: Int, intent: Intent
  ) {}
}
