/// Where a WebSocket server is: scheme, host, port, path and query (RFC 6455 section 3).
///
/// Everything that was written is kept, so that a client which connects again connects to the same place.
public struct WebSocketAddress: Hashable, Sendable, CustomStringConvertible {
  /// Whether the connection is encrypted (`wss`).
  public var isSecure: Bool
  /// A name, or an IP address without brackets.
  public var host: String
  /// The port, 80 and 443 unless written.
  public var port: Int
  /// The path as written, `/` at least.
  public var path: String
  /// The query as written, without the question mark.
  public var query: String?

  /// Creates an address of its parts.
  public init(isSecure: Bool = false, host: String, port: Int, path: String = "/", query: String? = nil) {
    self.isSecure = isSecure
    self.host = host
    self.port = port
    self.path = path.isEmpty ? "/" : path
    self.query = query
  }

  /// Reads an address such as `wss://calls.example.org:8443/gateway?region=eu`.
  ///
  /// - Throws: ``WebSocketFailure/addressInvalid(_:)`` with what is wrong with it. A user name or a fragment is refused: the one
  ///   would be sent in the clear, the other has no meaning (RFC 6455 section 3).
  public init(_ text: String) throws(WebSocketFailure) {
    guard text.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else {
      throw .addressInvalid("it has a space, a control character or a letter outside ASCII")
    }
    guard let colon = text.firstRange(of: "://") else {
      throw .addressInvalid("it does not begin with ws:// or wss://")
    }
    switch text[..<colon.lowerBound].lowercased() {
    case "ws": self.isSecure = false
    case "wss": self.isSecure = true
    default: throw .addressInvalid("it does not begin with ws:// or wss://")
    }
    let rest = text[colon.upperBound...]
    guard !rest.contains("#") else { throw .addressInvalid("it has a fragment (#)") }
    let end = rest.firstIndex { $0 == "/" || $0 == "?" } ?? rest.endIndex
    let authority = rest[..<end]
    guard !authority.contains("@") else {
      throw .addressInvalid("it has a user name; give credentials apart from the address")
    }
    (self.host, self.port) = try Self.hostAndPort(of: authority, default: self.isSecure ? 443 : 80)
    let target = rest[end...]
    let mark = target.firstIndex(of: "?")
    let path = target[..<(mark ?? target.endIndex)]
    self.path = path.isEmpty ? "/" : String(path)
    self.query = mark.map { String(target[target.index(after: $0)...]) }
  }

  /// The path and the query, as they stand in the request line.
  public var target: String { self.path + (self.query.map { "?" + $0 } ?? "") }

  /// The host and the port, as they stand in the `Host` field: the port only if it is not the scheme's own.
  public var hostField: String {
    let host = self.host.contains(":") ? "[\(self.host)]" : self.host
    return self.port == (self.isSecure ? 443 : 80) ? host : "\(host):\(self.port)"
  }

  public var description: String { "\(self.isSecure ? "wss" : "ws")://\(self.hostField)\(self.target)" }

  private static func hostAndPort(
    of authority: Substring, default standard: Int
  ) throws(WebSocketFailure) -> (String, Int) {
    let host: Substring
    let after: Substring
    if authority.first == "[" {
      guard let bracket = authority.firstIndex(of: "]") else {
        throw .addressInvalid("a bracket is not closed")
      }
      host = authority[authority.index(after: authority.startIndex)..<bracket]
      after = authority[authority.index(after: bracket)...]
      guard host.contains(":"), host.allSatisfy({ $0.isHexDigit || $0 == ":" || $0 == "." || $0 == "%" })
      else {
        throw .addressInvalid("there is no IPv6 address in the brackets")
      }
    } else {
      let colon = authority.firstIndex(of: ":") ?? authority.endIndex
      host = authority[..<colon]
      after = authority[colon...]
    }
    guard !host.isEmpty else { throw .addressInvalid("it has no host") }
    if after.isEmpty { return (String(host), standard) }
    guard after.first == ":", after.count > 1, after.dropFirst().allSatisfy(\.isNumber),
      let port = UInt16(after.dropFirst()), port > 0
    else { throw .addressInvalid("the port is not a number from 1 to 65535") }
    return (String(host), Int(port))
  }
}
