import NIOCore
import NIOPosix
public import VoicePlatform

/// Runs the media of any number of calls on a few threads; one call is on one thread from its beginning to its end.
///
/// A thread of a server's core carries some fifty ends of Opus (docs/benchmarks.md); an app needs one. The threads begin with the
/// engine and end with ``shutDown()``, or when the engine is released and its sessions are closed.
/// An engine per process is enough; several share nothing.
public final class MediaEngine: Sendable {
  private let group: MultiThreadedEventLoopGroup
  let threads: [MediaThread]
  let paths: (any NetworkPathMonitor)?
  let random: @Sendable () -> any RandomNumberGenerator & Sendable
  let lookup: HostLookup

  /// Creates an engine and its threads.
  ///
  /// - Parameters:
  ///   - threads: How many threads share the calls, at least one; more than the machine has cores help nothing.
  ///   - paths: Says when the machine's addresses changed, so that calls look for a new way at once; `nil` leaves that to the
  ///     silence of the old way.
  ///   - random: Makes the source of credentials and identifiers of each session.
  public convenience init(
    threads: Int = 1,
    paths: (any NetworkPathMonitor)? = SystemNetworkPathMonitor.shared,
    random: @escaping @Sendable () -> any RandomNumberGenerator & Sendable = { SystemRandomNumberGenerator() }
  ) {
    self.init(threads: threads, paths: paths, random: random, lookup: SystemLookup.lookup)
  }

  init(
    threads: Int = 1,
    paths: (any NetworkPathMonitor)?,
    random: @escaping @Sendable () -> any RandomNumberGenerator & Sendable = {
      SystemRandomNumberGenerator()
    },
    lookup: @escaping HostLookup
  ) {
    self.group = MultiThreadedEventLoopGroup(numberOfThreads: max(1, threads))
    self.threads = self.group.makeIterator().map { MediaThread($0) }
    self.paths = paths
    self.random = random
    self.lookup = lookup
  }

  deinit {
    self.group.shutdownGracefully { _ in }
  }

  /// Makes the media of a call; it opens its sockets at once.
  public func makeSession(
    _ configuration: MediaSession.Configuration, audio: CallAudio = CallAudio(),
    report: @escaping @Sendable (MediaSession.Event) -> Void
  ) -> MediaSession {
    MediaSession(
      engine: self, thread: self.leastBusy, configuration: configuration, audio: audio, report: report)
  }

  /// The thread with the fewest sessions, and one that is overloaded only if all are.
  ///
  /// Two sessions that are made at the same instant may both get it; those after them make up for that.
  private var leastBusy: MediaThread {
    func load(_ thread: MediaThread) -> (Int, Int) { (thread.overload.isPresent ? 1 : 0, thread.sessions) }
    return self.threads.dropFirst().reduce(self.threads[0]) { load($1) < load($0) ? $1 : $0 }
  }

  /// Whether each thread has more to do than it can: its calls lose audio, and one more makes it worse.
  ///
  /// It is known after some seconds of overload, and over after some seconds without. Sessions are told as it begins
  /// (``MediaSession/Event/warned(_:)`` with `call.media.overloaded`).
  public var isOverloaded: Bool { self.threads.allSatisfy(\.overload.isPresent) }

  /// Ends the threads; sessions must be closed before.
  public func shutDown() async {
    try? await self.group.shutdownGracefully()
  }
}
