import Foundation
import GRPCCore
import SpeechMessages
import SpeechPipeline
import SpeechProtocol
import VoiceCore

/// The rules of one `SLU/Stream` call, as a value: requests and results go in with their instants, actions come out.
///
/// Two things go on side by side. The *intake* takes requests; its states:
///
/// - *awaitingConfig*: the stream is open; the first message must be a config.
/// - *idle*: a context may begin.
/// - *active*: a context takes audio, until its stop.
/// - *ending*: nothing is taken any more; the results of contexts that were stopped are still delivered, then
///   the call ends.
/// - *ended*: terminal; every event is ignored.
///
/// The *outputs* are the contexts whose results are not complete. A client may start a context while those of the
/// one before are still being computed; each context has its own id.
///
/// Three kinds of bad input: what breaks the protocol ends the call (after the results of contexts that were
/// stopped properly), what is merely unknown is ignored and reported with `.ignore`, and an event of the driver
/// that makes no sense (any more) is ignored too.
struct StreamMachine: Sendable {
  let rules: Rules
  private(set) var state: State = .awaitingConfig
  private(set) var isDraining = false
  private var outputs: [ContextOutput] = []
  private var lastActivity: VoiceInstant
  /// Since when the server has nothing to do but to wait for the client.
  private var waitingSince: VoiceInstant
  /// Whether the latest message shows that the client is at work.
  private var latestCounts = true
  private var nextRoundTrip: Int32 = 1
  private var roundTrips: [Int32: VoiceInstant] = [:]

  /// How many measurements may be without an answer; a client that answers none costs no more than this.
  private static let roundTripLimit = 16

  init(rules: Rules, openedAt now: VoiceInstant) {
    self.rules = rules
    self.lastActivity = now
    self.waitingSince = now
  }

  /// The ids of the contexts whose results are not complete, oldest first.
  var contextIDs: [String] { self.outputs.map(\.contextID) }

  /// Call once, first.
  func opened() -> [Action] { [self.idleCheck] }

  // MARK: Requests

  /// A message came from the client.
  ///
  /// - Parameters:
  ///   - request: The message.
  ///   - now: When it came.
  ///   - newContextID: A new UUID, in case a context starts.
  mutating func received(
    _ request: Speechly_Slu_V1_SLURequest, at now: VoiceInstant,
    newContextID: @autoclosure () -> String
  ) -> [Action] {
    if case .ended = self.state { return [.ignore(.streamEnding)] }
    if case .ending = self.state { return [.ignore(.streamEnding)] }
    self.came(request, at: now)
    switch request.streamingRequest {
    case .config(let config): return self.receivedConfig(config)
    case .start(let start):
      return self.receivedStart(
        app: start.appID, options: start.options, contextID: newContextID())
    case .event(let event):
      switch event.event {
      case .start:
        return self.receivedStart(app: event.appID, options: [], contextID: newContextID())
      case .stop: return self.receivedStop()
      case .UNRECOGNIZED: return self.receivedUnknown()
      }
    case .stop: return self.receivedStop()
    case .audio(let bytes): return self.receivedAudio(bytes)
    case .rttResponse(let response): return self.receivedRoundTrip(response.id, at: now)
    case nil: return self.receivedUnknown()
    }
  }

  /// The client has sent everything; an open context ends as with a stop.
  mutating func halfClosed(at now: VoiceInstant) -> [Action] {
    self.latestCounts = true
    self.dealtWith(at: now)
    switch self.state {
    case .awaitingConfig, .idle: return self.end(nil)
    case .active(_, let intake):
      self.state = .ending(nil)
      return [.finishContext(id: intake.contextID)]
    case .ending(let refusal):
      // A client that has all it asked for need not hear that the server is stopping.
      if refusal?.failure.code == .serverStopping { self.state = .ending(nil) }
      return []
    case .ended: return []
    }
  }

