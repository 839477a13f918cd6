public import VoiceCore

/// An allocation on a TURN server (RFC 8656), over UDP or over a TCP or TLS stream: a machine without I/O.
///
/// States: `idle`; `allocating` (Allocate is under way: without credentials, then with the server's realm and
/// nonce); `allocated` (refreshed before its lifetime ends, and asked for until then); `closed`; `failed` with a ``TURNError``. Nothing leads
/// out of the last two.
///
/// Events: `start`, `received`, `streamReceived`, `send`, `bindChannel`, `confirm`, `close`, `timePassed`. What comes in the
/// wrong state, from an unknown transaction or without the right integrity changes nothing.
///
/// Outputs, by `poll()`: bytes for the server, the relayed address, data from peers, another server to ask (300),
/// and the failure. ``nextWake`` says when time has to pass.
///
/// An allocation of which nothing is heard for a while is refreshed early: that keeps the mappings of NATs open, which may be gone after
/// half a minute, and finds out soon that the server has forgotten it or sees another address.
///
/// Permissions (5 minutes) and channels (10 minutes) are renewed after 4 minutes if they were used since. Data for
/// a peer without a permission wait for it, a few datagrams at most.
public struct TURNClient: Sendable {
  /// How a client asks.
  public struct Configuration: Hashable, Sendable {
    /// The user of the long-term credentials.
    public var username: String
    /// The password.
    public var password: String
    /// TCP or TLS: nothing is sent twice, and channel data are padded (RFC 8656 section 12.5).
    public var isStream: Bool
    /// Whether an IPv6 address is asked for; else IPv4.
    public var relayIsV6: Bool
    /// The time until a request is sent again, which doubles every second time.
    public var firstTimeout: Duration
    /// How long a request may take at all.
    public var requestTimeout: Duration
    /// The lifetime that is asked for.
    public var lifetime: Duration
    /// After how long without a word of the server it is asked whether the allocation is still there.
    public var keepaliveInterval: Duration

    /// Creates a configuration.
    public init(
      username: String, password: String, isStream: Bool = false, relayIsV6: Bool = false,
      firstTimeout: Duration = .milliseconds(250), requestTimeout: Duration = .seconds(5),
      lifetime: Duration = .seconds(600), keepaliveInterval: Duration = .seconds(15)
    ) {
      self.username = username
      self.password = password
      self.isStream = isStream
      self.relayIsV6 = relayIsV6
      self.firstTimeout = firstTimeout
      self.requestTimeout = requestTimeout
      self.lifetime = lifetime
      self.keepaliveInterval = keepaliveInterval
    }
  }

  /// What the owner has to do.
  public enum Output: Hashable, Sendable {
    /// Send this to the server: a datagram, or bytes of the stream.
    case send([UInt8])
    /// The address where peers reach us, and the one that the server sees.
    case allocated(relayed: TransportAddress, mapped: TransportAddress?)
    /// The server still has the allocation.
    case refreshed
    /// A peer's datagram.
    case received([UInt8], from: TransportAddress)
    /// The server names another one; this client is finished.
    case redirected(TransportAddress)
    /// This client is finished.
    case failed(TURNError)
  }

  /// Where the client stands.
  public enum State: Hashable, Sendable {
    case idle
    case allocating
    case allocated(relayed: TransportAddress)
    case closed
    case failed(TURNError)
  }

  enum Purpose: Hashable, Sendable {
    case allocate
    case refresh
    case permission(IPAddress)
    case channel(TransportAddress, UInt16)
  }

  struct Request: Sendable {
    var purpose: Purpose
    var bytes: [UInt8]
    var hasCredentials: Bool
    /// Answers 438 in a row; requests that go side by side may make each other's nonce stale.
    var staleAnswers: Int
    var nextSending: VoiceInstant
    var sendings = 1
    var deadline: VoiceInstant
  }

  struct Permission: Sendable {
    var isGranted = false
    var isUsed = true
    /// When it is renewed, or asked for again after it was refused.
    var nextRequest: VoiceInstant?
    var waiting: [(peer: TransportAddress, data: [UInt8])] = []
  }

