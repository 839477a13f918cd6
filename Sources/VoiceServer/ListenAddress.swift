import Foundation
import GRPCCore
import NIOCore
import VoiceCore

/// Where the server listens.
public struct ListenAddress: Hashable, Sendable, CustomStringConvertible {
  /// The address, without brackets.
  public var host: String
  /// The port.
  public var port: Int

  /// Creates an address.
  public init(host: String, port: Int) {
    self.host = host
    self.port = port
  }

  /// `host:port`, with brackets around an IPv6 address.
  public var description: String {
    self.host.contains(":") ? "[\(self.host)]:\(self.port)" : "\(self.host):\(self.port)"
  }
}

/// The addresses that a running server listens at.
public struct ListenAddresses: Hashable, Sendable {
  /// The gRPC port.
  public var grpc: ListenAddress
  /// The HTTP port.
  public var http: ListenAddress

  /// Creates a pair of addresses.
  public init(grpc: ListenAddress, http: ListenAddress) {
    self.grpc = grpc
    self.http = http
  }
}

/// Turns the errors of listening into failures.
enum ListenFailure {
  /// The IP address of a host.
  ///
  /// - Throws: ``VoiceFailure`` with `server.address.invalid`.
  static func resolve(_ host: String, port: Int) throws(VoiceFailure) -> ListenAddress {
    let text = host.hasPrefix("[") && host.hasSuffix("]") ? String(host.dropFirst().dropLast()) : host
    do {
      let address = try SocketAddress.makeAddressResolvingHost(text, port: port)
      return ListenAddress(host: address.ipAddress ?? text, port: port)
    } catch {
      throw Self.invalid(host, cause: error)
    }
  }

  /// What an error of listening at an address means.
  static func failure(
    from error: any Error, at address: ListenAddress, usesTLS: Bool
  ) -> VoiceFailure {
    if let failure = error as? VoiceFailure { return failure }
    guard let code = self.posixCode(of: error) else {
      if usesTLS, "\(error)".contains("SSL") {
        return VoiceFailure(
          .certificateInvalid,
          message:
            "The certificate or the key of the server cannot be used. Give PEM files that belong together.",
          cause: error)
      }
      return VoiceFailure(
        .unexpected, message: "The server cannot listen at \(address).", scope: .process, cause: error)
    }
    switch code {
    case .EADDRINUSE:
      return VoiceFailure(
        .portInUse,
        message:
          "Another program listens at \(address). Stop it, or use another port; port 0 takes a free one.",
        cause: error)
    case .EACCES, .EPERM:
      return VoiceFailure(
        .portNotPermitted,
        message:
          "This user may not listen at \(address). Use a port above 1023, or give the process the right.",
        cause: error)
    default: return Self.invalid(address.host, cause: error)
    }
  }

  private static func invalid(_ host: String, cause: any Error) -> VoiceFailure {
    VoiceFailure(
      .listenAddressInvalid,
      message:
        "The server cannot listen at \"\(host)\". Use 127.0.0.1, 0.0.0.0, or an address of this machine.",
      cause: cause)
  }

  private static func posixCode(of error: any Error) -> POSIXErrorCode? {
    if let error = error as? IOError { return POSIXErrorCode(rawValue: error.errnoCode) }
    if let error = error as? RuntimeError, let cause = error.cause { return self.posixCode(of: cause) }
    return nil
  }
}
