import Synchronization
import Testing
import VoiceCore

@Suite(.timeLimit(.minutes(4))) struct EventBroadcasterTests {
  enum Event: Hashable, Sendable {
    case number(Int)
    case lost(Int)
  }

  static func makeBroadcaster(capacity: Int = 1024) -> EventBroadcaster<Event> {
    EventBroadcaster(capacity: capacity) { .lost($0) }
  }

  static func numbers(_ range: some Sequence<Int>) -> [Event] { range.map { .number($0) } }

  @Test(arguments: [0, -1, Int.min]) func aSillyCapacityIsOne(capacity: Int) async {
    let broadcaster = Self.makeBroadcaster(capacity: capacity)
    let subscription = broadcaster.subscribe()
    for number in 0..<3 { broadcaster.publish(.number(number)) }
    broadcaster.finish()
    #expect(await subscription.collect() == [.lost(2), .number(2)])
  }

  @Test func aReaderGetsEveryEventInOrder() async {
    let broadcaster = Self.makeBroadcaster()
    let subscription = broadcaster.subscribe()
    for number in 0..<1000 { broadcaster.publish(.number(number)) }
    broadcaster.finish()
    #expect(await subscription.collect() == Self.numbers(0..<1000))
  }

  @Test func aWaitingReaderGetsEveryEventInOrder() async {
    let broadcaster = Self.makeBroadcaster(capacity: 100_000)
    let subscription = broadcaster.subscribe()
    async let received = subscription.collect()
    for number in 0..<20_000 { broadcaster.publish(.number(number)) }
    broadcaster.finish()
    #expect(await received == Self.numbers(0..<20_000))
  }

  @Test func everyReaderGetsEverything() async {
    let broadcaster = Self.makeBroadcaster(capacity: 2000)
    let subscriptions = (0..<20).map { _ in broadcaster.subscribe() }
    #expect(broadcaster.readerCount == 20)
    await withTaskGroup(of: [Event].self) { group in
      for subscription in subscriptions {
        group.addTask { await subscription.collect() }
      }
      for number in 0..<2000 { broadcaster.publish(.number(number)) }
      broadcaster.finish()
      for await received in group {
        #expect(received == Self.numbers(0..<2000))
      }
    }
  }

  @Test func aLateReaderGetsOnlyWhatFollows() async {
    let broadcaster = Self.makeBroadcaster()
    broadcaster.publish(.number(1))
    let subscription = broadcaster.subscribe()
    broadcaster.publish(.number(2))
    broadcaster.finish()
    #expect(await subscription.collect() == [.number(2)])
  }

  @Test func aSlowReaderIsToldHowManyEventsItLost() async {
    let broadcaster = Self.makeBroadcaster(capacity: 10)
    let slow = broadcaster.subscribe()
    let fast = broadcaster.subscribe()
    var reader = fast.makeAsyncIterator()
    for number in 0..<25 {
      broadcaster.publish(.number(number))
      #expect(await reader.next() == .number(number))
    }
    broadcaster.finish()
    #expect(await slow.collect() == [.lost(15)] + Self.numbers(15..<25))
  }

  @Test func aSlowReaderThatReadsAgainLosesAgainAndIsToldAgain() async {
    let broadcaster = Self.makeBroadcaster(capacity: 2)
    let subscription = broadcaster.subscribe()
    var reader = subscription.makeAsyncIterator()
    for number in 0..<3 { broadcaster.publish(.number(number)) }
    #expect(await reader.next() == .lost(1))
    #expect(await reader.next() == .number(1))
    for number in 3..<6 { broadcaster.publish(.number(number)) }
    broadcaster.finish()
    #expect(await reader.next() == .lost(2))
    #expect(await reader.next() == .number(4))
    #expect(await reader.next() == .number(5))
    #expect(await reader.next() == nil)
    #expect(await reader.next() == nil)
  }

  /// Reading and losing in turns, longer than any internal compaction.
  @Test func eventsReadAndLostAddUpToThosePublished() async {
    let broadcaster = Self.makeBroadcaster(capacity: 100)
    let subscription = broadcaster.subscribe()
    var reader = subscription.makeAsyncIterator()
    var next = 0
    var accounted = 0
    for round in 0..<200 {
      for _ in 0..<(round % 170) {
        broadcaster.publish(.number(next))
        next += 1
      }
      for _ in 0..<min(round % 40, next - accounted) {
        switch await reader.next() {
        case .number(let number):
          #expect(number == accounted)
          accounted += 1
        case .lost(let count): accounted += count
        case nil: Issue.record("ended too early")
        }
      }
    }
    broadcaster.finish()
    while let event = await reader.next() {
      switch event {
      case .number(let number):
        #expect(number == accounted)
        accounted += 1
      case .lost(let count): accounted += count
      }
    }
    #expect(accounted == next)
  }

  @Test func finishDeliversWhatIsBufferedAndEndsLaterReaders() async {
    let broadcaster = Self.makeBroadcaster()
    let early = broadcaster.subscribe()
    broadcaster.publish(.number(1))
    broadcaster.finish()
    broadcaster.publish(.number(2))
    broadcaster.finish()
    #expect(await early.collect() == [.number(1)])
    #expect(await broadcaster.subscribe().collect() == [])
    #expect(broadcaster.readerCount == 0)
  }

  @Test func finishWakesAWaitingReader() async {
    let broadcaster = Self.makeBroadcaster()
    let subscription = broadcaster.subscribe()
    async let received = subscription.collect()
    broadcaster.finish()
    #expect(await received == [])
  }

  @Test func releasingTheBroadcasterEndsItsReaders() async {
    var broadcaster: EventBroadcaster<Event>? = Self.makeBroadcaster()
    weak let watched = broadcaster
    guard let subscription = broadcaster?.subscribe() else { return }
    broadcaster?.publish(.number(1))
    broadcaster = nil
    #expect(watched == nil)
    #expect(await subscription.collect() == [.number(1)])
  }

  @Test func cancellationEndsAWaitingReader() async {
    let broadcaster = Self.makeBroadcaster()
    let subscription = broadcaster.subscribe()
    let task = Task { await subscription.collect() }
    task.cancel()
    #expect(await task.value == [])
    #expect(broadcaster.readerCount == 1)
    broadcaster.publish(.number(1))
    var reader = subscription.makeAsyncIterator()
    #expect(await reader.next() == .number(1))
  }

  @Test func noReaderHangsWhenCancellationRacesWithPublishing() async {
    let broadcaster = Self.makeBroadcaster()
    for round in 0..<300 {
      let task = Task { [subscription = broadcaster.subscribe()] in
        var reader = subscription.makeAsyncIterator()
        return await reader.next()
      }
      async let cancelled: Void = task.cancel()
      broadcaster.publish(.number(round))
      await cancelled
      let event = await task.value
      #expect(event == nil || event == .number(round))
    }
    #expect(broadcaster.readerCount == 0)
  }

  @Test func releasingTheSubscriptionUnsubscribes() {
    let broadcaster = Self.makeBroadcaster()
    do {
      let subscription = broadcaster.subscribe()
      #expect(broadcaster.readerCount == 1)
      withExtendedLifetime(subscription) {}
    }
    #expect(broadcaster.readerCount == 0)
  }

  @Test func anIteratorKeepsItsSubscription() async {
    let broadcaster = Self.makeBroadcaster()
    var reader: EventBroadcaster<Event>.Subscription.Iterator? = broadcaster.subscribe().makeAsyncIterator()
    #expect(broadcaster.readerCount == 1)
    broadcaster.publish(.number(1))
    #expect(await reader?.next() == .number(1))
    reader = nil
    #expect(broadcaster.readerCount == 0)
  }

  @Test func aReadEventIsNotKept() async {
    let broadcaster = EventBroadcaster<Payload>(capacity: 4) { _ in Payload() }
    let subscription = broadcaster.subscribe()
    var reader = subscription.makeAsyncIterator()
    weak var read: Payload?
    do {
      let payload = Payload()
      read = payload
      broadcaster.publish(payload)
      broadcaster.publish(Payload())
    }
    #expect(read != nil)
    _ = await reader.next()
    #expect(read == nil)
  }

  @Test func aLostEventIsNotKept() {
    let broadcaster = EventBroadcaster<Payload>(capacity: 1) { _ in Payload() }
    let subscription = broadcaster.subscribe()
    weak var lost: Payload?
    do {
      let payload = Payload()
      lost = payload
      broadcaster.publish(payload)
    }
    #expect(lost != nil)
    broadcaster.publish(Payload())
    #expect(lost == nil)
    withExtendedLifetime(subscription) {}
  }

  /// Foreign code runs when an event is released, and it may publish: no lock may be held then.
  @Test func anEventMayPublishWhenItIsReleased() async {
    let released = Self.makeBroadcaster()
    let observer = released.subscribe()
    let broadcaster = EventBroadcaster<Payload>(capacity: 1) { _ in Payload() }
    let subscription = broadcaster.subscribe()
    broadcaster.publish(
      Payload { [weak broadcaster] in
        broadcaster?.publish(Payload())
        released.publish(.number(1))
      })
    broadcaster.publish(Payload())
    var reader = observer.makeAsyncIterator()
    #expect(await reader.next() == .number(1))
    withExtendedLifetime(subscription) {}
  }

  @Test func allReadersSeeConcurrentPublishersInTheSameOrder() async {
    let broadcaster = Self.makeBroadcaster(capacity: 10_000)
    let first = broadcaster.subscribe()
    let second = broadcaster.subscribe()
    await withTaskGroup(of: Void.self) { group in
      for publisher in 0..<4 {
        group.addTask {
          for number in 0..<500 { broadcaster.publish(.number(publisher * 1000 + number)) }
        }
      }
    }
    broadcaster.finish()
    let (one, other) = (await first.collect(), await second.collect())
    #expect(one.count == 2000)
    #expect(one == other)
  }

  @Test func aSecondReaderOfOneSubscriptionEndsInsteadOfHanging() async {
    let broadcaster = Self.makeBroadcaster()
    let subscription = broadcaster.subscribe()
    let received = await withTaskGroup(of: Event?.self) { group in
      for _ in 0..<2 {
        group.addTask {
          var reader = subscription.makeAsyncIterator()
          return await reader.next()
        }
      }
      let first = await group.next()
      broadcaster.publish(.number(1))
      return [first, await group.next()]
    }
    #expect(received == [.some(nil), .some(.number(1))])
  }
}

extension EventBroadcaster.Subscription {
  fileprivate func collect() async -> [Event] {
    var events: [Event] = []
    for await event in self { events.append(event) }
    return events
  }
}

/// An event whose release can be seen.
private final class Payload: Sendable {
  private let onRelease: @Sendable () -> Void

  init(onRelease: @escaping @Sendable () -> Void = {}) {
    self.onRelease = onRelease
  }

  deinit { self.onRelease() }
}
