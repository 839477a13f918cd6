import GRPCCore
import GRPCProtobuf
import VoiceCore

/// Why a request is refused: the failure, and how it is said in gRPC.
///
/// A client gets the status with the message, and in the trailing metadata `voice-failure-code` with the failure's
/// code. If trying again helps, `grpc-retry-pushback-ms` and a `google.rpc.RetryInfo` say when.
struct Refusal: Error, Hashable {
  var failure: VoiceFailure
  var status: RPCError.Code
  var retryAfter: Duration?

  /// The trailing metadata key of the failure's code.
  static let codeKey = "voice-failure-code"
  /// The trailing metadata key of gRPC's retry design for the server's wish, in milliseconds.
  static let pushBackKey = "grpc-retry-pushback-ms"

  init(
    _ failure: VoiceFailure, status: RPCError.Code? = nil, retryAfter: Duration? = nil
  ) {
    self.failure = failure
    self.status = status ?? Self.status(of: failure.code)
    self.retryAfter = retryAfter ?? Self.retryAfter(failure)
  }

  init(
    _ code: VoiceFailure.Code, _ message: String, status: RPCError.Code? = nil,
    retryAfter: Duration? = nil
  ) {
    self.init(VoiceFailure(code, message: message), status: status, retryAfter: retryAfter)
  }

  static func == (left: Refusal, right: Refusal) -> Bool {
    left.failure == right.failure && left.status == right.status && left.retryAfter == right.retryAfter
  }

  func hash(into hasher: inout Hasher) {
    hasher.combine(self.failure.code)
    hasher.combine(self.failure.message)
  }

  private static func status(of code: VoiceFailure.Code) -> RPCError.Code {
    switch code {
    case .unknownApp, .interfaceMissing, .operationUnknown: .notFound
    case .credentialsRejected, .tokenExpired: .permissionDenied
    case .languageNotOffered, .loginInvalid, .requestInvalid, .interfaceInvalid, .archiveInvalid:
      .invalidArgument
    case .orderViolated, .appReadOnly: .failedPrecondition
    case .chunkTooLarge, .interfaceTooLarge, .dataFolderFull: .resourceExhausted
    case .deploymentBusy: .aborted
    case .methodNotOffered, .sourceNotOffered: .unimplemented
    case .contextTooLong: .outOfRange
    case .serverOverloaded, .serverStopping: .unavailable
    case .streamIdle: .deadlineExceeded
    default: .internalError
    }
  }

  private static func retryAfter(_ failure: VoiceFailure) -> Duration? {
    switch failure.code {
    case .serverOverloaded, .serverStopping, .deploymentBusy: .seconds(1)
    default: nil
    }
  }
}

extension RPCError {
  init(_ refusal: Refusal) {
    let message = refusal.failure.withoutServerPaths.message
    var metadata: Metadata = [Refusal.codeKey: "\(refusal.failure.code)"]
    if let delay = refusal.retryAfter {
      let components = delay.components
      let milliseconds =
        components.seconds * 1000 + components.attoseconds / 1_000_000_000_000_000
      metadata.addString("\(milliseconds)", forKey: Refusal.pushBackKey)
      let status = GoogleRPCStatus(
        code: refusal.status, message: message, details: .retryInfo(delay: delay))
      // The detail repeats what the plain key says; a client is served without it too.
      if let bytes: [UInt8] = try? status.serializedBytes() {
        metadata.addBinary(bytes, forKey: "grpc-status-details-bin")
      }
    }
    self.init(
      code: refusal.status, message: message, metadata: metadata,
      cause: refusal.failure)
  }
}

extension VoiceFailure {
  /// The same failure for a client, who is told nothing of the server's folders; the log has all.
  var withoutServerPaths: VoiceFailure {
    switch self.code {
    case .dataFolderNotWritable, .dataFolderFull, .keptStateInvalid:
      VoiceFailure(self.code, recovery: self.recovery, scope: self.scope, cause: self)
    default: self
    }
  }
}
