import GRPCCore
import GRPCNIOTransportHTTP2
import GRPCProtobuf
import NIOCore
import SpeechProtocol
import VoiceCore

/// How to reach a gRPC server.
struct GRPCEndpoint: Sendable {
  var address: GRPCAddress
  var eventLoopGroup: any EventLoopGroup
  /// A file with certificates (PEM) to trust instead of the system's, for a server with its own authority.
  var trustedCertificates: String?

  typealias Transport = HTTP2ClientTransport.Posix

  /// Opens a connection, runs `body` with a client on it, and closes the connection.
  ///
  /// Each use has a connection of its own: the retry policy above decides alone when to connect again, and no
  /// half-dead connection is met twice.
  func withClient<Result: Sendable>(
    _ body: @Sendable @escaping (GRPCClient<Transport>) async throws -> Result
  ) async throws -> Result {
    let peer = PlaintextPeer()
    let client = GRPCClient(transport: try self.makeTransport(to: peer))
    return try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { try await client.runConnections() }
      do {
        let result = try await body(client)
        client.beginGracefulShutdown()
        return result
      } catch {
        // A connection that failed has nothing to wait for.
        group.cancelAll()
        client.beginGracefulShutdown()
        throw peer.expectsTLS ? GRPCFailures.tlsExpected(at: self.address, cause: error) : error
      }
    }
  }

  private func makeTransport(to peer: PlaintextPeer) throws -> Transport {
    let security: Transport.TransportSecurity
    if self.address.secure {
      security = .tls { config in
        if let path = self.trustedCertificates {
          config.trustRoots = .certificates([.file(path: path, format: .pem)])
        }
      }
    } else {
      security = .plaintext
    }
    let target: any ResolvableTarget =
      if self.address.host.contains(":") {
        .ipv6(address: self.address.host, port: self.address.port)
      } else if self.address.host.allSatisfy({ $0.isNumber || $0 == "." }) {
        .ipv4(address: self.address.host, port: self.address.port)
      } else {
        .dns(host: self.address.host, port: self.address.port)
      }
    let config = Transport.Config.defaults { config in
      // A peer that has gone without a word is noticed within 15 s also while nothing is being said.
      config.connection.keepalive = .init(time: .seconds(10), timeout: .seconds(5), allowWithoutCalls: false)
      // Audio is small and late audio is useless: do not wait to fill packets.
      config.connection.flushCoalescing = nil
      // The server's pace is the measure: a small window keeps what waits in our own, bounded window.
      config.http2.targetWindowSize = 1 << 20
      if !self.address.secure {
        config.channelDebuggingCallbacks.onCreateTCPConnection = { channel in peer.watch(channel) }
      }
    }
    do {
      return try Transport(
        target: target, transportSecurity: security, config: config, eventLoopGroup: self.eventLoopGroup)
    } catch {
      guard self.address.secure else { throw error }
      throw GRPCFailures.trustUnusable(self.trustedCertificates, cause: error)
    }
  }
}
