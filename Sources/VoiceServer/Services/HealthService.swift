import GRPCCore
import SpeechProtocol
import SwiftProtobuf
import VoiceCore

/// `grpc.health.v1.Health`: whether the server recognises speech now.
///
/// The services have one state, that of the server: they serve once the models are loaded, until the server is
/// asked to stop.
struct HealthService: Grpc_Health_V1_Health.SimpleServiceProtocol {
  let phase: ServerPhase
  let services: Set<String>

  func check(
    request: Grpc_Health_V1_HealthCheckRequest, context: ServerContext
  ) async throws -> Grpc_Health_V1_HealthCheckResponse {
    guard self.isKnown(request.service) else {
      throw RPCError(
        code: .notFound,
        message:
          "The server has no service of this name. Use a full name such as speechly.slu.v1.SLU, or none.")
    }
    return Self.response(self.phase.value)
  }

  func watch(
    request: Grpc_Health_V1_HealthCheckRequest,
    response: RPCWriter<Grpc_Health_V1_HealthCheckResponse>, context: ServerContext
  ) async throws {
    // The health protocol asks that the call of an unknown service stays open: it may be added later.
    let isKnown = self.isKnown(request.service)
    let phase = self.phase
    try await withThrowingTaskGroup(of: Bool.self) { group in
      group.addTask {
        if !isKnown { try await response.write(.with { $0.status = .serviceUnknown }) }
        var last: Grpc_Health_V1_HealthCheckResponse?
        for await value in phase.values() {
          let next = Self.response(value)
          if isKnown, next != last { try await response.write(next) }
          last = next
          if value >= .draining { return true }
        }
        return true
      }
      group.addTask {
        // While the server drains, the transport cancels all calls; what must be said then is said above.
        try await context.cancellation.cancelled
        guard phase.value >= .draining else { throw CancellationError() }
        return false
      }
      while let hasSaidAll = try await group.next(), !hasSaidAll {}
      group.cancelAll()
    }
  }

  private func isKnown(_ service: String) -> Bool {
    service.isEmpty || self.services.contains(service)
  }

  private static func response(_ phase: ServerPhase.Value) -> Grpc_Health_V1_HealthCheckResponse {
    .with { $0.status = phase == .ready ? .serving : .notServing }
  }
}
