import AsyncAlgorithms
import DequeModule
import Foundation
import GRPCCore
import Logging
import SpeechPipeline
import SpeechProtocol
import VoiceAudio
import VoiceCore

/// Runs one `SLU/Stream` call: feeds its machine and does what the machine says.
///
/// One task owns the machine and takes turns at reading, decoding and writing. So a client that sends faster than
/// its audio is decoded, or does not read its results, is held back by the flow control of HTTP/2 and costs a
/// bounded amount of memory. Contexts of a stream are decoded one after the other: each gets what the one before
/// taught the decoder of the channel.
struct StreamDriver: Sendable {
  /// What streams share.
  struct Services: Sendable {
    var pool: RecognizerPool
    var clock: any VoiceClock
    var metrics: ServerMetrics
    var phase: ServerPhase
    var decoderPatience: Duration
    var newContextID: @Sendable () -> String = { UUID().uuidString.lowercased() }
  }

  typealias Requests = RPCAsyncSequence<Speechly_Slu_V1_SLURequest, any Error>
  typealias Writer = RPCWriter<Speechly_Slu_V1_SLUResponse>

  private enum Input: Sendable {
    case request(Speechly_Slu_V1_SLURequest, VoiceInstant)
    case halfClosed(VoiceInstant)
    case idleCheckDue
    case draining
  }

  private enum Outcome: Sendable {
    case ended(Refusal?)
    /// The client is gone, or nothing can be written to it any more.
    case disconnected
    case elapsed
    case none
  }

  let rules: StreamMachine.Rules
  let services: Services
  let logger: Logger

  /// Runs the call to its end.
  ///
  /// - Parameters:
  ///   - requests: What the client sends.
  ///   - writer: Takes what is sent to the client.
  ///   - cancellation: Fires when the client is gone, and also when the transport begins to shut down.
  /// - Throws: ``Refusal`` if the call does not end well.
  func run(
    _ requests: Requests, writer: Writer, cancellation: ServerContext.RPCCancellationHandle
  ) async throws(Refusal) {
    let outcome = await withTaskGroup(of: Outcome.self) { group in
      group.addTask { await self.converse(requests, writer) }
      group.addTask { await self.watchForDisconnect(cancellation) }
      group.addTask { await self.watchForEndOfDrain() }
      var outcome = Outcome.none
      while case .none = outcome, let next = await group.next() { outcome = next }
      group.cancelAll()
      return outcome
    }
    switch outcome {
    case .ended(nil): return
    case .ended(let refusal?): throw refusal
    case .elapsed: throw StreamMachine.stopping
    case .disconnected, .none:
      throw Refusal(.connectionLost, "The client has ended the call.", status: .cancelled)
    }
  }

  private func watchForDisconnect(
    _ cancellation: ServerContext.RPCCancellationHandle
  ) async -> Outcome {
    guard (try? await cancellation.cancelled) != nil else { return .none }
    // A transport that shuts down cancels all calls; theirs may still finish. That the client is gone is then seen
    // by the end of its messages.
    return self.services.phase.value < .draining ? .disconnected : .none
  }

  private func watchForEndOfDrain() async -> Outcome {
    for await value in self.services.phase.values() where value == .stopped {
      return .elapsed
    }
    return .none
  }

  // MARK: The conversation

  private func converse(_ requests: Requests, _ writer: Writer) async -> Outcome {
    let inputs = AsyncChannel<Input>()
    let (deadlines, setDeadline) = AsyncStream<VoiceInstant>.makeStream(
      bufferingPolicy: .bufferingNewest(1))
    return await withTaskGroup(of: Outcome.self) { group in
      group.addTask { await self.read(requests, into: inputs) }
      group.addTask { await self.wait(for: deadlines, into: inputs) }
      group.addTask { await self.watchForDrain(into: inputs) }
      group.addTask {
        var conversation = Conversation(driver: self, writer: writer, setDeadline: setDeadline)
        let outcome = await conversation.run(inputs)
        inputs.finish()
        return outcome
      }
      var outcome = Outcome.none
      while case .none = outcome, let next = await group.next() { outcome = next }
      setDeadline.finish()
      group.cancelAll()
      return outcome
    }
  }