  /// All that the latest message led to is done. The time that it took was the server's, not the client's.
  mutating func dealtWith(at now: VoiceInstant) {
    self.waitingSince = max(self.waitingSince, now)
    if self.latestCounts { self.lastActivity = max(self.lastActivity, now) }
  }

  /// An active context holds a decoder: only what feeds it or ends it keeps it alive.
  private mutating func came(_ request: Speechly_Slu_V1_SLURequest, at now: VoiceInstant) {
    if case .active(let settings, var intake) = self.state {
      intake.waited += max(.zero, self.waitingSince.duration(to: now))
      self.state = .active(settings, intake)
      self.latestCounts =
        switch request.streamingRequest {
        case .audio(let bytes): !bytes.isEmpty
        case .event(let event):
          switch event.event {
          case .start, .stop: true
          case .UNRECOGNIZED: false
          }
        case .start, .stop: true
        case .config, .rttResponse, nil: false
        }
    } else {
      self.latestCounts = true
    }
    self.dealtWith(at: now)
  }

  private mutating func receivedConfig(_ config: Speechly_Slu_V1_SLUConfig) -> [Action] {
    guard case .awaitingConfig = self.state else {
      return self.refuse(
        .init(.orderViolated, "A stream is configured once. Send config as the first message only."))
    }
    do throws(Refusal) {
      self.state = .idle(try self.settings(from: config))
      return []
    } catch {
      return self.refuse(error)
    }
  }

  private mutating func receivedStart(
    app: String, options: [Speechly_Slu_V1_SLUStart.Option], contextID: String
  ) -> [Action] {
    let settings: Settings
    switch self.state {
    case .awaitingConfig: return self.refuse(Self.missingConfig)
    case .active:
      return self.refuse(
        .init(.orderViolated, "A context is active. Send stop before the next start."))
    case .idle(let kept): settings = kept
    case .ending, .ended: return [.ignore(.streamEnding)]
    }
    guard !self.isDraining else { return self.refuse(Self.stopping) }
    do throws(Refusal) {
      return try self.startContext(contextID, app: app, options: options, settings)
    } catch {
      return self.refuse(error)
    }
  }

  private mutating func startContext(
    _ contextID: String, app appID: String, options: [Speechly_Slu_V1_SLUStart.Option],
    _ settings: Settings
  ) throws(Refusal) -> [Action] {
    let app = try self.app(appID, language: settings.language)
    var chosen = settings.options
    do throws(VoiceFailure) { try chosen.apply(options) } catch { throw Refusal(error) }
    var actions: [Action] = []
    var adaptation: RecognizerAdaptation?
    if let token = chosen.resumeToken {
      adaptation = self.rules.resumeTokens.open(text: token)
      if adaptation == nil { actions.append(.ignore(.resumeTokenNotOurs)) }
      if adaptation?.bytes.isEmpty == true { adaptation = nil }
    }
    self.outputs.append(
      ContextOutput(
        contextID: contextID, sampleRate: settings.sampleRate,
        measuresRoundTrips: chosen.measuresRoundTrips,
        resumeTokens: chosen.wantsResumeTokens ? self.rules.resumeTokens : nil))
    let intake = Intake(
      contextID: contextID, assembler: SampleAssembler(channels: settings.channels),
      frameLimit: AudioTime.frames(
        of: self.rules.limits.contextDuration, sampleRate: settings.sampleRate))
    self.state = .active(settings, intake)
    let request = ContextRequest(
      app: app.id, language: app.language, sampleRate: settings.sampleRate,
      silence: chosen.silence(of: app), takesAppSilence: chosen.silence == .asTheApp,
      timeZone: chosen.timeZone, vocabulary: chosen.vocabulary, vocabularyBias: chosen.vocabularyBias,
      adaptation: adaptation)
    return actions + [.beginContext(id: contextID, request)]
  }

