import GRPCCore
import GRPCNIOTransportHTTP2
public import NIOCore
import VoiceCore

/// Where a server is and how to reach it, for the documented free functions. (Source: protocol §1.8.)
///
/// Making a channel opens nothing; each stream or login that uses it has a connection of its own.
public struct GRPCChannel: Sendable {
  /// The server's address.
  public let address: GRPCAddress
  /// Where networking runs.
  public let group: any EventLoopGroup

  var endpoint: GRPCEndpoint { GRPCEndpoint(address: self.address, eventLoopGroup: self.group) }
}

/// What is sent along with a call. (Source: protocol §1.8.)
public struct CallOptions: Hashable, Sendable {
  /// Metadata, as pairs of a lower-case name and a value.
  public struct Entry: Hashable, Sendable {
    /// The name, in lower case.
    public var name: String
    /// The value.
    public var value: String

    /// Creates an entry.
    public init(name: String, value: String) {
      self.name = name
      self.value = value
    }
  }

  /// The metadata of the call.
  public var customMetadata: [Entry]

  /// Creates options.
  public init(customMetadata: [Entry] = []) {
    self.customMetadata = customMetadata
  }
}

/// The values of the metadata may be secrets, so they are not printed.
extension CallOptions: CustomStringConvertible, CustomReflectable {
  public var description: String { "CallOptions(\(self.customMetadata.map(\.name)))" }
  public var customMirror: Mirror { Mirror(self, children: ["names": self.customMetadata.map(\.name)]) }
}

/// A channel to a server, with networking on a number of threads of its own.
///
/// - Throws: ``GRPCAddress/ParseError``.
public func makeChannel(addr: String, loopCount: Int) throws -> GRPCChannel {
  try makeChannel(addr: addr, group: PlatformSupport.makeEventLoopGroup(loopCount: loopCount))
}

/// A channel to a server, with networking on the given group.
///
/// - Throws: ``GRPCAddress/ParseError``.
public func makeChannel(addr: String, group: any EventLoopGroup) throws -> GRPCChannel {
  GRPCChannel(address: try GRPCAddress(addr: addr), group: group)
}

/// Options that authorise a call with a token.
public func makeTokenCallOptions(token: String) -> CallOptions {
  CallOptions(customMetadata: [.init(name: "authorization", value: "Bearer \(token)")])
}