  struct Channel: Sendable {
    let number: UInt16
    var isBound = false
    var isUsed = true
    var nextRequest: VoiceInstant?
  }

  static let renewal = Duration.seconds(240)
  static let permissionLimit = 128
  static let waitingLimit = 8
  static let channelLimit = 64

  let configuration: Configuration
  var random: any RandomNumberGenerator & Sendable
  /// Where the client stands.
  public internal(set) var state = State.idle
  var requests: [STUNMessage.TransactionID: Request] = [:]
  var permissions: [IPAddress: Permission] = [:]
  var channels: [TransportAddress: Channel] = [:]
  var peers: [UInt16: TransportAddress] = [:]
  var nextChannel: UInt16 = 0x4000
  var realm: String?
  var nonce = ""
  var key: [UInt8]?
  var nextRefresh: VoiceInstant?
  /// When the server said something last.
  var lastHeard: VoiceInstant?
  /// When the server forgets the allocation.
  var expiry: VoiceInstant?
  var stream: [UInt8] = []
  var outputs = OutputQueue<Output>()

  /// Creates a client; the generator has to be fit for secrets outside of tests.
  public init(configuration: Configuration, random: any RandomNumberGenerator & Sendable) {
    self.configuration = configuration
    self.random = random
  }

  /// Takes the next output; to be called until it is `nil`, after each event.
  public mutating func poll() -> Output? { self.outputs.next() }

  /// When ``timePassed(at:)`` has to be called.
  public var nextWake: VoiceInstant? {
    switch self.state {
    case .idle, .closed, .failed: return nil
    case .allocating, .allocated: break
    }
    var wake = self.refreshDue
    for request in self.requests.values { wake = earlier(wake, min(request.nextSending, request.deadline)) }
    for permission in self.permissions.values { wake = earlier(wake, permission.nextRequest) }
    for channel in self.channels.values { wake = earlier(wake, channel.nextRequest) }
    return wake
  }

  private var isRefreshing: Bool { self.requests.values.contains { $0.purpose == .refresh } }

  /// `nil` while one is under way.
  private var refreshDue: VoiceInstant? {
    guard case .allocated = self.state, !self.isRefreshing else { return nil }
    return earlier(self.nextRefresh, self.lastHeard?.advanced(by: self.configuration.keepaliveInterval))
  }

  /// Asks whether the allocation is still there, unless the server has just been heard; ``Output/refreshed`` or a failure says so.
  ///
  /// - Returns: Whether the answer is open.
  @discardableResult
  public mutating func confirm(at now: VoiceInstant) -> Bool {
    guard case .allocated = self.state else { return false }
    if self.isRefreshing { return true }
    if let lastHeard = self.lastHeard, lastHeard.duration(to: now) < .seconds(1) { return false }
    self.request(.refresh, at: now)
    return true
  }

  /// Asks for the allocation; over a stream, once it is open.
  public mutating func start(at now: VoiceInstant) {
    guard case .idle = self.state else { return }
    self.state = .allocating
    self.request(.allocate, at: now)
  }

  /// Gives the allocation back, as far as one datagram can, and ends.
  public mutating func close(at now: VoiceInstant) {
    if case .allocated = self.state {
      let message = self.message(.refresh, [.lifetime(.zero)])
      self.outputs.append(.send(message.encoded(integrity: self.key.map { .sha1($0) })))
    }
    switch self.state {
    case .idle, .allocating, .allocated:
      self.end(.closed)
    case .closed, .failed: break
    }
  }

  /// The stream was closed by the other side.
  public mutating func streamClosed(at now: VoiceInstant) { self.fail(.connectionClosed) }

