import NIOCore
public import RealtimeMedia
public import VoiceCore

/// A STUN or TURN server by its address, such as `turn:turn.example.org:3478?transport=tcp` (RFC 7064, RFC 7065).
public struct IceServerAddress: Hashable, Sendable {
  /// How to speak to it.
  public enum Scheme: String, Hashable, Sendable, CaseIterable {
    case stun, stuns, turn, turns
  }

  /// How to speak to it.
  public var scheme: Scheme
  /// The host's name or IP address, without brackets.
  public var host: String
  /// The port; by default 3478, with TLS 5349.
  public var port: UInt16
  /// The transport that is asked for.
  public var transport: ICEAgent.Server.Transport

  /// Reads an address.
  ///
  /// - Throws: ``VoiceFailure`` `network.address.invalid` with what is wrong.
  public init(_ text: String) throws(VoiceFailure) {
    func invalid(_ what: String) -> VoiceFailure {
      VoiceFailure(
        .addressInvalid, message: "“\(text.prefix(100))” is no address of a STUN or TURN server: \(what)")
    }
    guard let colon = text.firstIndex(of: ":"),
      let scheme = Scheme(rawValue: text[..<colon].lowercased())
    else { throw invalid("it begins with stun:, stuns:, turn: or turns:.") }
    self.scheme = scheme
    let parts = text[text.index(after: colon)...].split(
      separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
    let isSecure = scheme == .stuns || scheme == .turns
    var transport = isSecure ? ICEAgent.Server.Transport.tls : .udp
    if parts.count > 1 {
      switch parts[1].lowercased() {
      case "transport=udp":
        guard !isSecure else { throw invalid("TLS needs transport=tcp.") }
      case "transport=tcp": transport = isSecure ? .tls : .tcp
      default: throw invalid("after ? stands transport=udp or transport=tcp.")
      }
    }
    self.transport = transport
    let place = parts.first ?? ""
    var host = place
    var port = isSecure ? "5349" : "3478"
    if place.hasPrefix("[") {
      guard let end = place.firstIndex(of: "]") else { throw invalid("the bracket is not closed.") }
      host = place[place.index(after: place.startIndex)..<end]
      let rest = place[place.index(after: end)...]
      if !rest.isEmpty {
        guard rest.hasPrefix(":") else { throw invalid("after the bracket stands a port.") }
        port = String(rest.dropFirst())
      }
    } else if let colon = place.lastIndex(of: ":") {
      host = place[..<colon]
      port = String(place[place.index(after: colon)...])
    }
    guard !host.isEmpty, host.utf8.count <= 255,
      host.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7f && $0 != UInt8(ascii: "/") && $0 != UInt8(ascii: "@") })
    else { throw invalid("the host is missing or has a character that hosts cannot have.") }
    guard let number = UInt16(port), number > 0 else {
      throw invalid("the port is a number from 1 to 65535.")
    }
    self.host = String(host)
    self.port = number
  }

  /// Whether it is one that forwards media, not only one that says how it sees this machine.
  public var isRelay: Bool {
    switch self.scheme {
    case .stun, .stuns: false
    case .turn, .turns: true
    }
  }

  /// Looks the host up, unless it is an IP address.
  func resolve(on loop: any EventLoop, with lookup: HostLookup) -> EventLoopFuture<[TransportAddress]> {
    guard let ip = IPAddress(self.host) else { return lookup(self.host, self.port, loop) }
    return loop.makeSucceededFuture([TransportAddress(ip, port: self.port)])
  }
}
