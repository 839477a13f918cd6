import GRPCCore
import GRPCNIOTransportHTTP2
import GRPCProtobuf
import SpeechProtocol
import SpeechStreaming
import SwiftProtobuf
import VoiceCore

/// Asks an address whether a speech server is there (gRPC health checking protocol).
struct ServerProbe: Sendable {
  enum Answer: Hashable, Sendable {
    /// A server that recognises speech.
    case ready
    /// A server that is loading its models, or stopping.
    case notReady
    /// Something listens there, but it is not a server that recognises speech.
    case other
    /// Nothing listens there.
    case nobody
  }

  var address: GRPCAddress
  var trustedCertificates: String?
  var patience: Duration = .seconds(2)

  func ask() async -> Answer {
    do {
      return try await self.check()
    } catch let error as RPCError {
      switch error.code {
      case .unavailable: return String(reflecting: error).contains("Connection refused") ? .nobody : .other
      case .deadlineExceeded, .cancelled: return .other
      default: return .other
      }
    } catch {
      return .other
    }
  }

  private func check() async throws -> Answer {
    let transport = try HTTP2ClientTransport.Posix(target: self.target, transportSecurity: self.security)
    let client = GRPCClient(transport: transport)
    return try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { try await client.runConnections() }
      defer {
        client.beginGracefulShutdown()
        group.cancelAll()
      }
      var options = CallOptions.defaults
      options.timeout = self.patience
      options.waitForReady = false
      let health = Grpc_Health_V1_Health.Client(wrapping: client)
      let request = Grpc_Health_V1_HealthCheckRequest.with {
        $0.service = Speechly_Slu_V1_SLU.descriptor.fullyQualifiedService
      }
      let response = try await health.check(request, options: options)
      return response.status == .serving ? .ready : .notReady
    }
  }

  var target: any ResolvableTarget {
    if self.address.host.contains(":") { return .ipv6(address: self.address.host, port: self.address.port) }
    if self.address.host.allSatisfy({ $0.isNumber || $0 == "." }) {
      return .ipv4(address: self.address.host, port: self.address.port)
    }
    return .dns(host: self.address.host, port: self.address.port)
  }

  var security: HTTP2ClientTransport.Posix.TransportSecurity {
    guard self.address.secure else { return .plaintext }
    return .tls { config in
      if let path = self.trustedCertificates {
        config.trustRoots = .certificates([.file(path: path, format: .pem)])
      }
    }
  }
}
