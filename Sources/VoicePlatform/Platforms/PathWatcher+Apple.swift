#if canImport(Network)
  import Dispatch
  import Network

  /// Watches the network by `NWPathMonitor`.
  final class PlatformPathWatcher: PathWatcher {
    private let monitor = NWPathMonitor()

    static func start(onChange: @escaping @Sendable (NetworkPath) -> Void) -> (any PathWatcher)? {
      let watcher = PlatformPathWatcher()
      watcher.monitor.pathUpdateHandler = { path in onChange(NetworkPath(path)) }
      watcher.monitor.start(queue: DispatchQueue(label: "voice network path"))
      return watcher
    }

    func cancel() {
      self.monitor.cancel()
    }
  }

  extension NetworkPath {
    /// The system tells interfaces and routers, not addresses: the routers stand for them.
    fileprivate init(_ path: NWPath) {
      let interfaces = path.status == .satisfied ? path.availableInterfaces : []
      self.init(
        interfaces: interfaces.filter { $0.type != .loopback }
          .map { Interface(name: $0.name, addresses: []) }
          .sorted { $0.name < $1.name },
        gateways: path.gateways.map { "\($0)" }.sorted())
    }
  }
#endif
