import Foundation
import SpeechProtocol
import VoiceCore

/// Decides everything that a speech client does; owns no task, socket, clock or microphone.
///
/// Four things run side by side:
/// - **contexts**, a queue of utterances: *recording* -> *draining* (asked to stop, the last audio is coming) -> *ended* -> gone
///   when the server has finished with it. The first one is on the wire, the last one gets the audio.
/// - **capture**: *idle* -> *starting* -> *running* -> *stopping* -> *idle*.
/// - **connection**: *idle* -> *authenticating* -> *streaming* -> *idle*, and *waiting* between tries; *engine* while an utterance
///   is recognised in this process because there is no server, or because its server was lost.
/// - **leg**: one server context. A context has one leg after the other: a new one after a lost stream, which replays from
///   the end of the last finished segment, and one after a split of a long utterance.
///
/// Invalid input is of two kinds. Something late (a timer, an answer of a stream that was given up) is dropped. What breaks the
/// protocol is reported as a failure and dropped; what is known stays.
struct SessionMachine: Sendable {
  /// What the machine needs to know beforehand.
  struct Configuration: Sendable {
    var sampleRate = 16_000
    var language = ""
    var appId = ""
    var options: [String: [String]] = [:]
    var window: Duration = .seconds(300)
    var postRoll: Duration = .milliseconds(500)
    var idleTimeout: Duration = .seconds(30)
    var replyTimeout: Duration = .seconds(15)
    var captureDrainTimeout: Duration = .seconds(2)
    /// How long a server that ends a context by itself may take to say why.
    var reasonTimeout: Duration = .seconds(1)
    /// A source that can wait (a file) waits when this much is not sent yet.
    var holdAbove: Duration = .seconds(5)
    var legLimit: Duration = .seconds(290)
    var retry = RetryPolicy()
    /// Whether there is a server to use, and an engine in this process.
    var hasServer = true
    var hasEngine = false
    /// How long a server may leave an utterance unacknowledged before the engine takes it.
    var serverPatience: Duration = .seconds(2)
    /// Requests handed to the transport and not accepted yet.
    var maximumInFlight = 4
    /// The largest request; the server's limit is 1 MB.
    var maximumRequestSamples = 32_000

    func samples(_ duration: Duration) -> Int64 {
      let (seconds, attoseconds) = duration.components
      return seconds * Int64(self.sampleRate) + attoseconds / 1_000_000_000 * Int64(self.sampleRate)
        / 1_000_000_000
    }

    func duration(ofSamples samples: Int64) -> Duration {
      .nanoseconds(samples * 1_000_000_000 / Int64(max(1, self.sampleRate)))
    }
  }

  /// What happened.
  enum Input: Sendable {
    case startRequested(appId: String?, options: [String: [String]])
    case stopRequested
    case suspendRequested
    case resumeRequested
    /// Ends the client: what is open is finished first, or given up if `isAbrupt`.
    case closeRequested(isAbrupt: Bool)
    case captureStarted
    /// Little-endian 16-bit samples; `position` counts samples since the capture began.
    case audioCaptured(position: Int64, Data)
    case noticed(VoiceFailure)
    case captureEnded
    case captureFailed(VoiceFailure)
    case tokenObtained(ApiAccessToken)
    case tokenFailed(VoiceFailure, pushBack: Duration?)
    case requestAccepted(stream: Int)
    case responseReceived(stream: Int, Speechly_Slu_V1_SLUResponse)
    case streamEnded(stream: Int, SpeechStreamEnd)
    case timerFired(Timer)
    case pathChanged
  }

  /// What is to be done.
  enum Action: Sendable {
    case startCapture
    /// Stop recording; what was recorded is still wanted.
    case stopCapture
    /// Forget the capture.
    case abandonCapture
    /// Let a source that can wait wait, or go on.
    case holdCapture(Bool)
    case obtainToken(refresh: Bool)
    case openStream(Int, ApiAccessToken)
    /// Open a stream to the engine of this process.
    case openEngine(Int)
    case send(stream: Int, Speechly_Slu_V1_SLURequest)
    /// Half-close; the rest of the answers does not matter.
    case closeStream(Int)
    case cancelStream(Int)
    case setTimer(Timer, VoiceInstant)
    case cancelTimer(Timer)
    case emit(SpeechEvent)
    /// Nothing more will happen.
    case terminate
  }

  /// The timers; each runs at most once at a time.
  enum Timer: Hashable, Sendable, CaseIterable {
    case retry
    case idle
    case progress
    /// The server has had its time to acknowledge the first context.
    case patience
    case postRoll
    case captureDrain
    /// The server has had its time to say why it ended a context by itself.
    case reason
  }

  enum Capture: Hashable, Sendable {
    case idle
    case starting
    case running
    case stopping(thenStart: Bool)
  }

  enum Connection: Sendable {
    case idle
    case authenticating
    case streaming(Stream)
    case waiting(until: VoiceInstant)
    case engine(Stream)

    /// The stream to whoever recognises.
    var stream: Stream? {
      get {
        switch self {
        case .streaming(let stream), .engine(let stream): stream
        case .idle, .authenticating, .waiting: nil
        }
      }
      set {
        guard let newValue else { return }
        switch self {
        case .streaming: self = .streaming(newValue)
        case .engine: self = .engine(newValue)
        case .idle, .authenticating, .waiting: break
        }
      }
    }

