import Synchronization

/// Hands every event to any number of readers, each at its own pace.
///
/// A reader gets the events published after it subscribed, in order. Each reader has its own bounded
/// buffer. **When a reader is slow** its oldest unread events are dropped and replaced by one event that
/// says how many were lost; publishers and other readers are never held up. ``finish()``, or releasing the broadcaster, lets
/// readers take what is buffered, then ends their sequences. Subscriptions do not keep the broadcaster alive.
public final class EventBroadcaster<Event: Sendable>: Sendable {
  private struct State {
    var nextID = 0
    var mailboxes: [Int: Mailbox] = [:]
    var isFinished = false
  }

  private let state = Mutex(State())
  private let capacity: Int
  private let lost: @Sendable (Int) -> Event

  /// Creates a broadcaster.
  ///
  /// - Parameters:
  ///   - capacity: How many unread events a reader may leave, at least 1.
  ///   - lost: Makes the event that a slow reader gets in place of the given number of dropped events.
  public init(capacity: Int = 1024, lost: @escaping @Sendable (Int) -> Event) {
    self.capacity = max(1, capacity)
    self.lost = lost
  }

  /// The number of readers.
  public var readerCount: Int { self.state.withLock { $0.mailboxes.count } }

  deinit { self.finish() }

  /// Publishes an event; may be called on any thread and never waits.
  ///
  /// All readers see the events of several publishers in the same order.
  public func publish(_ event: Event) {
    // Readers are resumed, and dropped events are released, without the lock: both may run foreign code.
    let deliveries = self.state.withLock { state in
      state.isFinished ? [] : state.mailboxes.values.map { $0.put(event) }
    }
    for delivery in deliveries {
      delivery.waiter?.resume(returning: event)
    }
  }

  /// Ends all sequences, now and later ones, after what is buffered.
  public func finish() {
    let mailboxes = self.state.withLock { state in
      state.isFinished = true
      defer { state.mailboxes = [:] }
      return Array(state.mailboxes.values)
    }
    for mailbox in mailboxes {
      mailbox.finish()
    }
  }

  /// Subscribes a new reader; events published from now on are kept for it.
  public func subscribe() -> Subscription {
    let mailbox = Mailbox(capacity: self.capacity, lost: self.lost)
    let id = self.state.withLock { state -> Int? in
      guard !state.isFinished else { return nil }
      state.nextID += 1
      state.mailboxes[state.nextID] = mailbox
      return state.nextID
    }
    if id == nil { mailbox.finish() }
    return Subscription(
      token: Token(mailbox: mailbox) { [weak self] in
        guard let self, let id else { return }
        _ = self.state.withLock { $0.mailboxes.removeValue(forKey: id) }
      })
  }

  /// One reader's view of the events; it may be iterated once, by one task at a time.
  public struct Subscription: AsyncSequence, Sendable {
    public typealias Element = Event
    public typealias Failure = Never

    fileprivate let token: Token

    public func makeAsyncIterator() -> Iterator {
      Iterator(token: self.token)
    }

    /// Reads the next event.
    public struct Iterator: AsyncIteratorProtocol {
      fileprivate let token: Token

      public mutating func next() async -> Event? {
        await self.token.mailbox.take()
      }

      public mutating func next(isolation actor: isolated (any Actor)?) async -> Event? {
        await self.token.mailbox.take()
      }
    }
  }

  /// Unsubscribes when the last copy of the subscription and its iterators is gone.
  fileprivate final class Token: Sendable {
    let mailbox: Mailbox
    private let unsubscribe: @Sendable () -> Void

    init(mailbox: Mailbox, unsubscribe: @escaping @Sendable () -> Void) {
      self.mailbox = mailbox
      self.unsubscribe = unsubscribe
    }

    deinit { self.unsubscribe() }
  }
}

extension EventBroadcaster {
  /// One reader's buffer.
  fileprivate final class Mailbox: Sendable {
    /// What is to be done after the lock is released.
    struct Delivery {
      var waiter: CheckedContinuation<Event?, Never>?
      var evicted: Event?
    }

    private enum Turn {
      case event(Event)
      case lost(Int)
      case end
      case wait
    }

    private struct State {
      /// A slot is emptied as soon as its event is taken, so that a read event is not kept alive.
      var events: [Event?] = []
      var head = 0
      var dropped = 0
      var isFinished = false
      var waiter: CheckedContinuation<Event?, Never>?

      var count: Int { self.events.count - self.head }

      mutating func popFirst() -> Event? {
        guard self.head < self.events.count else { return nil }
        let event = self.events[self.head]
        self.events[self.head] = nil
        self.head += 1
        if self.head == self.events.count || (self.head > 64 && self.head * 2 > self.events.count) {
          self.events.removeFirst(self.head)
          self.head = 0
        }
        return event
      }
    }

    private let state = Mutex(State())
    private let capacity: Int
    private let lost: @Sendable (Int) -> Event

    init(capacity: Int, lost: @escaping @Sendable (Int) -> Event) {
      self.capacity = capacity
      self.lost = lost
    }

    func put(_ event: Event) -> Delivery {
      self.state.withLock { state in
        if let waiter = state.waiter {
          state.waiter = nil
          return Delivery(waiter: waiter)
        }
        var delivery = Delivery()
        if state.count >= self.capacity {
          delivery.evicted = state.popFirst()
          state.dropped += 1
        }
        state.events.append(event)
        return delivery
      }
    }

    func finish() {
      let waiter = self.state.withLock { state in
        state.isFinished = true
        defer { state.waiter = nil }
        return state.waiter
      }
      waiter?.resume(returning: nil)
    }

    func take() async -> Event? {
      await withTaskCancellationHandler {
        await withCheckedContinuation { continuation in
          let turn = self.state.withLock { state -> Turn in
            if state.dropped > 0 {
              defer { state.dropped = 0 }
              return .lost(state.dropped)
            }
            if let event = state.popFirst() { return .event(event) }
            // A second reader would wait for ever: it gets the end instead.
            if state.isFinished || Task.isCancelled || state.waiter != nil { return .end }
            state.waiter = continuation
            return .wait
          }
          switch turn {
          case .event(let event): continuation.resume(returning: event)
          case .lost(let count): continuation.resume(returning: self.lost(count))
          case .end: continuation.resume(returning: nil)
          case .wait: break
          }
        }
      } onCancel: {
        let waiter = self.state.withLock { state in
          defer { state.waiter = nil }
          return state.waiter
        }
        waiter?.resume(returning: nil)
      }
    }
  }
}
