/// How this machine is connected: which interfaces are up, with which addresses, and through which routers.
///
/// Two equal paths mean that a connection which works on one works on the other.
public struct NetworkPath: Hashable, Sendable {
  /// A network interface that is up and has an address.
  public struct Interface: Hashable, Sendable {
    /// The system's name, such as `eth0`.
    public var name: String
    /// The addresses in text form, sorted.
    public var addresses: [String]

    /// Creates an interface.
    public init(name: String, addresses: [String]) {
      self.name = name
      self.addresses = addresses
    }
  }

  /// The interfaces that are up and have an address, sorted by name, without the loopback interface.
  public var interfaces: [Interface]

  /// The routers of the default routes, sorted; `on-link` for a route without a router.
  public var gateways: [String]

  /// Creates a path.
  public init(interfaces: [Interface], gateways: [String] = []) {
    self.interfaces = interfaces
    self.gateways = gateways
  }

  /// Whether there is a network at all; servers on this machine are reachable without one.
  public var isSatisfied: Bool { !self.interfaces.isEmpty }
}

/// Tells when this machine's network has changed, so that a client can try again at once instead of waiting.
public protocol NetworkPathMonitor: Sendable {
  /// The path as it is now, or `nil` while it is not known.
  var currentPath: NetworkPath? { get }

  /// The changes from now on; the present path is not among them.
  ///
  /// A slow reader gets the newest path only. The stream ends when its task is cancelled.
  func changes() -> AsyncStream<NetworkPath>
}
