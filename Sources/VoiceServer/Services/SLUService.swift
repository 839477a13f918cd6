import Foundation
import GRPCCore
import Logging
import SpeechProtocol
import Synchronization
import VoiceCore

/// `speechly.slu.v1.SLU`: recognition of streamed speech.
final class SLUService: Speechly_Slu_V1_SLU.StreamingServiceProtocol {
  private let configuration: ServerConfiguration
  private let apps: AppRegistry
  private let authenticator: Authenticator
  private let resumeTokens: ResumeTokens
  private let services: StreamDriver.Services
  private let logger: Logger
  private let openStreams = Mutex(0)

  init(
    configuration: ServerConfiguration, apps: AppRegistry, authenticator: Authenticator,
    resumeTokens: ResumeTokens,
    services: StreamDriver.Services, logger: Logger
  ) {
    self.configuration = configuration
    self.apps = apps
    self.authenticator = authenticator
    self.resumeTokens = resumeTokens
    self.services = services
    self.logger = logger
  }

  func stream(
    request: StreamingServerRequest<Speechly_Slu_V1_SLURequest>, context: ServerContext
  ) async throws -> StreamingServerResponse<Speechly_Slu_V1_SLUResponse> {
    let requests = request.messages
    var logger = self.logger
    logger[metadataKey: "peer"] = "\(context.remotePeer)"
    logger[metadataKey: "stream"] = "\(UUID().uuidString.prefix(8).lowercased())"
    do throws(Refusal) {
      let principal = try await self.authenticator.principal(of: request.metadata)
      try self.checkPhase()
      let rules = StreamMachine.Rules(
        principal: principal, apps: self.apps.directory, limits: self.configuration.limits,
        resumeTokens: self.resumeTokens)
      return StreamingServerResponse { [logger] writer in
        do throws(Refusal) {
          try self.takePlace()
          defer { self.givePlaceBack() }
          logger.debug("stream opened")
          let driver = StreamDriver(rules: rules, services: self.services, logger: logger, writer: writer)
          try await withTaskExecutorPreference(EventLoopExecutor.current) { () async throws(Refusal) in
            try await driver.run(requests, cancellation: context.cancellation)
          }
          logger.debug("stream ended")
          return [:]
        } catch {
          throw self.rpcError(error, logger)
        }
      }
    } catch {
      throw self.rpcError(error, logger)
    }
  }

  private func checkPhase() throws(Refusal) {
    switch self.services.phase.value {
    case .loading:
      throw Refusal(
        .serverOverloaded, "The server is still loading its models. Try again in a moment.",
        retryAfter: .milliseconds(500))
    case .ready: return
    case .draining, .stopped: throw StreamMachine.stopping
    }
  }

  private func takePlace() throws(Refusal) {
    let limit = self.configuration.limits.streams
    let isTaken = self.openStreams.withLock { count in
      guard count < limit else { return false }
      count += 1
      return true
    }
    guard isTaken else {
      throw Refusal(
        .serverOverloaded, "The server has \(limit) streams open, its limit. Try again later.")
    }
    self.services.metrics.streamOpened()
  }

  private func givePlaceBack() {
    self.openStreams.withLock { $0 -= 1 }
    self.services.metrics.streamClosed()
  }

  private func rpcError(_ refusal: Refusal, _ logger: Logger) -> RPCError {
    if refusal.failure.code == .connectionLost {
      logger.debug("the client has ended the call")
    } else {
      self.services.metrics.failed(refusal.failure.code)
      refusal.log("stream refused", to: logger, ["reason": "\(refusal.failure.message)"])
    }
    return RPCError(refusal)
  }
}
