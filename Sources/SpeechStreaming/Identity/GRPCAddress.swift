import Foundation
package import VoiceCore

/// The address of a gRPC server: `grpc://host:port` without TLS, `grpc+tls://host:port` with TLS.
///
/// Without a port it is 80 or 443. IPv6 hosts are written in brackets. (Source: protocol §1.8.)
public struct GRPCAddress: Hashable, Sendable {
  /// Why an address cannot be read.
  public enum ParseError: Error, Hashable, Sendable {
    /// The address does not start with `grpc://` or `grpc+tls://`.
    case unsupportedScheme
    /// The address has a path, a user, a query, or a port that is not a number from 1 to 65535.
    case unsupportedURL
    /// The address has no host.
    case missingHost
  }

  /// The host name or IP address, without brackets.
  public let host: String
  /// The TCP port.
  public let port: Int
  /// Whether TLS is used.
  public let secure: Bool

  /// Creates an address from its parts.
  public init(host: String, port: Int, secure: Bool) {
    self.host = host
    self.port = port
    self.secure = secure
  }

  /// Reads an address.
  ///
  /// - Throws: ``ParseError``.
  public init(addr: String) throws {
    let secure: Bool
    let rest: Substring
    if addr.hasPrefix("grpc+tls://") {
      secure = true
      rest = addr.dropFirst("grpc+tls://".count)
    } else if addr.hasPrefix("grpc://") {
      secure = false
      rest = addr.dropFirst("grpc://".count)
    } else {
      throw ParseError.unsupportedScheme
    }
    var authority = rest
    if authority.hasSuffix("/") { authority = authority.dropLast() }
    guard !authority.contains(where: { "/?#@ ".contains($0) }) else { throw ParseError.unsupportedURL }

    let host: Substring
    let portText: Substring?
    if authority.hasPrefix("[") {
      guard let close = authority.firstIndex(of: "]") else { throw ParseError.unsupportedURL }
      host = authority[authority.index(after: authority.startIndex)..<close]
      let tail = authority[authority.index(after: close)...]
      guard tail.isEmpty || tail.hasPrefix(":") else { throw ParseError.unsupportedURL }
      portText = tail.isEmpty ? nil : tail.dropFirst()
    } else {
      let parts = authority.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
      host = parts.first ?? ""
      portText = parts.count > 1 ? parts[1] : nil
    }
    guard !host.isEmpty else { throw ParseError.missingHost }
    let port: Int
    if let portText {
      guard let number = Int(portText), (1...65_535).contains(number) else { throw ParseError.unsupportedURL }
      port = number
    } else {
      port = secure ? 443 : 80
    }
    self.init(host: String(host), port: port, secure: secure)
  }

  /// Reads an address, with a failure that says what is wrong.
  package static func parse(_ text: String) throws(VoiceFailure) -> GRPCAddress {
    do {
      return try GRPCAddress(addr: text)
    } catch {
      let reason =
        switch error as? ParseError {
        case .unsupportedScheme: "it must start with grpc:// or grpc+tls://"
        case .missingHost: "it has no host"
        case .unsupportedURL, nil: "after the scheme it must be just host:port"
        }
      throw VoiceFailure(
        .addressInvalid,
        message: "The server address \"\(Self.withoutUserInfo(text))\" cannot be read: \(reason).",
        cause: error)
    }
  }

  /// The text of an address as it may be shown: what stands before an `@`, a name or a password, is replaced by `…`.
  package static func withoutUserInfo(_ text: String) -> String {
    guard let end = text.lastIndex(of: "@") else { return text }
    let scheme = text.range(of: "://").flatMap { $0.upperBound <= end ? text[..<$0.upperBound] : nil } ?? ""
    return "\(scheme)…\(text[end...])"
  }

  /// The address that is used when an app names none: `VOICE_SERVER` from the environment, else the default port of
  /// `voice serve` on this machine.
  public static var defaultAddress: String {
    ProcessInfo.processInfo.environment["VOICE_SERVER"].flatMap { $0.isEmpty ? nil : $0 }
      ?? "grpc://127.0.0.1:50051"
  }
}
