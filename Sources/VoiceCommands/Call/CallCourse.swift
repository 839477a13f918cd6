import CallMedia
import CallSignaling
import Calls
import VoiceAudio
import VoiceCore

/// Takes a call that comes in, and follows any call to its end: audio in and out, keys, signals, and what is shown of them.
struct CallCourse<Presenter: CallPresenter>: Sendable {
  let call: Call
  let plan: CallPlan
  let context: CommandContext
  private var presenter: Presenter
  private var stop = StopMachine()
  private var shown: CallState?
  private var began: VoiceInstant?
  private var summary = CallSummary()
  private var isOver = false
  private var isMuted = false
  private var reason: CallTerminationReason?
  /// What hears the call and has not finished: its last words are still wanted after the end.
  private var listeners = 0
  /// What ends the command with a failure though the gateway knows of none.
  private var failure: VoiceFailure?
  private var status = CommandStatus.done

  enum Event: Sendable {
    case call(CallEvent)
    case callEnded
    case measured(CallQualitySample)
    case key(CallKey)
    case signal
    case tick
    case transcript(RecognitionUpdate)
    case listenerEnded(VoiceFailure?)
    case played(VoiceFailure?)
    case stayed
    case warned(VoiceFailure)
  }

  init(call: Call, plan: CallPlan, context: CommandContext, presenter: Presenter) {
    self.call = call
    self.plan = plan
    self.context = context
    self.presenter = presenter
  }

  var isAborted: Bool { self.stop.isAborted }

  mutating func run() async -> CommandStatus {
    let (events, continuation) = AsyncStream.makeStream(of: Event.self)
    return await withTaskGroup(of: Void.self) { group in
      self.startListening(in: &group, continuation)
      self.show(self.call.callState)
      // Only now, so that no state is missed.
      if self.call.direction == .inbound { self.call.answer() }
      for await event in events {
        self.handle(event, in: &group, continuation)
        if self.stop.isAborted || self.isOver && self.listeners == 0 { break }
      }
      self.stop.workEnded()
      self.presenter.show(.ended(self.summary))
      group.cancelAll()
      return self.finalStatus
    }
  }

  private var finalStatus: CommandStatus {
    if self.failure != nil || self.reason?.failure != nil { return .call }
    if self.stop.wasAsked { return .interrupted }
    return self.status
  }

  // MARK: What goes on beside

  /// Everything subscribes before the first event is read, so that nothing is missed.
  private mutating func startListening(
    in group: inout TaskGroup<Void>, _ continuation: AsyncStream<Event>.Continuation
  ) {
    let (call, context) = (self.call, self.context)
    let events = call.events
    // It may have happened before this side looked.
    if call.callState == .ACTIVE { continuation.yield(.call(.stateUpdated(.ACTIVE))) }
    group.addTask {
      for await event in events {
        continuation.yield(.call(event))
        guard case .qualityMeasured(let metrics) = event else { continue }
        continuation.yield(.measured(CallQualitySample(metrics, await call.statistics())))
      }
      continuation.yield(.callEnded)
    }
    let signals = context.stopSignals()
    group.addTask { for await _ in signals { continuation.yield(.signal) } }
    if context.inputIsTerminal {
      let keys = context.keys()
      group.addTask {
        for await key in keys { if let key = CallKey(key) { continuation.yield(.key(key)) } }
      }
    }
    if let sink = self.plan.recording {
      self.listeners += 1
      let frames = call.audio.frames
      group.addTask { continuation.yield(.listenerEnded(await Self.record(frames, to: sink))) }
    }
    if let backend = self.plan.transcription {
      self.listeners += 1
      let source = call.audio.source
      group.addTask {
        await backend.recognize(source, until: StopRequest()) { continuation.yield(.transcript($0)) }
        continuation.yield(.listenerEnded(nil))
      }
    }
  }

  private static func record(_ frames: CallAudioFrames, to sink: WAVFileSink) async -> VoiceFailure? {
    do throws(VoiceFailure) {
      for await frame in frames {
        try await sink.write(
          AudioChunk(
            position: frame.position, samples: frame.samples, sampleRate: CallAudioFrame.sampleRate))
      }
      try await sink.finish()
      return nil
    } catch {
      return error
    }
  }

  /// Both sides talk for the first time.
  private func startSpeaking(
    in group: inout TaskGroup<Void>, _ continuation: AsyncStream<Event>.Continuation
  ) {
    let (audio, clock) = (self.call.audio, self.context.clock)
    group.addTask {
      while !Task.isCancelled {
        continuation.yield(.tick)
        try? await clock.sleep(until: clock.now.advanced(by: .seconds(1)), tolerance: nil)
      }
    }
    if let source = self.plan.play {
      let stay = self.plan.stay
      group.addTask {
        do {
          try await audio.play(source)
        } catch {
          continuation.yield(.played(error as? VoiceFailure ?? VoiceFailure(.unexpected, cause: error)))
          return
        }
        continuation.yield(.played(nil))
        try? await clock.sleep(until: clock.now.advanced(by: stay), tolerance: nil)
        continuation.yield(.stayed)
      }
    }
    if let devices = self.plan.devices {
      group.addTask { await devices.run(audio, clock: clock) { continuation.yield(.warned($0)) } }
    }
  }

