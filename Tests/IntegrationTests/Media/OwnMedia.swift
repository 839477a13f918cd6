import CallMedia
import Foundation
import RealtimeMedia
import Synchronization
import VoiceCore

/// Our side of a call with a media peer: a session, a tone that it sends, and everything that it told.
final class OwnMedia: Sendable {
  struct TooLate: Error, CustomStringConvertible {
    var description: String
  }

  typealias Told = (event: MediaSession.Event, at: ContinuousClock.Instant)

  private struct Log {
    var events: [Told] = []
    var readers: [Int: AsyncStream<Told>.Continuation] = [:]
    var nextReader = 0
  }

  let session: MediaSession
  private let log: SharedLog
  private let tone: Task<Void, any Error>?

  /// What was told; its own object, because the session tells before this one is complete.
  private final class SharedLog: Sendable {
    let state = Mutex(Log())

    func add(_ event: MediaSession.Event) {
      // Under the lock, so that readers get them in order.
      self.state.withLock { log in
        log.events.append((event, .now))
        for reader in log.readers.values { reader.yield((event, .now)) }
      }
    }
  }

  init(
    _ configuration: MediaSession.Configuration = .init(), engine: MediaEngine, tone frequency: Double? = 440
  ) {
    var configuration = configuration
    configuration.statisticsInterval = nil
    let log = SharedLog()
    self.log = log
    self.session = engine.makeSession(configuration) { log.add($0) }
    let audio = self.session.audio
    self.tone = frequency.map { frequency in
      Task {
        let tone = Tones.sine(frequency, samples: 48_000)
        while !Task.isCancelled { try await audio.send(tone) }
      }
    }
  }

  /// Runs a body with a session, which it closes whatever happens.
  static func with<Result>(
    _ configuration: MediaSession.Configuration = .init(), codecs: [AudioCodec]? = nil,
    engine: MediaEngine = MediaEngine(paths: nil), tone: Double? = 440,
    isolation: isolated (any Actor)? = #isolation, _ body: (OwnMedia) async throws -> Result
  ) async throws -> Result {
    var configuration = configuration
    if let codecs { configuration.connection.audio.codecs = codecs }
    let own = OwnMedia(configuration, engine: engine, tone: tone)
    let result: Swift.Result<Result, any Error>
    do { result = .success(try await body(own)) } catch { result = .failure(error) }
    own.tone?.cancel()
    await own.session.close()
    return try result.get()
  }

  /// How many events there were; later ones are found with `since`.
  var eventCount: Int { self.log.state.withLock { $0.events.count } }

  /// All that was told.
  var events: [MediaSession.Event] { self.log.state.withLock { $0.events.map(\.event) } }

  /// Waits for the first event of which the body makes a value.
  ///
  /// - Returns: The value, and when it was told.
  @discardableResult
  func first<Value: Sendable>(
    since: Int = 0, within limit: Duration = .seconds(30), _ what: String,
    _ choose: @escaping @Sendable (MediaSession.Event) -> Value?
  ) async throws -> (value: Value, at: ContinuousClock.Instant) {
    let found = try await Deadline.within(limit) { () -> (Value, ContinuousClock.Instant)? in
      for await (event, at) in self.timedEvents(since: since) {
        if let value = choose(event) { return (value, at) }
      }
      return nil
    }
    guard case let (value, at)?? = found else {
      throw TooLate(description: "Our side did not tell “\(what)” within \(limit), but \(self.events).")
    }
    return (value, at)
  }

  func connected(since: Int = 0) async throws {
    try await self.first(since: since, "connected") { event -> Bool? in
      if case .connected = event { true } else { nil }
    }
  }

  /// Waits until a fifth of a second in a row is nearly nothing but a tone.
  func hears(_ frequency: Double, share: Double = 0.9, within limit: Duration = .seconds(30)) async throws {
    let audio = self.session.audio
    let shares = Mutex<[Double]>([])
    let isHeard = try await Deadline.within(limit) {
      await audio.hears(frequency, share: share) { found in shares.withLock { $0.append(found) } }
    }
    guard isHeard ?? false else {
      let last = shares.withLock { $0.suffix(10).map { String(format: "%.2f", $0) } }
      throw TooLate(
        description: "Our side did not hear \(frequency) Hz within \(limit); last shares: \(last).")
    }
  }

  /// Waits until half a second in a row is silent.
  func hearsNothing(within limit: Duration = .seconds(30)) async throws {
    let audio = self.session.audio
    let isSilent = try await Deadline.within(limit) { await audio.isSilent(below: 100) }
    guard isSilent ?? false else { throw TooLate(description: "Our side was not silent within \(limit).") }
  }

  /// All events from one on, past and to come.
  func timedEvents(since: Int = 0) -> AsyncStream<Told> {
    let (stream, continuation) = AsyncStream.makeStream(
      of: Told.self)
    let log = self.log
    let id = log.state.withLock { log in
      for event in log.events.dropFirst(since) { continuation.yield(event) }
      log.nextReader += 1
      log.readers[log.nextReader] = continuation
      return log.nextReader
    }
    continuation.onTermination = { _ in log.state.withLock { _ = $0.readers.removeValue(forKey: id) } }
    return stream
  }
}

/// A limit of real time on something that waits.
enum Deadline {
  /// - Returns: `nil` if the time was over first.
  static func within<Value: Sendable>(
    _ limit: Duration, _ body: @escaping @Sendable () async throws -> Value
  ) async throws -> Value? {
    try await withThrowingTaskGroup(of: Value?.self) { group in
      group.addTask { try await body() }
      group.addTask {
        try await Task.sleep(for: limit)
        return nil
      }
      defer { group.cancelAll() }
      return try await group.next() ?? nil
    }
  }
}

extension OwnMedia {
  /// Agrees with another session of ours.
  func calls(_ other: OwnMedia) async throws {
    let offer = try await self.session.makeOffer()
    try await self.session.receivedAnswer(try await other.session.receivedOffer(offer))
  }
}
