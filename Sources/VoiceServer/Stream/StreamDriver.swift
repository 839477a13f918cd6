import Foundation
import GRPCCore
import Logging
import SpeechPipeline
import SpeechProtocol
import VoiceCore

/// Runs one `SLU/Stream` call: feeds its machine and does what the machine says.
///
/// One task takes turns at reading, decoding and writing. So a client that sends faster than its audio is decoded, or
/// does not read its results, is held back by the flow control of HTTP/2 and costs a bounded amount of memory.
/// Contexts of a stream are decoded one after the other: each gets what the one before taught the decoder of the
/// channel.
struct StreamDriver: Sendable {
  /// What streams share.
  final class Services: Sendable {
    let pool: RecognizerPool
    let clock: any VoiceClock
    let metrics: ServerMetrics
    let phase: ServerPhase
    let decoderPatience: Duration
    /// How an app understands, as deployed at present; `nil` if it has words only.
    let interface: @Sendable (_ app: UUID) -> ContextUnderstanding?

    init(
      pool: RecognizerPool, clock: any VoiceClock, metrics: ServerMetrics, phase: ServerPhase,
      decoderPatience: Duration,
      interface: @escaping @Sendable (_ app: UUID) -> ContextUnderstanding? = { _ in nil }
    ) {
      self.pool = pool
      self.clock = clock
      self.metrics = metrics
      self.phase = phase
      self.decoderPatience = decoderPatience
      self.interface = interface
    }
  }

  typealias Requests = RPCAsyncSequence<Speechly_Slu_V1_SLURequest, any Error>
  typealias Writer = RPCWriter<Speechly_Slu_V1_SLUResponse>

  /// What ends a call, or may end it, and comes at any time.
  private enum Signal: Sendable {
    case ended(StreamConversation.Outcome)
    case phase(ServerPhase.Value)
    case cancelled
  }

  // References alone: what a task holds while it waits costs memory for as long as the stream is open.
  private let conversation: StreamConversation
  private let services: Services

  /// - Parameters:
  ///   - writer: Takes what is sent to the client.
  init(rules: StreamMachine.Rules, services: Services, logger: Logger, writer: Writer) {
    self.conversation = StreamConversation(
      rules: rules, services: services, logger: logger, writer: writer)
    self.services = services
  }

  /// Runs the call to its end.
  ///
  /// - Parameters:
  ///   - requests: What the client sends.
  ///   - cancellation: Fires when the client is gone, and also when the transport begins to shut down.
  /// - Throws: ``Refusal`` if the call does not end well.
  func run(
    _ requests: Requests, cancellation: ServerContext.RPCCancellationHandle
  ) async throws(Refusal) {
    let (signals, signal) = AsyncStream<Signal>.makeStream()
    let observation = self.services.phase.observe { phase in
      if phase >= .draining { signal.yield(.phase(phase)) }
    }
    defer { self.services.phase.end(observation) }
    let outcome = await withRPCCancellationHandler {
      // The handler is not called for what happened before.
      if cancellation.isCancelled { signal.yield(.cancelled) }
      return await self.converse(requests, signals, signal)
    } onCancelRPC: {
      signal.yield(.cancelled)
    }
    switch outcome {
    case .ended(nil): return
    case .ended(let refusal?): throw refusal
    case .disconnected:
      throw Refusal(.connectionLost, "The client has ended the call.", status: .cancelled)
    }
  }

  private func converse(
    _ requests: Requests, _ signals: AsyncStream<Signal>, _ signal: AsyncStream<Signal>.Continuation
  ) async -> StreamConversation.Outcome {
    let outcome = await withTaskGroup(of: Void.self) { group in
      group.addTask {
        if let outcome = await self.read(requests) { signal.yield(.ended(outcome)) }
      }
      group.addTask {
        if let outcome = await self.watchForIdleness() { signal.yield(.ended(outcome)) }
      }
      defer { group.cancelAll() }
      for await event in signals {
        switch event {
        case .ended(let outcome): return outcome
        case .phase(.stopped): return .ended(StreamMachine.stopping)
        case .phase(.draining):
          group.addTask {
            if let outcome = await self.conversation.take(.draining) { signal.yield(.ended(outcome)) }
          }
        case .phase(.loading), .phase(.ready): continue
        case .cancelled:
          // A transport that shuts down cancels all calls; theirs may still finish. That the client is gone is
          // then seen by the end of its messages.
          if self.services.phase.value < .draining { return .disconnected }
        }
      }
      return .disconnected
    }
    await self.conversation.close()
    return outcome
  }

  private func read(_ requests: Requests) async -> StreamConversation.Outcome? {
    do {
      for try await request in requests {
        if let outcome = await self.conversation.take(.request(request)) { return outcome }
      }
    } catch let error as RPCError where error.code == .resourceExhausted {
      // The message is beyond what the transport takes; the machine would say the same with our own limit.
      return .ended(
        Refusal(.chunkTooLarge, "One message is too large. Send audio in pieces of about 100 ms."))
    } catch {
      return .disconnected
    }
    // A cancelled reader sees the end too, but the client has not said so.
    guard !Task.isCancelled else { return nil }
    return await self.conversation.take(.halfClosed)
  }

  private func watchForIdleness() async -> StreamConversation.Outcome? {
    var outcome = await self.conversation.take(.opened)
    while outcome == nil, let deadline = await self.conversation.idleCheck {
      guard (try? await self.services.clock.sleep(until: deadline, tolerance: nil)) != nil else {
        return nil
      }
      outcome = await self.conversation.take(.idleCheckDue)
    }
    return outcome
  }
}
