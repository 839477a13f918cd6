import Foundation

/// Tells that something may have changed of what recording or recognising needs: a device was plugged in or out, a file
/// came or went.
public protocol AvailabilityMonitor: Sendable {
  /// An element for each change from now on; changes that nobody has read yet become one.
  func changes() -> AsyncStream<Void>
}

/// Watches folders of the operating system: on Linux those of the input devices (`/dev/snd`) and of sound servers, and
/// any other path that is named.
///
/// A path that does not exist is watched for its coming. On Linux this is inotify, on Apple platforms `kqueue`; nothing polls.
/// It watches while somebody reads ``changes()``, and not before. Where the system does not allow to watch, no change is
/// ever told.
public struct SystemAvailabilityMonitor: AvailabilityMonitor {
  /// The paths that are watched.
  public let paths: [String]

  /// Creates a monitor.
  ///
  /// - Parameters:
  ///   - devices: Whether to watch for input devices.
  ///   - paths: Further files and folders, such as those of a model; what is inside a folder of a folder is not watched.
  public init(devices: Bool = true, paths: [String] = []) {
    self.paths =
      (devices ? PlatformFolderWatcher.deviceFolders(ProcessInfo.processInfo.environment) : []) + paths
  }

  public func changes() -> AsyncStream<Void> {
    let (stream, continuation) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
    let watcher = PlatformFolderWatcher(paths: self.paths) { continuation.yield() }
    continuation.onTermination = { _ in watcher?.cancel() }
    return stream
  }
}

/// A monitor whose changes a test or an app tells.
public final class ManualAvailabilityMonitor: AvailabilityMonitor {
  private let readers = ReaderList()

  /// Creates a monitor.
  public init() {}

  /// Tells all readers that something has changed.
  public func change() {
    self.readers.tell()
  }

  public func changes() -> AsyncStream<Void> {
    self.readers.stream()
  }
}
