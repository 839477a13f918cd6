import CallMedia
import VoiceCore

/// A session with everything that it tells.
struct ToldSession: Sendable {
  let session: MediaSession
  private let events: AsyncStream<MediaSession.Event>

  init(_ configuration: MediaSession.Configuration = .init(), engine: MediaEngine) {
    let (events, told) = AsyncStream.makeStream(of: MediaSession.Event.self)
    self.events = events
    self.session = engine.makeSession(configuration) { told.yield($0) }
  }

  /// Waits for the next event of which the body makes a value, and drops those before it.
  func next<Value>(_ choose: (MediaSession.Event) -> Value?) async -> Value? {
    for await event in self.events {
      if let value = choose(event) { return value }
    }
    return nil
  }

  /// Waits until audio can flow; those before it are given back.
  func connected() async -> [MediaSession.Event] {
    var before: [MediaSession.Event] = []
    for await event in self.events {
      if case .connected = event { break }
      before.append(event)
    }
    return before
  }

  /// Waits for the next warning.
  func warning() async -> VoiceFailure? {
    await self.next { event in
      if case .warned(let failure) = event { failure } else { nil }
    }
  }
}
