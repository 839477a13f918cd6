/// Why a TURN server does not relay (RFC 8656 section 5 and following).
public enum TURNError: Error, Hashable, Sendable, CustomStringConvertible {
  /// It does not answer.
  case unreachable
  /// The connection to it was closed.
  case connectionClosed
  /// What came on the connection is neither STUN nor channel data.
  case malformedStream
  /// 401 or 441: the user is unknown or the password is wrong.
  case wrongCredentials
  /// 403: not allowed, for example to reach this peer.
  case forbidden
  /// 437: the server does not know the allocation, or already has one for this address.
  case allocationMismatch
  /// 440 or 442: the server relays neither this family of addresses nor UDP.
  case unsupported
  /// 486: the user has too many allocations.
  case quotaReached
  /// 508: the server is full.
  case insufficientCapacity
  /// 300, again and again: servers send from one to the other.
  case tooManyRedirections
  /// The nonce was stale each time.
  case staleNonce
  /// An answer that lacks what it must have.
  case malformedAnswer
  /// Any other code.
  case refused(code: Int)

  /// The error for a code, without those that a client handles by itself.
  init(code: Int) {
    self =
      switch code {
      case 401, 441: .wrongCredentials
      case 403: .forbidden
      case 437: .allocationMismatch
      case 438: .staleNonce
      case 440, 442: .unsupported
      case 486: .quotaReached
      case 508: .insufficientCapacity
      default: .refused(code: code)
      }
  }

  /// Whether the same may succeed later.
  public var isTransient: Bool {
    switch self {
    case .unreachable, .connectionClosed, .malformedStream, .allocationMismatch, .insufficientCapacity,
      .staleNonce, .malformedAnswer:
      true
    case .wrongCredentials, .forbidden, .unsupported, .quotaReached, .tooManyRedirections, .refused: false
    }
  }

  public var description: String {
    switch self {
    case .unreachable: "The relay does not answer."
    case .connectionClosed: "The relay closed the connection."
    case .malformedStream: "The relay sent what is no TURN."
    case .wrongCredentials: "The relay does not accept the user or the password."
    case .forbidden: "The relay forbids it."
    case .allocationMismatch: "The relay does not know the allocation."
    case .unsupported: "The relay does not relay this family of addresses."
    case .quotaReached: "The user has too many allocations on the relay."
    case .insufficientCapacity: "The relay is full."
    case .tooManyRedirections: "The relays send from one to the other."
    case .staleNonce: "The relay never accepts its own nonce."
    case .malformedAnswer: "The relay's answer lacks something."
    case .refused(let code): "The relay refused with code \(code)."
    }
  }
}
