public import VoiceCore

/// The requests that wait for an answer: matched by id, each with a time-out, bounded, never answered twice.
///
/// An entry is *waiting* until exactly one of these: answered, expired, cancelled, interrupted (its connection
/// ended). Ids of entries that expired or were cancelled are remembered for a while, so that a late answer is told
/// from one that nobody asked for.
public struct RequestTable<Context: Sendable>: Sendable {
  /// One request.
  public struct Entry: Sendable {
    /// Its id.
    public let id: RPCID
    /// Its method, which decides how its result is read.
    public let method: SignalingMethod
    /// What the driver needs to go on.
    public let context: Context
    /// When it expires.
    public let deadline: VoiceInstant
    let order: Int
  }

  /// What an answer belongs to.
  public enum Match: Sendable {
    case waiting(Entry)
    /// The request expired or was cancelled.
    case late
    /// Nobody asked.
    case unknown
  }

  /// How many requests may wait.
  public let capacity: Int
  private var entries: [RPCID: Entry] = [:]
  private var past: Set<RPCID> = []
  private var pastOrder: [RPCID] = []
  private var count = 0
  private static var pastCapacity: Int { 256 }

  /// Creates an empty table.
  public init(capacity: Int = 1024) {
    self.capacity = capacity
  }

  /// How many requests wait.
  public var waiting: Int { self.entries.count }

  /// When the next request expires.
  public var deadline: VoiceInstant? { self.entries.values.lazy.map(\.deadline).min() }

  /// Adds a request.
  ///
  /// - Throws: ``VoiceFailure`` with `call.request.too-many` if the table is full or the id waits already.
  public mutating func add(
    _ id: RPCID, _ method: SignalingMethod, timeout: Duration, context: Context, at now: VoiceInstant
  ) throws(VoiceFailure) {
    guard self.entries.count < self.capacity, self.entries[id] == nil else {
      throw VoiceFailure(.callRequestsFull)
    }
    self.count += 1
    self.entries[id] = Entry(
      id: id, method: method, context: context, deadline: now.advanced(by: timeout), order: self.count)
  }

  /// Takes the request of an answer out.
  public mutating func answered(_ id: RPCID) -> Match {
    if let entry = self.entries.removeValue(forKey: id) { return .waiting(entry) }
    return self.past.contains(id) ? .late : .unknown
  }

  /// Takes a request out that nobody waits for any more.
  public mutating func cancelled(_ id: RPCID) -> Entry? {
    guard let entry = self.entries.removeValue(forKey: id) else { return nil }
    self.remember(id)
    return entry
  }

  /// Takes out what has expired, in the order in which it was added.
  public mutating func timePassed(at now: VoiceInstant) -> [Entry] {
    self.takeOut { $0.deadline <= now }
  }

  /// Takes out everything, in the order in which it was added: the connection has ended.
  public mutating func interrupted() -> [Entry] {
    self.takeOut { _ in true }
  }

  private mutating func takeOut(_ condition: (Entry) -> Bool) -> [Entry] {
    let taken = self.entries.values.filter(condition).sorted { $0.order < $1.order }
    for entry in taken {
      self.entries[entry.id] = nil
      self.remember(entry.id)
    }
    return taken
  }

  private mutating func remember(_ id: RPCID) {
    guard self.past.insert(id).inserted else { return }
    self.pastOrder.append(id)
    if self.pastOrder.count > Self.pastCapacity { self.past.remove(self.pastOrder.removeFirst()) }
  }
}

/// How long requests may take (telnyx.md sections 2.1 and 3.6).
public enum RequestTimeouts {
  /// The time-out of a request.
  public static func timeout(of method: SignalingMethod) -> Duration {
    switch method {
    case .bye, .ping, .pong: .seconds(5)
    case .invite, .answer, .attach, .modify, .login, .anonymousLogin, .aiConversation, .echo, .clientReady,
      .gatewayState, .ringing, .ringingAck, .media, .info, .attachCalls, .punt, .candidate, .endOfCandidates,
      .disablePushNotification, .display, .event, .broadcast, .subscribe, .unsubscribe, .unknown:
      .seconds(10)
    }
  }
}
