import Foundation
import GRPCCore
import Logging
import Synchronization
import VoiceCore

/// What the services beside the stream share: who asks, which app is meant, and how a refusal is said, counted and logged.
struct ServiceGate: Sendable {
  let authenticator: Authenticator
  let apps: AppRegistry
  let clock: any VoiceClock
  let idleTime: Duration
  let metrics: ServerMetrics
  let phase: ServerPhase
  let logger: Logger

  /// Answers one call, away from the threads that the connections run on.
  func answer<Value: Sendable>(
    _ context: ServerContext, _ work: () async throws(Refusal) -> Value
  ) async throws(RPCError) -> Value {
    self.logger.trace("call began", metadata: ["method": "\(context.descriptor)"])
    do throws(Refusal) {
      return try await withTaskExecutorPreference(globalConcurrentExecutor) { () async throws(Refusal) in
        try await work()
      }
    } catch {
      throw self.rpcError(error, context)
    }
  }

  /// Whether nobody waits for the answer any more. A transport that shuts down cancels all calls, and theirs may still finish.
  func isAbandoned(_ context: ServerContext) -> Bool {
    context.cancellation.isCancelled && self.phase.value < .draining
  }

  func rpcError(_ refusal: Refusal, _ context: ServerContext) -> RPCError {
    if refusal.failure.code == .connectionLost {
      self.logger.debug("the client has ended the call", metadata: ["method": "\(context.descriptor)"])
    } else {
      self.metrics.failed(refusal.failure.code)
      refusal.log(
        "call refused", to: self.logger,
        ["method": "\(context.descriptor)", "peer": "\(context.remotePeer)"])
    }
    return RPCError(refusal)
  }

  /// The project whose API key the request has.
  func project(of metadata: Metadata) throws(Refusal) -> UUID {
    try self.authenticator.projectOfKey(in: metadata)
  }

  /// The app of a project with an id as a client writes it.
  func app(_ id: String, of project: UUID) throws(Refusal) -> ServerConfiguration.App {
    let app: ServerConfiguration.App
    do throws(VoiceFailure) { app = try self.apps.directory.app(id) } catch { throw Refusal(error) }
    guard app.project == project else {
      throw Refusal(
        .unknownApp, "The app does not belong to the project of the key. Use an app of the project.",
        status: .permissionDenied)
    }
    return app
  }

  /// Reads all messages of a call.
  ///
  /// - Throws: What `take` throws; ``Refusal`` with `speech.stream.idle` if the client sends nothing for too long, or with
  ///   `network.connection-lost` if it is gone.
  func read<Message: Sendable>(
    _ messages: RPCAsyncSequence<Message, any Error>,
    _ take: @escaping @Sendable (Message) throws(Refusal) -> Void
  ) async throws(Refusal) {
    let latest = Shared(self.clock.now)
    do {
      try await withThrowingTaskGroup(of: Void.self) { group in
        group.addTask {
          for try await message in messages {
            latest.value = self.clock.now
            try take(message)
          }
          try Task.checkCancellation()
        }
        group.addTask {
          while true {
            let deadline = latest.value.advanced(by: self.idleTime)
            if deadline <= self.clock.now { throw Self.idle }
            try await self.clock.sleep(until: deadline, tolerance: nil)
          }
        }
        defer { group.cancelAll() }
        try await group.next()
      }
    } catch let refusal as Refusal {
      throw refusal
    } catch let error as RPCError where error.code == .resourceExhausted {
      throw Refusal(.chunkTooLarge, "One message is too large. Send the content in pieces of at most 1 MB.")
    } catch {
      throw Refusal(.connectionLost, "The client has ended the call.", status: .cancelled)
    }
  }

  private static let idle = Refusal(
    .streamIdle, "Nothing came for too long. Send the pieces one after the other, then end the call.")

  static func offersNot(_ method: String, _ instead: String) -> Refusal {
    Refusal(.methodNotOffered, "This server does not offer \(method). \(instead)")
  }
}

/// A value that several closures of one call share.
final class Shared<Value: Sendable>: Sendable {
  private let state: Mutex<Value>

  init(_ value: Value) {
    self.state = Mutex(value)
  }

  var value: Value {
    get { self.state.withLock { $0 } }
    set { self.state.withLock { $0 = newValue } }
  }
}
