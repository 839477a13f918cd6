public import VoiceCore

/// Keeps goodbyes, holds and tones over an outage: each is delivered, or fails by name; the queue is bounded.
///
/// An item is *queued* (no connection), *sent* (no answer yet) or gone. What happens when:
///
/// | | goodbye | hold | tones |
/// |---|---|---|---|
/// | no connection | queued | queued; a newer one replaces it | queued, in order |
/// | connection back, call known or not said | sent | sent | sent, in order |
/// | connection back, call not known | done (there is nothing to end) | fails | fails: undelivered |
/// | connection lost after sending | queued again (repeating is harmless) | queued again | fails: unconfirmed, since repeated tones are other tones |
/// | answered with success | done | done | done |
/// | answered "call does not exist" | done | fails | fails |
/// | answered with another error, or not | fails: undelivered | fails | fails |
/// | too old while queued | fails | fails | fails: undelivered |
/// | call over | stays | dropped | dropped |
/// | queue full | displaces the oldest tones, else fails the oldest goodbye | fails | fails |
public struct Outbox: Sendable {
  /// What is to be delivered.
  public enum Content: Hashable, Sendable {
    case bye(HangupCause)
    case hold(HoldState)
    case tones(String)
  }

  /// One thing to be delivered.
  public struct Item: Hashable, Sendable, Identifiable {
    /// Its number, from 1; chosen by the outbox.
    public let id: Int
    /// The call.
    public let callID: CallID
    /// What is to be delivered.
    public let content: Content
    /// When it is too old.
    public let deadline: VoiceInstant
  }

  /// How long things are kept.
  public struct Configuration: Hashable, Sendable {
    /// How many items there may be.
    public var capacity: Int = 256
    /// How long a goodbye is kept; servers keep detached calls for 90 to 120 s (telnyx.md section 3.5).
    public var byeLifetime: Duration = .seconds(120)
    /// How long a hold is kept.
    public var holdLifetime: Duration = .seconds(60)
    /// How long tones are kept; later they would answer another question.
    public var tonesLifetime: Duration = .seconds(10)

    /// Creates the default.
    public init() {}
  }

  /// How an answer came.
  public enum Answer: Hashable, Sendable {
    case accepted
    case refused(RPCError)
    case timedOut
  }

  /// What to do.
  public enum Action: Hashable, Sendable {
    /// Send it as a request, and tell how that was answered.
    case send(Item)
    /// The item was delivered.
    case delivered(Item)
    /// The item will not be delivered; once for each item that is not delivered, dropped or replaced.
    case fail(Item, VoiceFailure)
    /// The item means nothing any more.
    case drop(Item)
  }

  private enum Place: Hashable {
    case queued, sent
  }

  private struct Slot {
    let item: Item
    var place: Place
  }

  /// How long things are kept.
  public let configuration: Configuration
  private var slots: [Slot] = []
  private var isUp: Bool
  private var lastID = 0

  /// Creates an empty outbox.
  public init(configuration: Configuration = Configuration(), isUp: Bool = false) {
    self.configuration = configuration
    self.isUp = isUp
  }

  /// How many items are not answered for.
  public var count: Int { self.slots.count }

  /// Whether a goodbye waits, which `disconnect()` waits for.
  public var hasByes: Bool {
    self.slots.contains { slot in if case .bye = slot.item.content { true } else { false } }
  }

  /// Whether a goodbye of a call waits: what the gateway says of the call meanwhile is overtaken.
  public func hasBye(of callID: CallID) -> Bool {
    self.slots.contains { slot in
      if case .bye = slot.item.content { slot.item.callID == callID } else { false }
    }
  }

  /// When the machine wants to be told that time passed.
  public var deadline: VoiceInstant? {
    self.slots.lazy.filter { $0.place == .queued }.map(\.item.deadline).min()
  }

  /// Takes something in; it is sent at once if there is a connection.
  public mutating func offered(_ content: Content, of callID: CallID, at now: VoiceInstant) -> [Action] {
    self.lastID += 1
    let item = Item(
      id: self.lastID, callID: callID, content: content,
      deadline: now.advanced(by: self.lifetime(of: content)))
    var actions: [Action] = []
    switch content {
    case .bye:
      // What was to be done in a call that is over means nothing any more.
      actions = self.remove { $0.item.callID == callID && $0.place == .queued }.map { .drop($0) }
    case .hold:
      actions = self.remove { slot in
        guard case .hold = slot.item.content else { return false }
        return slot.item.callID == callID && slot.place == .queued
      }.map { .drop($0) }
    case .tones: break
    }
    if self.slots.count >= max(1, self.configuration.capacity) {
      guard let room = self.makeRoom(for: item) else {
        return actions + [.fail(item, Self.failure(of: item))]
      }
      actions += room
    }
    self.slots.append(Slot(item: item, place: self.isUp ? .sent : .queued))
    return actions + (self.isUp ? [.send(item)] : [])
  }

