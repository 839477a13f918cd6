import NIOCore
import NIOPosix
import Synchronization
public import VoicePlatform

/// Runs the media of any number of calls on one thread.
///
/// The thread begins with the engine and ends with ``shutDown()``, or when the engine is released and its sessions are closed.
/// An engine per process is enough; several share nothing.
public final class MediaEngine: Sendable {
  private let group: MultiThreadedEventLoopGroup
  let loop: any EventLoop
  let pacer: NIOLoopBoundBox<MediaPacer>
  let paths: (any NetworkPathMonitor)?
  let random: @Sendable () -> any RandomNumberGenerator & Sendable
  let lookup: HostLookup

  /// Creates an engine and its thread.
  ///
  /// - Parameters:
  ///   - paths: Says when the machine's addresses changed, so that calls look for a new way at once; `nil` leaves that to the
  ///     silence of the old way.
  ///   - random: Makes the source of credentials and identifiers of each session.
  public convenience init(
    paths: (any NetworkPathMonitor)? = SystemNetworkPathMonitor.shared,
    random: @escaping @Sendable () -> any RandomNumberGenerator & Sendable = { SystemRandomNumberGenerator() }
  ) {
    self.init(paths: paths, random: random, lookup: SystemLookup.lookup)
  }

  init(
    paths: (any NetworkPathMonitor)?,
    random: @escaping @Sendable () -> any RandomNumberGenerator & Sendable = {
      SystemRandomNumberGenerator()
    },
    lookup: @escaping HostLookup
  ) {
    self.group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
    let loop = self.group.next()
    self.loop = loop
    self.pacer = NIOLoopBoundBox.makeBoxSendingValue(MediaPacer(loop: loop), eventLoop: loop)
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
    MediaSession(engine: self, configuration: configuration, audio: audio, report: report)
  }

  /// Ends the thread; sessions must be closed before.
  public func shutDown() async {
    try? await self.group.shutdownGracefully()
  }
}