  private mutating func receivedStop() -> [Action] {
    switch self.state {
    case .awaitingConfig: return self.refuse(Self.missingConfig)
    case .idle:
      return self.refuse(.init(.orderViolated, "No context is active. Send start before stop."))
    case .active(let settings, let intake):
      self.state = self.isDraining ? .ending(Self.stopping) : .idle(settings)
      return [.finishContext(id: intake.contextID)]
    case .ending, .ended: return [.ignore(.streamEnding)]
    }
  }

  private mutating func receivedAudio(_ bytes: Data) -> [Action] {
    switch self.state {
    case .awaitingConfig: return self.refuse(Self.missingConfig)
    case .idle:
      return self.refuse(
        .init(.orderViolated, "Audio came outside a context. Send start before audio."))
    case .active(let settings, var intake):
      guard bytes.count < self.rules.limits.chunkBytes else {
        return self.refuse(
          .init(
            .chunkTooLarge,
            "One message holds \(bytes.count) bytes of audio. Send less than \(self.rules.limits.chunkBytes), "
              + "best about 100 ms."))
      }
      let (samples, isBeyond) = intake.assembler.append(bytes, limit: intake.frameLimit)
      var actions: [Action] = samples.isEmpty ? [] : [.append(id: intake.contextID, samples)]
      if isBeyond {
        self.state = .ending(
          Refusal(
            .contextTooLong,
            "The context is longer than \(self.rules.limits.contextDuration). Send stop and start before that."
          ))
        actions.append(.finishContext(id: intake.contextID))
      } else {
        self.state = .active(settings, intake)
      }
      return actions
    case .ending, .ended: return [.ignore(.streamEnding)]
    }
  }

  private mutating func receivedRoundTrip(_ id: Int32, at now: VoiceInstant) -> [Action] {
    if case .awaitingConfig = self.state { return self.refuse(Self.missingConfig) }
    guard let sent = self.roundTrips.removeValue(forKey: id) else {
      return [.ignore(.unknownRoundTrip)]
    }
    return [.recordRoundTrip(sent.duration(to: now))]
  }

  private mutating func receivedUnknown() -> [Action] {
    if case .awaitingConfig = self.state { return self.refuse(Self.missingConfig) }
    return [.ignore(.unknownMessage)]
  }

  // MARK: Results

  /// The recogniser has taken the context.
  mutating func contextBegan(_ id: String, at now: VoiceInstant) -> [Action] {
    guard let output = self.output(id) else { return [.ignore(.unknownContext)] }
    // It may have waited for a decoder.
    self.dealtWith(at: now)
    var actions: [Action] = [.send(output.started())]
    if output.measuresRoundTrips, self.roundTrips.count < Self.roundTripLimit {
      actions.append(.send(output.roundTripRequest(self.nextRoundTrip)))
      self.roundTrips[self.nextRoundTrip] = now
      self.nextRoundTrip = self.nextRoundTrip == .max ? 1 : self.nextRoundTrip + 1
    }
    return actions
  }

  /// Something was recognised.
  mutating func recognized(_ events: [RecognitionEvent], in id: String) -> [Action] {
    guard let index = self.outputs.firstIndex(where: { $0.contextID == id }) else {
      return [.ignore(.unknownContext)]
    }
    var actions: [Action] = []
    for event in events {
      actions += self.outputs[index].responses(to: event).map { .send($0) }
    }
    return actions
  }

  /// The results of a context are complete.
  mutating func contextFinished(_ id: String, at now: VoiceInstant) -> [Action] {
    guard let output = self.output(id) else { return [.ignore(.unknownContext)] }
    self.lastActivity = max(self.lastActivity, now)
    self.outputs.removeAll { $0.contextID == id }
    return [.send(output.finished())] + self.endIfComplete()
  }

  /// A context cannot go on: its words so far are sent, everything else ends.
  mutating func contextFailed(_ id: String, _ refusal: Refusal) -> [Action] {
    guard self.output(id) != nil else { return [.ignore(.unknownContext)] }
    self.outputs.removeAll { $0.contextID == id }
    return self.abandon(refusal)
  }

