extension ICEAgent {
  /// A UDP socket that the driver bound to one address.
  public struct SocketID: Hashable, Sendable {
    /// Any number that the driver chose.
    public let rawValue: Int

    /// Creates an id.
    public init(rawValue: Int) { self.rawValue = rawValue }
  }

  /// A connection to a TURN server over TCP or TLS.
  public struct StreamID: Hashable, Sendable {
    /// A number that the agent chose; never used twice.
    public let rawValue: Int

    /// Creates an id.
    public init(rawValue: Int) { self.rawValue = rawValue }
  }

  /// A STUN or TURN server whose name is resolved already.
  public struct Server: Hashable, Sendable {
    /// What it is for.
    public enum Kind: Hashable, Sendable {
      case stun
      case turn
    }

    /// How it is reached.
    public enum Transport: Hashable, Sendable, CaseIterable {
      case udp
      case tcp
      case tls
    }

    /// What it is for.
    public var kind: Kind
    /// Where it is.
    public var address: TransportAddress
    /// Where it is as well: its address of the other IP version, if it has one.
    public var alternative: TransportAddress?
    /// How it is reached; STUN by UDP alone.
    public var transport: Transport
    /// The name that the certificate has to have.
    public var tlsName: String?
    /// The user of TURN.
    public var username: String
    /// The password.
    public var password: String
    /// Whether the relay is asked for an IPv6 address; else IPv4.
    public var relayIsV6: Bool

    /// Creates a server.
    public init(
      _ kind: Kind, _ address: TransportAddress, alternative: TransportAddress? = nil,
      transport: Transport = .udp, tlsName: String? = nil, username: String = "", password: String = "",
      relayIsV6: Bool = false
    ) {
      self.kind = kind
      self.address = address
      self.alternative = alternative
      self.transport = transport
      self.tlsName = tlsName
      self.username = username
      self.password = password
      self.relayIsV6 = relayIsV6
    }

    /// Where a socket of an IP version reaches it by UDP.
    func datagramAddress(isV6: Bool) -> TransportAddress? {
      guard self.transport == .udp else { return nil }
      return self.address.ip.isV6 == isV6
        ? self.address : self.alternative.flatMap { $0.ip.isV6 == isV6 ? $0 : nil }
    }
  }

  /// Servers and times.
  public struct Configuration: Hashable, Sendable {
    /// Where addresses are asked for and relays are.
    public var servers: [Server]
    /// Whether only relays may be used, so that the peer learns no other address.
    public var relayOnly: Bool
    /// Between two checks (Ta of RFC 8445 section 14.2).
    public var checkInterval = Duration.milliseconds(50)
    /// Until a question to a server or a check is sent again; doubles every second time.
    ///
    /// RFC 8445 section 14.3 recommends 500 ms, for any path; a conversation over a path of more than 250 ms there
    /// and back is a bad one. So 250 ms halves what a lost packet costs, and a slow path costs one packet more.
    public var firstTimeout = Duration.milliseconds(250)
    /// How often a pair is checked before it fails: after 11.5 s with the times above.
    public var checkAttempts = 10
    /// How long a better pair is waited for before one that works is nominated.
    public var nominationDelay = Duration.milliseconds(500)
    /// How long a server may take to answer.
    public var serverTimeout = Duration.seconds(5)
    /// How long checking goes on without any answer.
    public var checkingTimeout = Duration.seconds(15)
    /// Between two checks of the pair that is sent on; varied by a fifth (RFC 7675 section 5.1).
    public var consentInterval = Duration.seconds(5)
    /// The same, while answers are missing.
    public var missingInterval = Duration.milliseconds(500)
    /// How long answers may be missing before another pair that answers takes over.
    public var takeoverDelay = Duration.milliseconds(300)
    /// How long answers may be missing before the state is `disconnected`.
    public var disconnectedAfter = Duration.seconds(5)
    /// How long after the last answer consent ends (RFC 7675 section 5.1).
    public var failedAfter = Duration.seconds(30)
    /// Between two packets that keep a mapping or a spare pair alive (RFC 8445 section 11).
    public var keepaliveInterval = Duration.seconds(15)
    /// How long a restart waits for relays to say that they still have the allocation; without a word it goes on with what it has.
    public var confirmationTimeout = Duration.seconds(1)
    /// How many pairs there may be (RFC 8445 section 6.1.2.5).
    public var pairLimit = 100

    /// Creates a configuration with the times that are described at each.
    public init(servers: [Server] = [], relayOnly: Bool = false) {
      self.servers = servers
      self.relayOnly = relayOnly
    }
  }