  // MARK: What happens

  private mutating func handle(
    _ event: Event, in group: inout TaskGroup<Void>, _ continuation: AsyncStream<Event>.Continuation
  ) {
    switch event {
    case .call(let event): self.handle(event, in: &group, continuation)
    case .measured(let sample):
      guard !self.isOver else { return }
      self.summary.note(sample)
      self.presenter.show(.measured(sample))
    case .key(let key): self.handle(key)
    case .signal: self.handleSignal()
    case .tick:
      guard let began, !self.isOver else { return }
      self.presenter.show(.talked(began.duration(to: self.context.clock.now)))
    case .transcript(let update): self.handle(update)
    case .listenerEnded(let failure):
      self.listeners -= 1
      if let failure { self.fail(failure) }
    case .played(let failure):
      // A call that ended while something was said has said so.
      guard let failure, failure.code != .callNotFound else { return }
      self.fail(failure)
      self.call.hangup()
    case .stayed: self.call.hangup()
    case .warned(let failure): self.presenter.show(.warned(failure))
    case .callEnded: self.ended()
    }
  }

  private mutating func handle(
    _ event: CallEvent, in group: inout TaskGroup<Void>, _ continuation: AsyncStream<Event>.Continuation
  ) {
    switch event {
    case .stateUpdated(let state):
      self.show(state)
      guard state == .ACTIVE, self.began == nil else { return }
      self.began = self.context.clock.now
      self.startSpeaking(in: &group, continuation)
    case .failed(let failure): self.failed(failure)
    case .ended(let reason): self.reason = reason
    case .tonesDelivered(let tones): self.presenter.show(.key(tones, isSent: true))
    case .keyPressed(let key): self.presenter.show(.key(String(key), isSent: false))
    case .info(let message):
      if let tones = message.dtmf { self.presenter.show(.key(tones, isSent: false)) }
    case .heldByOtherSide(let isHeld): self.presenter.show(.heldByOtherSide(isHeld))
    case .holdConfirmed, .earlyMedia, .qualityMeasured, .qualityChanged: break
    }
  }

  private mutating func failed(_ failure: VoiceFailure) {
    switch failure.code {
    // Why the call ended is said once, at its end.
    case let code
    where code == self.reason?.failure?.code || self.failure != nil && code == self.failure?.code:
      break
    // The client would look for a way for a minute; a person who was never heard wants to know.
    case .callMediaUnreachable where self.began == nil, .callMediaInsecure where self.began == nil:
      self.failure = failure
      self.call.hangup()
    default: self.presenter.show(.warned(failure))
    }
  }

  private mutating func handle(_ key: CallKey) {
    switch key {
    case .tone(let tone): self.call.dtmf(dtmf: String(tone))
    case .hold: self.call.toggleHold()
    case .hangUp: self.call.hangup()
    case .mute:
      self.isMuted.toggle()
      if self.isMuted { self.call.muteAudio() } else { self.call.unmuteAudio() }
      self.presenter.show(.muted(self.isMuted))
    }
  }

  private mutating func handleSignal() {
    switch self.stop.signalArrived() {
    case .stopGracefully: self.call.hangup()
    case .abort, .ignore: break
    }
  }

  private mutating func handle(_ update: RecognitionUpdate) {
    self.presenter.show(.transcript(update))
    guard case .failed(let failure) = update, !failure.isNotice else { return }
    self.status = self.status.combined(with: CommandStatus(failure.code))
  }

  private mutating func fail(_ failure: VoiceFailure) {
    self.presenter.show(.failed(failure))
    self.status = self.status.combined(with: CommandStatus(failure.code))
  }

  private mutating func ended() {
    self.isOver = true
    self.show(self.call.callState)
    if case .DONE(let ended?) = self.call.callState { self.reason = self.reason ?? ended }
    if let began { self.summary.talked = began.duration(to: self.context.clock.now) }
    self.summary.outages = self.call.report?.outages ?? 0
    // Without audio nobody tells those that listen that it ended.
    if self.began == nil { self.listeners = 0 }
    if let failure = self.failure ?? self.reason?.failure { self.presenter.show(.failed(failure)) }
  }

  private mutating func show(_ state: CallState) {
    guard state != self.shown else { return }
    self.shown = state
    self.presenter.show(.state(state))
  }
}