  // MARK: Time and shutdown

  /// The instant of `.scheduleIdleCheck` has come.
  mutating func idleCheckDue(at now: VoiceInstant) -> [Action] {
    if case .ended = self.state { return [] }
    if case .active(_, let intake) = self.state, now >= self.end(of: intake) {
      self.state = .ending(
        Refusal(
          .contextTooLong,
          "The context has been open for longer than its \(self.rules.limits.contextDuration) of audio take. "
            + "Send stop when nobody speaks."))
      self.lastActivity = now
      return [.finishContext(id: intake.contextID), self.idleCheck]
    }
    let due = self.lastActivity.advanced(by: self.rules.limits.idleTime)
    if now < due { return [self.idleCheck] }
    let refusal = Refusal(
      .streamIdle,
      "Nothing came over the stream for \(self.rules.limits.idleTime). Start again when there is audio.")
    switch self.state {
    case .awaitingConfig: return self.end(refusal)
    case .idle:
      // Nothing is lost when a stream between two contexts is closed.
      if self.outputs.isEmpty { return self.end(nil) }
    case .active(_, let intake):
      self.state = .ending(refusal)
      self.lastActivity = now
      return [.finishContext(id: intake.contextID), self.idleCheck]
    case .ending: break
    case .ended: return []
    }
    self.lastActivity = now
    return [self.idleCheck]
  }

  /// The server is to stop: a running context may go on, nothing new begins.
  mutating func drainBegan() -> [Action] {
    self.isDraining = true
    switch self.state {
    case .awaitingConfig, .idle: return self.end(Self.stopping)
    case .active, .ending, .ended: return []
    }
  }

  /// The time for running contexts is over.
  mutating func drainElapsed() -> [Action] {
    if case .ended = self.state { return [] }
    return self.abandon(Self.stopping)
  }
}

extension StreamMachine {
  static let missingConfig = Refusal(
    .orderViolated, "The stream is not configured. Send config as the first message.",
    status: .invalidArgument)

  static let stopping = Refusal(
    .serverStopping, "The server is shutting down. Connect again and go on.")

  /// The results of contexts that were stopped are still wanted; the active one is dropped.
  private mutating func refuse(_ refusal: Refusal) -> [Action] {
    guard case .active(_, let intake) = self.state else { return self.end(refusal) }
    self.outputs.removeAll { $0.contextID == intake.contextID }
    return [.cancelContext(id: intake.contextID)] + self.end(refusal)
  }

  private mutating func end(_ refusal: Refusal?) -> [Action] {
    self.state = .ending(refusal)
    return self.endIfComplete()
  }

  private mutating func endIfComplete() -> [Action] {
    guard case .ending(let refusal) = self.state, self.outputs.isEmpty else { return [] }
    self.state = .ended
    return [.end(refusal)]
  }

  private mutating func abandon(_ refusal: Refusal) -> [Action] {
    let actions = self.outputs.map { Action.cancelContext(id: $0.contextID) }
    self.outputs = []
    self.state = .ended
    return actions + [.end(refusal)]
  }

  private func output(_ id: String) -> ContextOutput? {
    self.outputs.first { $0.contextID == id }
  }

  private var idleCheck: Action {
    let idle = self.lastActivity.advanced(by: self.rules.limits.idleTime)
    guard case .active(_, let intake) = self.state else { return .scheduleIdleCheck(at: idle) }
    return .scheduleIdleCheck(at: min(idle, self.end(of: intake)))
  }

  /// When a context has taken all the time that it may, if the client does nothing more: as much as its audio lasts,
  /// and pauses of one idle time together.
  private func end(of intake: Intake) -> VoiceInstant {
    let limit = self.rules.limits.contextDuration + self.rules.limits.idleTime
    return self.waitingSince.advanced(by: limit - intake.waited)
  }
}
