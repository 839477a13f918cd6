#if canImport(Network)
  import Dispatch
  import Foundation

  /// Watches files and folders by kqueue(2).
  // @unchecked: the sources are made before anybody else has the object, and only cancelled afterwards.
  final class PlatformFolderWatcher: @unchecked Sendable {
    private var sources: [any DispatchSourceFileSystemObject] = []

    /// Devices are no files here: whoever records is told of them by AVFoundation.
    static func deviceFolders(_ environment: [String: String]) -> [String] { [] }

    /// Starts to watch.
    init?(paths: [String], onChange: @escaping @Sendable () -> Void) {
      let queue = DispatchQueue(label: "swift-voice.folders")
      for path in paths {
        let descriptor = open(Self.nearest(path), O_EVTONLY)
        guard descriptor >= 0 else { continue }
        let source = DispatchSource.makeFileSystemObjectSource(
          fileDescriptor: descriptor, eventMask: [.write, .delete, .rename, .attrib], queue: queue)
        source.setCancelHandler { close(descriptor) }
        source.setEventHandler(handler: onChange)
        source.activate()
        self.sources.append(source)
      }
    }

    deinit { self.cancel() }

    func cancel() {
      for source in self.sources { source.cancel() }
    }

    /// The path, or the nearest folder that exists.
    private static func nearest(_ path: String) -> String {
      var path = path
      while !FileManager.default.fileExists(atPath: path), path.count > 1 {
        path = (path as NSString).deletingLastPathComponent
        if path.isEmpty { path = "/" }
      }
      return path
    }
  }
#endif