  /// Who nominates (RFC 8445 section 6.1.1).
  public enum Role: Hashable, Sendable {
    case controlling
    case controlled

    var opposite: Self { self == .controlling ? .controlled : .controlling }
  }

  /// Where the agent stands; see ``ICEAgent``.
  public enum State: Hashable, Sendable, CaseIterable {
    case new
    case checking
    case connected
    case completed
    case disconnected
    case failed
    case closed
  }

  /// User fragment and password of one side (RFC 8839 section 5.4).
  public struct Credentials: Hashable, Sendable {
    /// The user fragment.
    public var userFragment: String
    /// The password.
    public var password: String

    /// Creates credentials.
    public init(userFragment: String, password: String) {
      self.userFragment = userFragment
      self.password = password
    }
  }

  /// Where application data go.
  public enum SendingPath: Hashable, Sendable {
    /// From this socket to this address.
    case direct(SocketID, TransportAddress)
    /// By way of a TURN server: through ``ICEAgent/send(_:at:)``.
    case relayed
  }

  /// A local and a remote candidate between which packets go.
  public struct CandidatePair: Hashable, Sendable {
    /// The local candidate; its kind is `prflx` or `srflx` if the peer sees another address than the socket's.
    public let local: ICECandidate
    /// The remote candidate.
    public let remote: ICECandidate
    /// Whether the controlling side chose it for good.
    public let isNominated: Bool
    /// The time of a check there and back, smoothed.
    public let roundTrip: Duration?

    package init(local: ICECandidate, remote: ICECandidate, isNominated: Bool, roundTrip: Duration?) {
      self.local = local
      self.remote = remote
      self.isNominated = isNominated
      self.roundTrip = roundTrip
    }
  }

  /// Counts of what was sent and received.
  public struct Counts: Hashable, Sendable {
    /// Checks before a pair had answered.
    public var checksSent = 0
    /// Checks of pairs that had.
    public var consentChecksSent = 0
    /// Authentic answers to either.
    public var answersReceived = 0
    /// Authentic checks of the peer.
    public var checksReceived = 0
    /// What was thrown away because it could not prove to come from the peer.
    public var rejected = 0
    /// How often another pair was taken for sending.
    public var selections = 0
  }

  /// What the driver has to do, and what happened.
  public enum Output: Hashable, Sendable {
    /// Send a datagram; errors may be ignored.
    case send([UInt8], on: SocketID, to: TransportAddress)
    /// Connect to the server, and call `streamOpened` or `streamClosed`.
    case openStream(StreamID, Server)
    /// Send bytes on a stream that was opened.
    case sendStream([UInt8], StreamID)
    /// Close the stream once everything was sent.
    case closeStream(StreamID)
    /// Signal this candidate to the peer.
    case candidate(ICECandidate)
    /// Signal that there are no more.
    case gatheringEnded
    /// ``ICEAgent/state`` changed.
    case stateChanged(State)
    /// ``ICEAgent/sendingPath`` or what is known about it changed.
    case selected(CandidatePair)
    /// A datagram of the application came by way of a relay; whether from where the peer was seen, see ``ICEAgent/knows(_:on:)``.
    case received([UInt8], fromKnownAddress: Bool)
    /// Something that may be worth telling.
    case warned(ICEWarning)
  }
}

/// What makes it harder to find a path.
public enum ICEWarning: Hashable, Sendable {
  /// The server does not answer.
  case serverUnreachable(ICEAgent.Server)
  /// The TURN server refused.
  case serverRefused(ICEAgent.Server, TURNError)
  /// The server is asked over TCP or TLS, which only relays can be.
  case serverNotUsed(ICEAgent.Server)
  /// There is no address to be reached at.
  case noCandidates
  /// There are addresses of this machine only, so a peer behind another NAT may not be reached.
  case onlyHostCandidates
  /// A restart found no path within its time; the old one is kept.
  case restartFailed
}

/// Why there is no path.
public enum ICEFailure: Error, Hashable, Sendable, CustomStringConvertible {
  /// This side had no address to check from.
  case noLocalCandidates
  /// No pair answered in time.
  case noPairAnswered
  /// There was a path, and the peer has not answered on any for too long.
  case consentExpired

  public var description: String {
    switch self {
    case .noLocalCandidates: "There is no network address to send from."
    case .noPairAnswered: "No path to the peer was found in time."
    case .consentExpired: "The peer does not answer on any path any more."
    }
  }
}