    var isEngine: Bool { if case .engine = self { true } else { false } }
  }

  struct Stream: Sendable {
    var id: Int
    var inFlight = 0
    var lastProgress: VoiceInstant
  }

  var configuration: Configuration
  var random: any RandomNumberGenerator & Sendable
  var contexts: [Context] = []
  var capture = Capture.idle
  var expectedCapturePosition: Int64 = 0
  var connection = Connection.idle
  var schedule: RetrySchedule
  /// The last wait for a lost server, until it has acknowledged a context again.
  var reconnecting: RetryState?
  var lastStreamID = 0
  var hasRefreshedToken = false
  var isPatienceRunning = false
  var isCaptureHeld = false
  var isSuspended = false
  var isClosing = false
  var isClosed = false
  private var reportedState = SpeechClient.State.stopped

  init(configuration: Configuration, random: any RandomNumberGenerator & Sendable) {
    self.configuration = configuration
    self.random = random
    self.schedule = RetrySchedule(policy: configuration.retry)
  }

  /// The one function from the machine's parts to what the app sees.
  var state: SpeechClient.State {
    guard let current = self.contexts.last else { return self.isSuspended ? .suspended : .stopped }
    if let retry = self.reconnecting { return .reconnecting(retry) }
    switch current.audio {
    case .recording:
      return current.isAcknowledged ? .started(contextId: current.contextId) : .starting
    case .draining, .ended:
      return .stopping
    }
  }

  /// Takes one event and says what to do, in order.
  mutating func handle(_ input: Input, at now: VoiceInstant) -> [Action] {
    guard !self.isClosed else { return [] }
    var actions: [Action] = []
    switch input {
    case .startRequested(let appId, let options):
      self.start(appId: appId, options: options, at: now, &actions)
    case .stopRequested:
      self.stop(at: now, &actions)
    case .suspendRequested:
      self.suspend(at: now, &actions)
    case .resumeRequested:
      self.isSuspended = self.isClosing
    case .closeRequested(let isAbrupt):
      self.close(isAbrupt: isAbrupt, at: now, &actions)
    case .captureStarted:
      if self.capture == .starting { self.capture = .running }
      actions.append(.emit(.recordingStarted))
    case .audioCaptured(let position, let bytes):
      self.audioCaptured(position: position, bytes, at: now, &actions)
    case .noticed(let failure):
      actions.append(.emit(.failed(failure)))
    case .captureEnded:
      self.captureEnded(at: now, &actions)
    case .captureFailed(let failure):
      actions.append(.emit(.failed(failure)))
      self.captureEnded(at: now, &actions)
    case .tokenObtained(let token):
      self.tokenObtained(token, at: now, &actions)
    case .tokenFailed(let failure, let pushBack):
      if case .authenticating = self.connection {
        self.connectionLost(failure, pushBack: pushBack, at: now, &actions)
      }
    case .requestAccepted(let id):
      self.requestAccepted(stream: id, at: now, &actions)
    case .responseReceived(let id, let response):
      self.responseReceived(stream: id, response, at: now, &actions)
    case .streamEnded(let id, let end):
      self.streamEnded(stream: id, end, at: now, &actions)
    case .timerFired(let timer):
      self.timerFired(timer, at: now, &actions)
    case .pathChanged:
      self.pathChanged(at: now, &actions)
    }
    self.settle(at: now, &actions)
    return actions
  }

  /// Does what follows from any event: connects if needed, sends what can be sent, closes what is not needed, reports the state.
  private mutating func settle(at now: VoiceInstant, _ actions: inout [Action]) {
    guard !self.isClosed else { return }
    self.pump(at: now, &actions)
    self.connectIfNeeded(at: now, &actions)
    self.closeIfDone(at: now, &actions)
    self.holdCaptureIfAhead(&actions)
    let state = self.state
    if state != self.reportedState {
      self.reportedState = state
      actions.append(.emit(.stateChanged(state)))
    }
    if self.isClosing, self.contexts.isEmpty, self.capture == .idle {
      self.isClosed = true
      actions.append(contentsOf: Timer.allCases.map { .cancelTimer($0) })
      actions.append(.terminate)
    }
  }

  private mutating func timerFired(_ timer: Timer, at now: VoiceInstant, _ actions: inout [Action]) {
    switch timer {
    case .retry:
      if case .waiting(let until) = self.connection {
        if now >= until {
          self.authenticate(refresh: false, &actions)
        } else {
          actions.append(.setTimer(.retry, until))
        }
      }
    case .idle:
      if self.contexts.isEmpty { self.closeStream(&actions) }
    case .progress:
      self.checkProgress(at: now, &actions)
    case .patience:
      self.patienceElapsed(at: now, &actions)
    case .reason:
      self.reasonMissing(at: now, &actions)
    case .postRoll:
      if self.contexts.last?.audio == .draining { self.stopCapture(at: now, &actions) }
    case .captureDrain:
      if case .stopping = self.capture {
        actions.append(.abandonCapture)
        actions.append(
          .emit(.failed(VoiceFailure(.inputDeviceFailed, message: "The input device did not stop in time."))))
        self.captureEnded(at: now, &actions)
      }
    }
  }
}
