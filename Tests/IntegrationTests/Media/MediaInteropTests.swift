import CallMedia
import RealtimeMedia
import Testing

/// Calls between our media and independent peers, one after the other: each needs a browser or has deadlines of real time.
@Suite(.serialized, .timeLimit(.minutes(5)))
struct MediaInteropTests {
  /// Who makes the offer.
  enum Caller: String, Sendable, CaseIterable {
    case own
    case peer
  }

  /// What the call is about.
  enum Codec: String, Sendable, CaseIterable {
    case opus
    case pcmu = "PCMU"

    var own: [AudioCodec] {
      switch self {
      case .opus: [.opus()]
      case .pcmu: [.pcmu]
      }
    }
  }
}
