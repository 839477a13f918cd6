import CallSignaling
import VoiceCore

@testable import VoiceServer

/// The credentials and the address of one client in a call, and the rules by which clients change them.
struct ModelledClient {
  enum Kind: String, CaseIterable {
    /// Answers a restart with new credentials always, and an attach with a wholly new transport, as browsers do.
    case browser
    /// Keeps credentials that the other side has not used yet, unless it restarts with an offer of its own.
    case keeping
    /// The same, with a new transport when it attaches.
    case keepingAnew
  }

  let kind: Kind
  let name: String
  var callID = CallID("")
  private(set) var local = "0"
  private(set) var remote = "0"
  /// Where it is, which is another place after each outage.
  var address = 0
  /// Where it believes the other side to be.
  private(set) var remoteAddress = 0
  /// What an own restart proposes.
  private(set) var proposed: String?
  /// Whether the other side was seen to use what is used here.
  var isConfirmed = true
  private var count = 0

  init(_ name: String, _ kind: Kind) {
    self.name = name
    self.kind = kind
  }

  private func fragment(_ number: String) -> String { self.name + number }

  /// How this client describes itself, with another line for who begins the handshake.
  func description(_ number: String? = nil, setup: String = "active") -> SDP {
    let fragment = self.fragment(number ?? self.local)
    return SDP(
      "v=0\r\nm=audio 9 UDP/TLS/RTP/SAVPF 111\r\na=ice-ufrag:\(fragment)\r\na=ice-pwd:secret-of-\(fragment)\r\na=setup:\(setup)\r\na=candidate:1 1 udp 1 192.0.2.\(self.address) 5000 typ host\r\n"
    )
  }

  static func fragment(in sdp: SDP) -> String {
    sdp.text.split(whereSeparator: \.isNewline).first { $0.hasPrefix("a=ice-ufrag:") }
      .map { String($0.dropFirst(12)) } ?? ""
  }

  /// Takes where the other side says that it is.
  private mutating func locate(_ sdp: SDP) {
    let line = sdp.text.split(whereSeparator: \.isNewline).first { $0.hasPrefix("a=candidate:") }
    let address = line?.split(separator: " ").first { $0.hasPrefix("192.0.2.") }
    self.remoteAddress = address.flatMap { Int($0.dropFirst(8)) } ?? -1
  }

  private mutating func next() -> String {
    self.count += 1
    return String(self.count)
  }

  private mutating func renew() {
    self.local = self.next()
    self.isConfirmed = false
  }

  mutating func began(with other: SDP) {
    self.remote = Self.fragment(in: other)
    self.locate(other)
  }

  mutating func answer(_ offer: SDP) -> SDP {
    self.proposed = nil
    self.locate(offer)
    let theirs = Self.fragment(in: offer)
    let isOfAnAnswer = !offer.text.contains("a=setup:actpass")
    if theirs != self.remote {
      if self.kind == .browser || self.isConfirmed || !isOfAnAnswer { self.renew() }
      self.remote = theirs
    }
    return self.description()
  }

  mutating func attach(_ offer: SDP) -> SDP {
    guard self.kind != .keeping else { return self.answer(offer) }
    self.proposed = nil
    self.locate(offer)
    self.renew()
    self.remote = Self.fragment(in: offer)
    return self.description()
  }

  mutating func propose() -> SDP {
    let number = self.next()
    self.proposed = number
    return self.description(number, setup: "actpass")
  }

  /// - Returns: Whether the offer was still open.
  mutating func took(_ answer: SDP) -> Bool {
    guard let proposed else { return false }
    self.local = proposed
    self.proposed = nil
    self.locate(answer)
    self.remote = Self.fragment(in: answer)
    self.isConfirmed = false
    return true
  }

  mutating func wasRefused() { self.proposed = nil }

  /// Whether both use the same credentials.
  func matches(_ other: ModelledClient) -> Bool {
    self.remote == other.fragment(other.local) && other.remote == self.fragment(self.local)
  }

  /// Whether both know besides where the other one is.
  func reaches(_ other: ModelledClient) -> Bool {
    self.matches(other) && self.remoteAddress == other.address && other.remoteAddress == self.address
  }
}