  private func read(_ requests: Requests, into inputs: AsyncChannel<Input>) async -> Outcome {
    do {
      for try await request in requests {
        await inputs.send(.request(request, self.services.clock.now))
      }
    } catch let error as RPCError where error.code == .resourceExhausted {
      // The message is beyond what the transport takes; the machine would say the same with our own limit.
      return .ended(
        Refusal(.chunkTooLarge, "One message is too large. Send audio in pieces of about 100 ms."))
    } catch {
      return .disconnected
    }
    // A cancelled reader sees the end too, but the client has not said so.
    guard !Task.isCancelled else { return .none }
    await inputs.send(.halfClosed(self.services.clock.now))
    return .none
  }

  private func wait(
    for deadlines: AsyncStream<VoiceInstant>, into inputs: AsyncChannel<Input>
  ) async -> Outcome {
    for await deadline in deadlines {
      guard (try? await self.services.clock.sleep(until: deadline, tolerance: nil)) != nil else {
        return .none
      }
      await inputs.send(.idleCheckDue)
    }
    return .none
  }

  private func watchForDrain(into inputs: AsyncChannel<Input>) async -> Outcome {
    for await value in self.services.phase.values() where value >= .draining {
      await inputs.send(.draining)
      return .none
    }
    return .none
  }

  /// The machine at work; owned by one task.
  private struct Conversation {
    let driver: StreamDriver
    let writer: Writer
    let setDeadline: AsyncStream<VoiceInstant>.Continuation
    var machine: StreamMachine
    var runs: [String: ContextRun] = [:]
    /// What the latest context of the stream taught.
    var adaptation: RecognizerAdaptation?

    init(
      driver: StreamDriver, writer: Writer, setDeadline: AsyncStream<VoiceInstant>.Continuation
    ) {
      self.driver = driver
      self.writer = writer
      self.setDeadline = setDeadline
      self.machine = StreamMachine(rules: driver.rules, openedAt: driver.services.clock.now)
    }

    private var now: VoiceInstant { self.driver.services.clock.now }

    mutating func run(_ inputs: AsyncChannel<Input>) async -> Outcome {
      defer {
        for run in self.runs.values { self.close(run) }
        self.runs = [:]
      }
      do {
        let opening = self.machine.opened()
        if let outcome = try await self.perform(opening) { return outcome }
        let newContextID = self.driver.services.newContextID
        for await input in inputs {
          let actions =
            switch input {
            case .request(let request, let instant):
              self.machine.received(request, at: instant, newContextID: newContextID())
            case .halfClosed(let instant): self.machine.halfClosed(at: instant)
            case .idleCheckDue: self.machine.idleCheckDue(at: self.now)
            case .draining: self.machine.drainBegan()
            }
          if let outcome = try await self.perform(actions) { return outcome }
        }
      } catch {
        return .disconnected
      }
      return .none
    }

    /// Does what the machine says, and what follows from that, in order.
    private mutating func perform(_ actions: [StreamMachine.Action]) async throws -> Outcome? {
      var pending = Deque(actions)
      while let action = pending.popFirst() {
        try Task.checkCancellation()
        var consequences: [StreamMachine.Action] = []
        switch action {
        case .send(let response): try await self.writer.write(response)
        case .beginContext(let id, let request): consequences = await self.begin(id, request)
        case .append(let id, let samples): consequences = try await self.append(samples, to: id)
        case .finishContext(let id): consequences = try await self.finish(id)
        case .cancelContext(let id):
          if let run = self.runs.removeValue(forKey: id) { self.close(run) }
        case .scheduleIdleCheck(let instant): self.setDeadline.yield(instant)
        case .recordRoundTrip(let time): self.driver.services.metrics.measuredRoundTrip(time)
        case .ignore(let reason):
          self.driver.logger.debug("ignored", metadata: ["reason": "\(reason.rawValue)"])
        case .end(let refusal): return .ended(refusal)
        }
        pending.insert(contentsOf: consequences, at: 0)
      }
      return nil
    }

