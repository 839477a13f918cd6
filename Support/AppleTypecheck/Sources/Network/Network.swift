public import Dispatch

public struct NWInterface: Hashable, Sendable {
  public enum InterfaceType: Hashable, Sendable {
    case other, wifi, cellular, wiredEthernet, loopback
  }

  public let type: InterfaceType
  public let name: String

  package init(type: InterfaceType, name: String) {
    self.type = type
    self.name = name
  }
}

public enum NWEndpoint: Hashable, Sendable {
  case name(String)
}

extension NWEndpoint: CustomDebugStringConvertible {
  public var debugDescription: String {
    switch self {
    case .name(let name): name
    }
  }
}

public struct NWPath: Hashable, Sendable {
  public enum Status: Hashable, Sendable {
    case satisfied, unsatisfied, requiresConnection
  }

  public let status: Status
  public let availableInterfaces: [NWInterface]
  public let gateways: [NWEndpoint]

  package init(status: Status, availableInterfaces: [NWInterface], gateways: [NWEndpoint]) {
    self.status = status
    self.availableInterfaces = availableInterfaces
    self.gateways = gateways
  }
}

public final class NWPathMonitor: @unchecked Sendable {
  /// The paths that a monitor tells when it is started.
  nonisolated(unsafe) package static var script: [NWPath] = []

  public var pathUpdateHandler: (@Sendable (NWPath) -> Void)?

  public init() {}

  public func start(queue: DispatchQueue) {
    let (script, handler) = (Self.script, self.pathUpdateHandler)
    queue.async { for path in script { handler?(path) } }
  }

  public func cancel() {
    self.pathUpdateHandler = nil
  }
}
