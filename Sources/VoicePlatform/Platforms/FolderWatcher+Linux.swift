#if os(Linux)
  import Dispatch
  import Foundation
  import Synchronization

  /// Watches files and folders by inotify(7).
  // @unchecked: dispatch sources may be used on any thread, which their declaration on Linux does not say; the
  // descriptor belongs to the source and is closed when the source has ended.
  final class PlatformFolderWatcher: @unchecked Sendable {
    private let descriptor: Int32
    private let source: any DispatchSourceRead
    private let paths: [String]
    private let onChange: @Sendable () -> Void

    /// Where input devices and the sockets of sound servers appear.
    static func deviceFolders(_ environment: [String: String]) -> [String] {
      let runtime = environment["XDG_RUNTIME_DIR"] ?? "/run/user/\(geteuid())"
      return ["/dev/snd", runtime + "/pulse", runtime + "/pipewire-0"]
    }

    /// Starts to watch; `nil` if the system does not allow it.
    init?(paths: [String], onChange: @escaping @Sendable () -> Void) {
      let descriptor = inotify_init1(Int32(IN_NONBLOCK) | Int32(IN_CLOEXEC))
      guard descriptor >= 0 else { return nil }
      self.descriptor = descriptor
      self.paths = paths
      self.onChange = onChange
      self.source = DispatchSource.makeReadSource(
        fileDescriptor: descriptor, queue: DispatchQueue(label: "swift-voice.folders"))
      self.source.setCancelHandler { close(descriptor) }
      self.source.setEventHandler { [weak self] in self?.becameReadable() }
      self.watch()
      self.source.activate()
    }

    deinit { self.source.cancel() }

    func cancel() {
      self.source.cancel()
    }

    private func becameReadable() {
      guard !self.source.isCancelled else { return }
      var buffer = [UInt8](repeating: 0, count: 4096)
      // What happened where does not matter: whoever is told looks by itself.
      while read(self.descriptor, &buffer, buffer.count) > 0 {}
      // A folder that was made or replaced needs a new watch; one that is watched already keeps its own.
      self.watch()
      self.onChange()
    }

    private func watch() {
      let events =
        IN_CREATE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO | IN_ATTRIB | IN_DELETE_SELF | IN_MOVE_SELF
      for path in self.paths {
        var folder = path
        // The nearest folder that exists tells when the next one comes.
        while inotify_add_watch(self.descriptor, folder, UInt32(events)) < 0, folder.count > 1 {
          folder = (folder as NSString).deletingLastPathComponent
          if folder.isEmpty { folder = "/" }
        }
      }
    }
  }
#endif