    private mutating func begin(
      _ id: String, _ request: StreamMachine.ContextRequest
    ) async -> [StreamMachine.Action] {
      let services = self.driver.services
      do {
        let options = ContextOptions(
          silence: request.silence, adaptation: request.adaptation ?? self.adaptation)
        let recognition = try await services.pool.beginContext(
          options, patience: services.decoderPatience)
        self.runs[id] = try ContextRun(recognition, sampleRate: request.sampleRate)
        services.metrics.contextBegan()
        self.driver.logger.debug(
          "context started",
          metadata: ["context": "\(id)", "app": "\(request.app.uuidString.lowercased())"])
        return self.machine.contextBegan(id, at: self.now)
      } catch {
        return self.machine.contextFailed(id, Self.refusal(error))
      }
    }

    private mutating func append(
      _ samples: [Int16], to id: String
    ) async throws -> [StreamMachine.Action] {
      guard var run = self.runs[id] else { return [] }
      let pieces = run.pieces(of: samples)
      self.runs[id] = run
      return try await self.decode(pieces, run, id)
    }

    private mutating func finish(_ id: String) async throws -> [StreamMachine.Action] {
      guard var run = self.runs[id] else { return [] }
      let stopped = self.now
      let pieces = run.lastPieces()
      self.runs[id] = run
      var actions = try await self.decode(pieces, run, id)
      guard self.runs[id] != nil else { return actions }
      do throws(VoiceFailure) {
        let events = try await self.measured { () async throws(VoiceFailure) in
          try await run.recognition.finish()
        }
        actions += self.machine.recognized(events, in: id)
        if let failure = run.recognition.failure { throw failure }
      } catch {
        return actions + self.fail(id, error)
      }
      self.adaptation = run.recognition.adaptation ?? self.adaptation
      self.runs[id] = nil
      self.driver.services.metrics.contextEnded()
      self.driver.services.metrics.finished(after: stopped.duration(to: self.now))
      self.driver.logger.debug(
        "context finished", metadata: ["context": "\(id)", "samples": "\(run.sampleCount)"])
      return actions + self.machine.contextFinished(id, at: self.now)
    }

    /// Decodes audio and sends what comes out of each piece at once, so that results never pile up.
    private mutating func decode(
      _ pieces: [[Int16]], _ run: ContextRun, _ id: String
    ) async throws -> [StreamMachine.Action] {
      for piece in pieces {
        try Task.checkCancellation()
        do throws(VoiceFailure) {
          let events = try await self.measured { () async throws(VoiceFailure) in
            try await run.recognition.append(piece)
          }
          self.driver.services.metrics.heard(
            AudioChunk.time(
              ofSample: Int64(piece.count), sampleRate: AudioFormat.recognition.sampleRate))
          for case .send(let response) in self.machine.recognized(events, in: id) {
            do {
              try await self.writer.write(response)
            } catch {
              throw VoiceFailure(.connectionLost, cause: error)
            }
          }
          if let failure = run.recognition.failure { throw failure }
        } catch {
          if error.code == .connectionLost { throw error }
          return self.fail(id, error)
        }
      }
      return []
    }

    private mutating func fail(_ id: String, _ failure: VoiceFailure) -> [StreamMachine.Action] {
      if let run = self.runs.removeValue(forKey: id) { self.close(run) }
      return self.machine.contextFailed(id, Self.refusal(failure))
    }

    private func close(_ run: ContextRun) {
      run.recognition.cancel()
      self.driver.services.metrics.contextEnded()
    }

    private func measured<Value: Sendable>(
      _ work: () async throws(VoiceFailure) -> Value
    ) async throws(VoiceFailure) -> Value {
      let start = self.now
      defer { self.driver.services.metrics.decoded(for: start.duration(to: self.now)) }
      return try await work()
    }

    private static func refusal(_ failure: VoiceFailure) -> Refusal {
      switch failure.code {
      case .serverOverloaded:
        Refusal(
          .serverOverloaded, "The server has no free recogniser. Try again later, or give it more decoders.")
      case .serverStopping: StreamMachine.stopping
      default: Refusal(failure)
      }
    }
  }
}