  /// Lets time pass: sends again, renews, gives up.
  public mutating func timePassed(at now: VoiceInstant) {
    switch self.state {
    case .idle, .closed, .failed: return
    case .allocating, .allocated: break
    }
    for (transaction, request) in self.requests.sorted(by: { $0.value.nextSending < $1.value.nextSending }) {
      if request.deadline <= now {
        self.requests[transaction] = nil
        self.timedOut(request.purpose, at: now)
        guard case .allocating = self.state else {
          if case .allocated = self.state { continue }
          return
        }
      } else if request.nextSending <= now {
        let pause = retransmissionPause(self.configuration.firstTimeout, after: request.sendings + 1)
        let next = self.configuration.isStream ? request.deadline : now.advanced(by: pause)
        self.requests[transaction]?.sendings = request.sendings + 1
        self.requests[transaction]?.nextSending = next
        self.outputs.append(.send(request.bytes))
      }
    }
    if let refresh = self.refreshDue, refresh <= now { self.request(.refresh, at: now) }
    for (address, permission) in self.permissions where permission.nextRequest.map({ $0 <= now }) ?? false {
      self.renewPermission(address, permission, at: now)
    }
    for (peer, channel) in self.channels where channel.nextRequest.map({ $0 <= now }) ?? false {
      self.channels[peer]?.nextRequest = nil
      guard channel.isUsed || !channel.isBound else {
        // The number must not be used for another peer for a while; it never is (RFC 8656 section 12).
        self.channels[peer]?.isBound = false
        continue
      }
      self.channels[peer]?.isUsed = false
      self.request(.channel(peer, channel.number), at: now)
    }
  }

  private mutating func renewPermission(_ address: IPAddress, _ permission: Permission, at now: VoiceInstant)
  {
    guard permission.isGranted, permission.isUsed else {
      self.permissions[address] = nil
      return
    }
    self.permissions[address]?.isUsed = false
    self.permissions[address]?.nextRequest = nil
    self.request(.permission(address), at: now)
  }

  private mutating func timedOut(_ purpose: Purpose, at now: VoiceInstant) {
    switch purpose {
    case .allocate: self.fail(.unreachable)
    case .refresh:
      // The allocation lives on, and a new one on the same addresses would be refused (RFC 8656 section 7.2).
      guard let expiry = self.expiry, now < expiry else { return self.fail(.unreachable) }
      self.request(.refresh, at: now)
    case .permission(let address): self.permissions[address] = nil
    case .channel(let peer, _): self.channels[peer]?.isBound = false
    }
  }

  mutating func fail(_ error: TURNError) {
    switch self.state {
    case .idle, .allocating, .allocated:
      self.end(.failed(error))
      self.outputs.append(.failed(error))
    case .closed, .failed: break
    }
  }

  mutating func end(_ state: State) {
    self.state = state
    self.requests = [:]
    self.permissions = [:]
    self.channels = [:]
    self.peers = [:]
    self.nextRefresh = nil
    self.lastHeard = nil
    self.expiry = nil
    self.stream = []
  }
}

/// The earlier of two instants that may be missing.
func earlier(_ one: VoiceInstant?, _ other: VoiceInstant?) -> VoiceInstant? {
  guard let one, let other else { return one ?? other }
  return min(one, other)
}

/// How long to wait after something was sent for the nth time.
///
/// RFC 8489 section 6.2.1 doubles each time, so that the seven tries take 32 s; nobody waits that long for a call.
/// Doubling every second time, seven go out in the first 5 s, which a loss of a quarter survives 9,999 times of
/// 10,000.
func retransmissionPause(_ first: Duration, after sendings: Int) -> Duration {
  first * (1 << max(0, min(3, (sendings - 1) / 2)))
}

/// What waits to be polled, in its order.
struct OutputQueue<Element: Sendable>: Sendable {
  private var elements: [Element] = []
  private var first = 0

  var isEmpty: Bool { self.first == self.elements.count }

  mutating func append(_ element: Element) { self.elements.append(element) }

  mutating func next() -> Element? {
    guard self.first < self.elements.count else { return nil }
    let element = self.elements[self.first]
    self.first += 1
    if self.first == self.elements.count {
      self.elements.removeAll(keepingCapacity: true)
      self.first = 0
    }
    return element
  }
}
