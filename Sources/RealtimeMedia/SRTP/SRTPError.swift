/// Why a packet is not protected, or not accepted.
public enum SRTPError: Error, Hashable, Sendable, CustomStringConvertible {
  /// It is no packet of RTP or RTCP, or too short.
  case malformed
  /// It was changed on its way, or is not from the other side.
  case authentication
  /// It was there already; or, to be sent, its sequence number was.
  case replayed
  /// It is so old that nobody knows whether it was there already.
  case old
  /// The key was used for as many packets as may be (RFC 3711 section 9.2).
  case keyExpired
  /// There are already ``SRTPContext/mostSources`` sources in this direction.
  case tooManySources
  /// A key or salt has another length than its profile demands.
  case wrongKeyLength
  /// There was no memory, or libsrtp2 failed.
  case library

  public var description: String {
    switch self {
    case .malformed: "It is no packet of RTP or RTCP."
    case .authentication: "The packet is not authentic."
    case .replayed: "The packet was there already."
    case .old: "The packet is older than the replay window."
    case .keyExpired: "The key was used for as many packets as may be."
    case .tooManySources: "There are too many sources."
    case .wrongKeyLength: "The key does not fit the profile."
    case .library: "libsrtp2 failed."
    }
  }
}
