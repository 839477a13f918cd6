import DequeModule
import Foundation
import GRPCCore
import Logging
import SpeechPipeline
import SpeechProtocol
import SpeechUnderstanding
import VoiceAudio
import VoiceCore

/// The machine of one `SLU/Stream` call at work: takes what happens, one thing at a time, and does what follows from
/// it.
actor StreamConversation {
  /// Something that happened.
  enum Input: Sendable {
    /// Comes once; may come after the first request.
    case opened
    case request(Speechly_Slu_V1_SLURequest)
    case halfClosed
    case idleCheckDue
    case draining
  }

  /// How the call ended.
  enum Outcome: Sendable {
    indirect case ended(Refusal?)
    /// The client is gone, or nothing can be written to it any more.
    case disconnected
  }

  private let services: StreamDriver.Services
  private let logger: Logger
  private let writer: StreamDriver.Writer
  private var machine: StreamMachine
  private var runs: [String: ContextRun] = [:]
  /// What the latest context of the stream taught.
  private var adaptation: RecognizerAdaptation?
  private var isInTurn = false
  private var isOver = false
  private var waiting: Deque<CheckedContinuation<Void, Never>> = []

  /// When `.idleCheckDue` is wanted.
  private(set) var idleCheck: VoiceInstant?

  init(
    rules: StreamMachine.Rules, services: StreamDriver.Services, logger: Logger, writer: StreamDriver.Writer
  ) {
    self.services = services
    self.logger = logger
    self.writer = writer
    self.machine = StreamMachine(rules: rules, openedAt: services.clock.now)
  }

  /// Takes an input after those before it are dealt with; returns when all that follows from it is done.
  ///
  /// - Returns: How the call ended, if it did.
  func take(_ input: Input) async -> Outcome? {
    let now = self.now
    await self.beginTurn()
    defer { self.endTurn() }
    guard !self.isOver else { return nil }
    let outcome: Outcome?
    do {
      outcome = try await self.perform(self.actions(after: input, at: now))
      switch input {
      // Meanwhile the client could not be heard.
      case .request, .halfClosed: self.machine.dealtWith(at: self.now)
      case .opened, .idleCheckDue, .draining: break
      }
    } catch {
      outcome = .disconnected
    }
    self.isOver = outcome != nil
    return outcome
  }

  /// Gives the decoders of contexts that are not complete back.
  func close() {
    for run in self.runs.values { self.close(run) }
    self.runs = [:]
  }

  private var now: VoiceInstant { self.services.clock.now }

  /// A turn lasts while its audio is decoded and its results are written. An actor alone would let others in then.
  private func beginTurn() async {
    guard self.isInTurn else {
      self.isInTurn = true
      return
    }
    await withCheckedContinuation { self.waiting.append($0) }
  }

  private func endTurn() {
    if let next = self.waiting.popFirst() {
      next.resume()
    } else {
      self.isInTurn = false
    }
  }

  private func actions(after input: Input, at now: VoiceInstant) -> [StreamMachine.Action] {
    switch input {
    case .opened: self.machine.opened()
    case .request(let request):
      self.machine.received(request, at: now, newContextID: UUID().uuidString.lowercased())
    case .halfClosed: self.machine.halfClosed(at: now)
    case .idleCheckDue: self.machine.idleCheckDue(at: self.now)
    case .draining: self.machine.drainBegan()
    }
  }

  /// Does what the machine says, and what follows from that, in order.
  private func perform(_ actions: [StreamMachine.Action]) async throws -> Outcome? {
    for action in actions {
      try Task.checkCancellation()
      var consequences: [StreamMachine.Action] = []
      switch action {
      case .send(let response): try await self.writer.write(response)
      case .beginContext(let id, let request): consequences = await self.begin(id, request)
      case .append(let id, let samples): consequences = try await self.append(samples, to: id)
      case .finishContext(let id): consequences = try await self.finish(id)
      case .cancelContext(let id):
        if let run = self.runs.removeValue(forKey: id) { self.close(run) }
      case .scheduleIdleCheck(let instant): self.idleCheck = instant
      case .recordRoundTrip(let time): self.services.metrics.measuredRoundTrip(time)
      case .ignore(let reason):
        self.logger.debug("ignored", metadata: ["reason": "\(reason.rawValue)"])
      case .end(let refusal): return .ended(refusal)
      }
      if !consequences.isEmpty, let outcome = try await self.perform(consequences) { return outcome }
    }
    return nil
  }

  private func begin(
    _ id: String, _ request: StreamMachine.ContextRequest
  ) async -> [StreamMachine.Action] {
    do {
      let recognition = try await self.services.pool.beginContext(
        self.options(for: request), patience: self.services.decoderPatience)
      self.runs[id] = try ContextRun(recognition, sampleRate: request.sampleRate)
      self.services.metrics.contextBegan()
      self.logger.debug(
        "context started",
        metadata: ["context": "\(id)", "app": "\(request.app.uuidString.lowercased())"])
      return self.machine.contextBegan(id, at: self.now)
    } catch {
      return self.machine.contextFailed(id, Self.refusal(error))
    }
  }

  private func options(for request: StreamMachine.ContextRequest) -> ContextOptions {
    // A context keeps the interface that it began with, whatever is deployed meanwhile.
    var understanding = self.services.interface(request.app)
    if let timeZone = request.timeZone { understanding?.values.timeZone = timeZone }
    var silence = request.silence
    if silence == nil, request.takesAppSilence,
      let own = understanding?.understanding.interface.options.silenceTriggeredSegmentation, own > .zero
    {
      silence = own
    }
    return ContextOptions(
      silence: silence, adaptation: request.adaptation ?? self.adaptation, understanding: understanding,
      vocabulary: request.vocabulary, vocabularyBias: request.vocabularyBias)
  }

  private func append(
    _ samples: [Int16], to id: String
  ) async throws -> [StreamMachine.Action] {
    guard var run = self.runs[id] else { return [] }
    let pieces = run.pieces(of: samples)
    self.runs[id] = run
    return try await self.decode(pieces, run, id)
  }

  private func finish(_ id: String) async throws -> [StreamMachine.Action] {
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
    self.services.metrics.contextEnded()
    self.services.metrics.finished(after: stopped.duration(to: self.now))
    self.logger.debug(
      "context finished", metadata: ["context": "\(id)", "samples": "\(run.sampleCount)"])
    return actions + self.machine.contextFinished(id, at: self.now)
  }

  /// Decodes audio and sends what comes out of each piece at once, so that results never pile up.
  private func decode(
    _ pieces: [[Int16]], _ run: ContextRun, _ id: String
  ) async throws -> [StreamMachine.Action] {
    for piece in pieces {
      try Task.checkCancellation()
      do throws(VoiceFailure) {
        let events = try await self.measured { () async throws(VoiceFailure) in
          try await run.recognition.append(piece)
        }
        self.services.metrics.heard(
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

  private func fail(_ id: String, _ failure: VoiceFailure) -> [StreamMachine.Action] {
    if let run = self.runs.removeValue(forKey: id) { self.close(run) }
    return self.machine.contextFailed(id, Self.refusal(failure))
  }

  private func close(_ run: ContextRun) {
    run.recognition.cancel()
    self.services.metrics.contextEnded()
  }

  private func measured<Value: Sendable>(
    _ work: () async throws(VoiceFailure) -> Value
  ) async throws(VoiceFailure) -> Value {
    let start = self.now
    defer { self.services.metrics.decoded(for: start.duration(to: self.now)) }
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
