#if os(Linux)
  import Dispatch
  import Foundation
  import Synchronization

  /// Watches the network by a routing socket (rtnetlink(7)).
  final class PlatformPathWatcher: PathWatcher {
    private let session = Mutex(NetlinkSession())
    private let socket: RoutingSocket
    private let onChange: @Sendable (NetworkPath) -> Void

    /// Starts to watch; `nil` if the system does not allow it.
    static func start(onChange: @escaping @Sendable (NetworkPath) -> Void) -> (any PathWatcher)? {
      guard let socket = RoutingSocket() else { return nil }
      let watcher = PlatformPathWatcher(socket: socket, onChange: onChange)
      socket.resume { [weak watcher] in watcher?.socketBecameReadable() }
      watcher.perform(watcher.session.withLock { $0.start() })
      return watcher
    }

    private init(socket: RoutingSocket, onChange: @escaping @Sendable (NetworkPath) -> Void) {
      self.socket = socket
      self.onChange = onChange
    }

    deinit {
      self.socket.cancel()
    }

    func cancel() {
      self.socket.cancel()
    }

    private func socketBecameReadable() {
      while true {
        switch self.socket.receive() {
        case .datagram(let bytes):
          self.perform(self.session.withLock { $0.received(bytes) })
        case .lostMessages:
          self.perform(self.session.withLock { $0.start() })
        case .nothing:
          return
        }
      }
    }

    private func perform(_ actions: [NetlinkSession.Action]) {
      for action in actions {
        switch action {
        case .send(let bytes): self.socket.send(bytes)
        case .report(let path): self.onChange(path)
        case .fail: self.socket.cancel()
        }
      }
    }
  }

  /// A netlink socket that is subscribed to links, addresses and routes, and read on a queue.
  // @unchecked: dispatch sources may be used on any thread, which their declaration on Linux does not say; the
  // descriptor belongs to the source and is closed when the source has ended.
  private final class RoutingSocket: @unchecked Sendable {
    enum Received {
      case datagram([UInt8])
      case lostMessages
      case nothing
    }

    private let descriptor: Int32
    private let source: any DispatchSourceRead

    init?() {
      // From linux/netlink.h and linux/rtnetlink.h, which have no Swift module.
      let netlinkFamily: Int32 = 16
      let routeProtocol: Int32 = 0
      let groups: UInt32 = 0x1 | 0x10 | 0x40 | 0x100 | 0x400
      let type = Int32(SOCK_RAW.rawValue) | Int32(SOCK_CLOEXEC.rawValue) | Int32(SOCK_NONBLOCK.rawValue)
      let descriptor = Foundation.socket(netlinkFamily, type, routeProtocol)
      guard descriptor >= 0 else { return nil }

      // struct sockaddr_nl: family, filling, port (0: chosen by the kernel), groups.
      var address = sockaddr_storage()
      withUnsafeMutableBytes(of: &address) { bytes in
        bytes.storeBytes(of: UInt16(netlinkFamily), toByteOffset: 0, as: UInt16.self)
        bytes.storeBytes(of: groups, toByteOffset: 8, as: UInt32.self)
      }
      let status = withUnsafePointer(to: &address) {
        $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(descriptor, $0, 12) }
      }
      guard status == 0 else {
        close(descriptor)
        return nil
      }
      self.descriptor = descriptor
      self.source = DispatchSource.makeReadSource(
        fileDescriptor: descriptor, queue: DispatchQueue(label: "voice network path"))
      self.source.setCancelHandler { close(descriptor) }
    }

    func resume(_ handler: @escaping @Sendable () -> Void) {
      self.source.setEventHandler(handler: handler)
      self.source.activate()
    }

    func cancel() {
      self.source.cancel()
    }

    func send(_ bytes: [UInt8]) {
      _ = Foundation.send(self.descriptor, bytes, bytes.count, 0)
    }

    func receive() -> Received {
      guard !self.source.isCancelled else { return .nothing }
      var buffer = [UInt8](repeating: 0, count: 65_536)
      let count = recv(self.descriptor, &buffer, buffer.count, 0)
      if count > 0 { return .datagram(Array(buffer.prefix(count))) }
      return count < 0 && errno == ENOBUFS ? .lostMessages : .nothing
    }
  }
#endif
