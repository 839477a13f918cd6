public import NIOCore
import NIOPosix

/// Helpers that the documented initialisers refer to. (Source: protocol §1.1.)
public enum PlatformSupport {
  /// An event loop group for networking.
  ///
  /// One loop is shared by all clients of the process, since a group of its own would have to be shut down by hand; more loops
  /// make a new group that the caller shuts down.
  public static func makeEventLoopGroup(loopCount: Int) -> any EventLoopGroup {
    loopCount <= 1
      ? MultiThreadedEventLoopGroup.singleton : MultiThreadedEventLoopGroup(numberOfThreads: loopCount)
  }
}
