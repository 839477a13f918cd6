import CallMedia
import CallSignaling
import Foundation
import Logging
import SpeechPipeline
import SpeechUnderstanding
import VoiceAudio
import VoiceCore

/// Answers calls with a recogniser: runs an ``AssistantMachine`` per call.
///
/// A call holds one recogniser of the server's pool from its beginning to its end. It hears the caller while the assistant
/// speaks, so that what is said can be interrupted.
struct AssistantService: AnsweringService {
  /// What calls share.
  struct Parts: Sendable {
    var pool: RecognizerPool
    var interface: AssistantInterface
    var voice: any AssistantVoice
    var clock: any VoiceClock
    var settings = AssistantMachine.Settings()
    /// How long a call waits for a recogniser.
    var patience: Duration
    /// The pause after which the assistant answers.
    var pause: Duration
    var logger: Logger
  }

  /// Missing audio is heard as silence up to here: longer than any pause that ends a segment.
  static let longestGap = 2 * AudioFormat.recognition.sampleRate

  private let parts: Parts

  init(_ parts: Parts) {
    self.parts = parts
  }

  func run(_ audio: CallAudio) async -> HangupCause {
    let (events, teller) = AsyncStream.makeStream(of: AssistantMachine.Event.self)
    return await withTaskGroup(of: Void.self) { group in
      group.addTask { await self.listen(to: audio, teller) }
      defer { group.cancelAll() }
      var call = AssistantCall(parts: self.parts, audio: audio, teller: teller)
      defer { call.stop() }
      for await event in events {
        if let cause = call.handle(event) { return cause }
      }
      return .normalClearing
    }
  }

  /// Recognises what the caller says until the call ends.
  private func listen(
    to audio: CallAudio, _ teller: AsyncStream<AssistantMachine.Event>.Continuation
  ) async {
    let context: RecognitionContext
    do throws(VoiceFailure) {
      let understanding = try await self.parts.interface.understanding()
      context = try await self.parts.pool.beginContext(
        ContextOptions(silence: self.parts.pause, understanding: understanding),
        patience: self.parts.patience)
    } catch {
      self.parts.logger.notice(
        "the assistant has no recogniser", metadata: ["code": "\(error.code)", "reason": "\(error.message)"])
      teller.yield(.refused(error.code))
      return
    }
    defer { context.cancel() }
    do {
      let capture = try await audio.source.capture()
      defer { capture.stop() }
      teller.yield(.began)
      var hearing = AssistantHearing()
      var position: Int64 = 0
      for try await event in capture {
        guard case .chunk(let chunk) = event else { continue }
        // Streams have no word for missing audio either: silence in its place keeps times and pauses right.
        let gap = min(Int64(Self.longestGap), max(0, chunk.position - position))
        position = chunk.endPosition
        let heard = try await context.append([Int16](repeating: 0, count: Int(gap)) + chunk.samples)
        for event in heard.compactMap({ hearing.event(for: $0) }) { teller.yield(event) }
        if let failure = context.failure { throw failure }
      }
      teller.yield(.audioEnded)
    } catch {
      guard !Task.isCancelled else { return }
      let failure = error as? VoiceFailure ?? VoiceFailure(.unexpected, cause: error)
      self.parts.logger.notice("the assistant does not hear any more", metadata: ["code": "\(failure.code)"])
      teller.yield(.recognitionFailed)
    }
  }
}

/// One call: steps the machine, and does what it says. Used by one task.
private struct AssistantCall {
  private let parts: AssistantService.Parts
  private let audio: CallAudio
  private let teller: AsyncStream<AssistantMachine.Event>.Continuation
  private var machine: AssistantMachine
  // Both must be stopped apart from the rest of the call; `stop()` ends them with it.
  private var speech: Task<Void, Never>?
  private var timer: (deadline: VoiceInstant, task: Task<Void, Never>)?

  init(
    parts: AssistantService.Parts, audio: CallAudio,
    teller: AsyncStream<AssistantMachine.Event>.Continuation
  ) {
    self.parts = parts
    self.audio = audio
    self.teller = teller
    self.machine = AssistantMachine(settings: parts.settings, at: parts.clock.now)
    self.arm()
  }

  /// - Returns: The cause with which the call ends, if it does.
  mutating func handle(_ event: AssistantMachine.Event) -> HangupCause? {
    for action in self.machine.handle(event, at: self.parts.clock.now) {
      switch action {
      case .speak(let sentence, let text): self.speak(sentence, text)
      case .stopSpeaking:
        self.speech?.cancel()
        self.audio.discardQueued()
      case .end(let cause): return cause
      }
    }
    self.arm()
    return nil
  }

  func stop() {
    self.speech?.cancel()
    self.timer?.task.cancel()
  }

  private mutating func speak(_ sentence: AssistantMachine.Sentence, _ text: String) {
    self.speech?.cancel()
    let (parts, audio, teller) = (self.parts, self.audio, self.teller)
    self.speech = Task {
      do {
        let speech = try await parts.voice.speech(text)
        try Task.checkCancellation()
        try await audio.play(SamplesSource(samples: speech.samples, sampleRate: speech.sampleRate))
      } catch {
        // What was stopped is not to be told of; the end of the call is told by what hears it.
        guard !Task.isCancelled else { return }
        let failure = error as? VoiceFailure ?? VoiceFailure(.unexpected, cause: error)
        guard failure.code != .callNotFound else { return }
        parts.logger.warning("the assistant cannot speak", metadata: ["code": "\(failure.code)"])
      }
      guard !Task.isCancelled else { return }
      teller.yield(.spoken(sentence))
    }
  }

  private mutating func arm() {
    let deadline = self.machine.deadline
    guard deadline != self.timer?.deadline else { return }
    self.timer?.task.cancel()
    self.timer = deadline.map { deadline in
      let (clock, teller) = (self.parts.clock, self.teller)
      return (
        deadline,
        Task {
          guard (try? await clock.sleep(until: deadline, tolerance: nil)) != nil else { return }
          teller.yield(.timePassed)
        }
      )
    }
  }
}

extension AssistantService {
  /// The assistant of a server, as it is configured.
  ///
  /// - Throws: ``VoiceFailure`` with `server.configuration.invalid` if there is no such app.
  init(
    _ server: VoiceServer, _ configuration: ServerConfiguration, _ interfaces: AppInterfaces
  ) throws(VoiceFailure) {
    guard let app = configuration.assistantApp else {
      throw VoiceFailure(.configurationInvalid, message: "calls.assistant: expected the name of an app.")
    }
    let limits = configuration.calls.limits
    let interface = AssistantInterface(
      current: { interfaces.current(of: app.id) },
      values: { [now = server.now] in
        ValueContext(now: Date(timeIntervalSince1970: TimeInterval(now())), timeZone: .current)
      })
    self.init(
      Parts(
        pool: server.pool, interface: interface, voice: FliteVoice(), clock: server.clock,
        settings: .init(longestCall: limits.assistantTime, silence: limits.assistantSilence),
        patience: configuration.limits.decoderPatience,
        pause: app.segmentingSilence ?? .milliseconds(720), logger: server.logger))
  }
}
