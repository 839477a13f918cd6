public import VoiceCore

extension ICEWarning {
  /// The failure to tell: `call.media.relay-failed` for servers, `call.media.unreachable` for addresses; neither ends anything.
  public var failure: VoiceFailure {
    switch self {
    case .serverUnreachable(let server):
      VoiceFailure(.callRelayFailed, message: "\(server.address) does not answer.")
    case .serverRefused(let server, let error):
      VoiceFailure(.callRelayFailed, message: "\(server.address) refuses: \(error)", cause: error)
    case .serverNotUsed(let server):
      VoiceFailure(
        .callRelayFailed, message: "\(server.address) is not asked: STUN is for UDP, without TLS.")
    case .noCandidates:
      VoiceFailure(.callMediaUnreachable, message: "There is no address at which this side can be reached.")
    case .onlyHostCandidates:
      VoiceFailure(
        .callRelayFailed,
        message: "No server said how this machine is seen from outside; behind a NAT it may not be reached.")
    case .restartFailed:
      VoiceFailure(.callMediaUnreachable, message: "No new way was found; the old one is kept.")
    }
  }
}