  /// The call is over: holds and tones that wait for it are dropped.
  public mutating func callEnded(_ callID: CallID) -> [Action] {
    self.remove { slot in
      guard slot.item.callID == callID, slot.place == .queued else { return false }
      if case .bye = slot.item.content { return false }
      return true
    }.map { .drop($0) }
  }

  /// The connection is gone.
  public mutating func linkLost() -> [Action] {
    guard self.isUp else { return [] }
    self.isUp = false
    let unconfirmed = self.remove { slot in
      if case .tones = slot.item.content { slot.place == .sent } else { false }
    }
    for index in self.slots.indices { self.slots[index].place = .queued }
    return unconfirmed.map { .fail($0, VoiceFailure(.callTonesUnconfirmed)) }
  }

  /// There is a connection, and the client is registered.
  ///
  /// - Parameter known: The calls that the server still knows, or `nil` if it did not say.
  public mutating func linkRestored(known: [CallID]?, at now: VoiceInstant) -> [Action] {
    guard !self.isUp else { return [] }
    var actions = self.timePassed(at: now)
    self.isUp = true
    if let known {
      let calls = Set(known)
      actions += self.remove { !calls.contains($0.item.callID) }.map { Self.gone($0) }
    }
    for index in self.slots.indices where self.slots[index].place == .queued {
      self.slots[index].place = .sent
      actions.append(.send(self.slots[index].item))
    }
    return actions
  }

  /// The gateway answered, or did not in time; an answer to an item that is gone is nothing.
  public mutating func answered(_ id: Item.ID, _ answer: Answer) -> [Action] {
    guard let item = (self.remove { $0.item.id == id && $0.place == .sent }).first else { return [] }
    switch answer {
    case .accepted: return [.delivered(item)]
    case .refused(let error):
      if error.code == .sessionError, case .bye = item.content { return [.delivered(item)] }
      return [.fail(item, Self.failure(of: item, cause: error))]
    case .timedOut:
      return [.fail(item, Self.failure(of: item, cause: VoiceFailure(.callRequestTimedOut)))]
    }
  }

  /// Takes out what has become too old.
  public mutating func timePassed(at now: VoiceInstant) -> [Action] {
    self.remove { $0.place == .queued && $0.item.deadline <= now }.map { .fail($0, Self.failure(of: $0)) }
  }

  /// The client gives up: nothing will be delivered.
  public mutating func abandoned() -> [Action] {
    self.isUp = false
    return self.remove { _ in true }.map { .fail($0, Self.failure(of: $0)) }
  }

  private func lifetime(of content: Content) -> Duration {
    switch content {
    case .bye: self.configuration.byeLifetime
    case .hold: self.configuration.holdLifetime
    case .tones: self.configuration.tonesLifetime
    }
  }

  private mutating func makeRoom(for item: Item) -> [Action]? {
    guard case .bye = item.content else { return nil }
    let victim =
      self.slots.firstIndex { slot in if case .tones = slot.item.content { true } else { false } } ?? 0
    guard self.slots.indices.contains(victim) else { return nil }
    let removed = self.slots.remove(at: victim).item
    return [.fail(removed, Self.failure(of: removed))]
  }

  private mutating func remove(_ condition: (Slot) -> Bool) -> [Item] {
    let removed = self.slots.filter(condition).map(\.item)
    if !removed.isEmpty { self.slots.removeAll(where: condition) }
    return removed
  }

  /// What becomes of an item whose call the server does not know.
  private static func gone(_ item: Item) -> Action {
    switch item.content {
    case .bye: .delivered(item)
    case .hold, .tones: .fail(item, self.failure(of: item, cause: VoiceFailure(.callNotReattached)))
    }
  }

  private static func failure(of item: Item, cause: (any Error)? = nil) -> VoiceFailure {
    switch item.content {
    case .bye: VoiceFailure(.callByeUndelivered, cause: cause)
    case .hold: VoiceFailure(.callHoldFailed, cause: cause)
    case .tones: VoiceFailure(.callTonesUndelivered, cause: cause)
    }
  }
}
