import Calls

/// A connection of the framework, as the peer sees it: what `RTCPeerConnection` is asked, without its types.
///
/// All methods may be called on any thread.
protocol PeerConnecting: AnyObject, Sendable {
  /// The description of this side with the candidates found so far; `nil` before one was set.
  var localDescription: String? { get }

  /// Makes an offer, which changes nothing until it is set.
  func makeOffer(restartingICE: Bool) async throws -> String
  /// Makes an answer to the offer that was set.
  func makeAnswer() async throws -> String
  /// Sets a description of this side; the text of a rollback is empty.
  func setLocal(_ kind: DescriptionKind, _ text: String) async throws
  /// Sets a description of the other side; the text of a rollback is empty.
  func setRemote(_ kind: DescriptionKind, _ text: String) async throws
  /// Adds a candidate of the other side.
  func add(_ candidate: MediaCandidate) async throws
  /// Lets what the microphone hears be sent, and what comes be played, or not.
  func setAudio(sends: Bool, plays: Bool)
  /// What the framework measured.
  func measure() async throws -> ConnectionReport
  /// Ends it; nothing else is called afterwards.
  func close()
}

/// The kinds of descriptions (RFC 8829 section 4.1.8).
enum DescriptionKind: Hashable, Sendable {
  case offer, provisionalAnswer, answer, rollback
}

/// What a connection is made for.
struct ConnectionSettings: Hashable, Sendable {
  var iceServers: [TxIceServer]
  var relayOnly: Bool
}

/// What a connection tells, at any time and on any thread.
enum ConnectionEvent: Hashable, Sendable {
  /// ICE and DTLS together (`RTCPeerConnectionState`).
  enum State: Hashable, Sendable {
    case new, connecting, connected, disconnected, failed, closed
  }

  /// ICE alone, as the standard has it (`RTCIceConnectionState`).
  enum IceState: Hashable, Sendable {
    case new, checking, connected, completed, disconnected, failed, closed
  }

  case stateChanged(State)
  case iceStateChanged(IceState)
  case candidateFound(MediaCandidate)
  /// All candidates of the last description were found.
  case gatheringEnded
  /// A STUN or TURN server gave no candidate (W3C `RTCPeerConnectionIceErrorEvent`).
  case serverFailed(url: String, code: Int)
}
