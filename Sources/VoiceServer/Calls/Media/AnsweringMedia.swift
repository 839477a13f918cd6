import CallMedia
import CallSignaling
import Logging
import RealtimeMedia
import VoiceCore

/// What a service does with the audio of a call, from the answer to the end.
protocol AnsweringService: Sendable {
  /// Speaks and listens; returns when the call is over, or to end it with a cause. Is cancelled when the caller hangs up.
  func run(_ audio: CallAudio) async -> HangupCause
}

/// Answers calls to services with real audio.
struct AnsweringMedia: ServerMediaPeerFactory {
  /// The engine of all calls that the server answers.
  let engine: MediaEngine
  /// STUN and TURN servers that the server itself uses; needed only behind a NAT.
  let iceServers: [MediaSession.Configuration.IceServer]
  /// Makes what answers a service.
  let service: @Sendable (MediaService) -> any AnsweringService
  let logger: Logger

  func makePeer(_ tell: @escaping @Sendable (MediaEvent) -> Void) -> any ServerMediaPeer {
    AnsweringPeer(media: self, tell: tell)
  }
}

/// The server's end of one call.
///
/// Commands are performed one after the other by one task, which ends with ``MediaCommand/stop``: descriptions take time.
final class AnsweringPeer: ServerMediaPeer {
  private let commands: AsyncStream<MediaCommand>.Continuation

  init(media: AnsweringMedia, tell: @escaping @Sendable (MediaEvent) -> Void) {
    let (stream, commands) = AsyncStream.makeStream(
      of: MediaCommand.self, bufferingPolicy: .bufferingOldest(256))
    self.commands = commands
    let call = AnsweredCall(media: media, tell: tell)
    Task {
      for await command in stream { await call.perform(command) }
      await call.end()
    }
  }

  func handle(_ command: MediaCommand) {
    self.commands.yield(command)
    if case .stop = command { self.commands.finish() }
  }
}

/// The session and the service of one call; used by one task.
private actor AnsweredCall {
  private let media: AnsweringMedia
  private let tell: @Sendable (MediaEvent) -> Void
  /// Made when the call is answered: one that is refused costs an engine nothing.
  private var opened: MediaSession?
  private var running: Task<Void, Never>?

  init(media: AnsweringMedia, tell: @escaping @Sendable (MediaEvent) -> Void) {
    self.media = media
    self.tell = tell
  }

  private var session: MediaSession {
    if let session = self.opened { return session }
    var configuration = MediaSession.Configuration()
    configuration.iceServers = self.media.iceServers
    configuration.statisticsInterval = nil
    let (logger, tell) = (self.media.logger, self.tell)
    let session = self.media.engine.makeSession(configuration) { event in
      switch event {
      case .failed(let failure):
        logger.info(
          "call media failed", metadata: ["code": "\(failure.code)", "reason": "\(failure.message)"])
        tell(.failed)
      case .warned(let failure):
        logger.warning("call media", metadata: ["code": "\(failure.code)", "reason": "\(failure.message)"])
      case .connected: tell(.connected)
      case .keyPressed, .interrupted, .remoteClosed, .candidateFound, .qualityChanged, .measured: break
      }
    }
    self.opened = session
    return session
  }

  func perform(_ command: MediaCommand) async {
    do throws(VoiceFailure) {
      switch command {
      // One more call would take audio from those that are there.
      case .start where self.media.engine.isOverloaded:
        self.media.logger.warning(
          "call refused", metadata: ["code": "\(VoiceFailure.Code.callMediaOverloaded)"])
        self.tell(.ended(.switchCongestion))
      case .start(let service, let offer):
        self.tell(.rang)
        let answer = SDP(try await self.session.receivedOffer(offer.text))
        if service == .echo {
          self.tell(.early(answer))
          self.tell(.answered(nil))
        } else {
          self.tell(.answered(answer))
        }
        self.run(self.media.service(service))
      case .renegotiate(let offer, let question):
        self.tell(.renegotiated(SDP(try await self.session.receivedOffer(offer.text)), question: question))
      case .makeOffer: self.tell(.offered(SDP(try await self.session.makeOffer(restartingICE: true))))
      case .takeAnswer(let answer): try await self.session.receivedAnswer(answer.text)
      case .hold(let isHeld): self.opened?.setHeld(isHeld)
      case .candidate(let message): self.opened?.addRemoteCandidate(message.candidate)
      case .endOfCandidates: self.opened?.addRemoteCandidate(nil)
      case .tones, .stop: break
      }
    } catch {
      self.media.logger.info(
        "call media refused", metadata: ["code": "\(error.code)", "reason": "\(error.message)"])
      self.tell(command.eventAfterFailure)
    }
  }

  private func run(_ service: any AnsweringService) {
    guard self.running == nil else { return }
    let (audio, tell) = (self.session.audio, self.tell)
    self.running = Task {
      let cause = await service.run(audio)
      if !Task.isCancelled { tell(.ended(cause)) }
    }
  }

  func end() async {
    self.running?.cancel()
    await self.opened?.close()
  }
}

extension MediaCommand {
  /// What it means for the call that media could not do this.
  fileprivate var eventAfterFailure: MediaEvent {
    switch self {
    // The session is as it was before; if its way is lost, it says so by itself.
    case .renegotiate(_, let question): .renegotiationRefused(question: question)
    case .takeAnswer: .answerRefused
    case .makeOffer: .ended(.mediaTimeout)
    case .start, .hold, .tones, .candidate, .endOfCandidates, .stop: .failed
    }
  }
}

/// Sends back what it hears.
struct EchoService: AnsweringService {
  func run(_ audio: CallAudio) async -> HangupCause {
    for await frame in audio.frames { audio.sendLive(frame.samples) }
    return .normalClearing
  }
}

/// Says nothing, until the caller hangs up.
struct SilenceService: AnsweringService {
  func run(_ audio: CallAudio) async -> HangupCause {
    for await _ in audio.frames {}
    return .normalClearing
  }
}
