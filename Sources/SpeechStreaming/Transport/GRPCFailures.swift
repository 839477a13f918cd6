import GRPCCore
import SpeechProtocol
import VoiceCore

/// Turns what gRPC reports into failures of the catalogue.
package enum GRPCFailures {
  /// The trailing metadata key under which `voice serve` names the exact code of a failure.
  static let codeKey = "voice-failure-code"
  /// The trailing metadata key with which a server asks to stay away for a time, in milliseconds (gRFC A6).
  static let pushBackKey = "grpc-retry-pushback-ms"

  /// The failure behind an error, and how long the server wants to be left alone.
  package static func end(_ error: any Error, address: GRPCAddress?) -> SpeechStreamEnd {
    if let failure = error as? VoiceFailure { return SpeechStreamEnd(failure: failure) }
    guard let rpc = error as? RPCError else {
      if error is CancellationError {
        return SpeechStreamEnd(
          failure: VoiceFailure(.connectionLost, message: "The stream was given up.", cause: error))
      }
      return SpeechStreamEnd(failure: self.connectFailure(error, address: address))
    }
    let pushBack = rpc.metadata[stringValues: Self.pushBackKey].first { _ in true }
      .flatMap { Int64($0) }
      .map { Duration.milliseconds(min(max(0, $0), 3_600_000)) }
    return SpeechStreamEnd(
      failure: self.failure(rpc, pushBack: pushBack, address: address), pushBack: pushBack)
  }

  /// The failure behind a status that is not success.
  static func end(_ status: GRPCStatus) -> SpeechStreamEnd {
    guard let known = Status.Code(rawValue: status.code), let code = RPCError.Code(known) else {
      return SpeechStreamEnd(failure: VoiceFailure(.serverFailed, cause: status))
    }
    return self.end(RPCError(code: code, message: status.message ?? ""), address: nil)
  }

  private static func failure(_ error: RPCError, pushBack: Duration?, address: GRPCAddress?) -> VoiceFailure {
    let message = error.message.isEmpty ? nil : error.message
    if let named = error.metadata[stringValues: Self.codeKey].first(where: { _ in true }) {
      let code = VoiceFailure.Code(named)
      if FailureCatalogue.definition(of: code) != nil {
        return VoiceFailure(code, message: message, cause: error)
      }
    }
    let lowered = error.message.lowercased()
    switch error.code {
    case .unavailable:
      if pushBack != nil { return VoiceFailure(.serverOverloaded, message: message, cause: error) }
      return self.connectFailure(error, address: address)
    case .unauthenticated:
      return VoiceFailure(.credentialsRejected, message: message, cause: error)
    case .permissionDenied:
      return VoiceFailure(
        lowered.contains("expired") ? .tokenExpired : .credentialsRejected, message: message, cause: error)
    case .notFound:
      return VoiceFailure(.unknownApp, message: message, cause: error)
    case .invalidArgument:
      return VoiceFailure(
        lowered.contains("language") ? .languageNotOffered : .requestInvalid, message: message, cause: error)
    case .failedPrecondition:
      return VoiceFailure(.orderViolated, message: message, cause: error)
    case .outOfRange:
      return VoiceFailure(.contextTooLong, message: message, cause: error)
    case .resourceExhausted:
      return VoiceFailure(.serverOverloaded, message: message, cause: error)
    case .deadlineExceeded:
      return VoiceFailure(.serverTimedOut, cause: error)
    case .cancelled, .aborted:
      return VoiceFailure(.connectionLost, cause: error)
    case .unimplemented:
      return VoiceFailure(
        .requestInvalid, message: "The server at this address does not offer speech recognition.",
        cause: error)
    default:
      let status = String(describing: error.code)
      return VoiceFailure(.serverFailed, message: "The server reported an error (\(status)).", cause: error)
    }
  }

  /// A server that answers with TLS where none is spoken.
  static func tlsExpected(at address: GRPCAddress, cause: any Error) -> VoiceFailure {
    VoiceFailure(
      .tlsFailed,
      message:
        "The server at \(address.host):\(address.port) accepts only secure connections. Write grpc+tls:// in its address.",
      cause: cause)
  }

  /// Settings with which no secure connection can even be tried.
  static func trustUnusable(_ path: String?, cause: any Error) -> VoiceFailure {
    guard let path else { return VoiceFailure(.tlsFailed, cause: cause) }
    return VoiceFailure(
      .tlsFailed,
      message:
        "The certificates to trust cannot be read from “\(path)”. It must be a PEM file with at least one certificate.",
      cause: cause)
  }

  private static func tlsFailure(_ text: String, place: String, cause: any Error) -> VoiceFailure? {
    let signs = [
      "NIOSSL", "BoringSSL", "handshakeFailed", "sslError", "unableToValidateCertificate",
      "WRONG_VERSION_NUMBER",
    ]
    guard signs.contains(where: { text.contains($0) }) else { return nil }
    let message =
      if text.contains("WRONG_VERSION_NUMBER") {
        "The server\(place) does not offer secure connections. Write grpc:// in its address, or give the server a certificate."
      } else if text.contains("failedToValidateHostname") || text.contains("unableToValidateCertificate") {
        "The certificate of the server\(place) is for another name. Use the name that is in the certificate."
      } else if text.contains("CERTIFICATE_VERIFY_FAILED") {
        "The certificate of the server\(place) is not trusted. Renew it if it has expired, or trust the authority that signed it (`--tls-ca`)."
      } else {
        "A secure connection to the server\(place) could not be made."
      }
    return VoiceFailure(.tlsFailed, message: message, cause: cause)
  }

  /// What kept a connection from being made, or broke it, found in the chain of causes.
  private static func connectFailure(_ error: any Error, address: GRPCAddress?) -> VoiceFailure {
    let text = String(reflecting: error)
    let place = address.map { " at \($0.host):\($0.port)" } ?? ""
    if let failure = self.tlsFailure(text, place: place, cause: error) { return failure }
    if text.contains("NIOConnectionError") || text.contains("ECONNREFUSED")
      || text.contains("Connection refused")
      || text.contains("dnsError") || text.contains("SocketAddressError") || text.contains("ENETUNREACH")
      || text.contains("EHOSTUNREACH")
    {
      return VoiceFailure(.serverUnreachable, message: "The server\(place) cannot be reached.", cause: error)
    }
    if text.contains("connectTimeout") || text.contains("ETIMEDOUT") {
      return VoiceFailure(
        .serverTimedOut, message: "The server\(place) did not answer in time.", cause: error)
    }
    return VoiceFailure(
      .connectionLost, message: "The connection to the server\(place) was lost.", cause: error)
  }
}
