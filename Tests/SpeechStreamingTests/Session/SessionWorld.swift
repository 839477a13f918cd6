import Foundation
import SpeechProtocol
import SwiftProtobuf
import VoiceCore

@testable import SpeechStreaming

/// A machine with the world around it, played by a test: time, device, login and server.
struct SessionWorld {
  var machine: SessionMachine
  var now = VoiceInstant()
  private(set) var actions: [SessionMachine.Action] = []
  private(set) var events: [SpeechEvent] = []
  private(set) var timers: [SessionMachine.Timer: VoiceInstant] = [:]
  private(set) var sent: [Speechly_Slu_V1_SLURequest] = []
  private(set) var isTerminated = false
  private(set) var stream: Int?
  private(set) var engineStreams: [Int] = []
  private(set) var tokenRequests: [Bool] = []
  private(set) var isCapturing = false
  private(set) var capturesStarted = 0
  private(set) var stopsRequested = 0
  private(set) var isHeld = false
  private var capturePosition: Int64 = 0

  init(
    configuration: SessionMachine.Configuration = .forTests,
    random: any RandomNumberGenerator & Sendable = LargestJitter()
  ) {
    self.machine = SessionMachine(configuration: configuration, random: random)
  }

  /// Feeds one input and keeps what the machine decides.
  @discardableResult
  mutating func feed(_ input: SessionMachine.Input) -> [SessionMachine.Action] {
    let result = self.machine.handle(input, at: self.now)
    for action in result {
      self.actions.append(action)
      switch action {
      case .emit(let event): self.events.append(event)
      case .setTimer(let timer, let deadline): self.timers[timer] = deadline
      case .cancelTimer(let timer): self.timers[timer] = nil
      case .openStream(let id, _):
        self.stream = id
        self.sent = []
      case .openEngine(let id):
        self.stream = id
        self.engineStreams.append(id)
        self.sent = []
      case .send(let id, let request): if id == self.stream { self.sent.append(request) }
      case .closeStream(let id), .cancelStream(let id): if id == self.stream { self.stream = nil }
      case .obtainToken(let refresh): self.tokenRequests.append(refresh)
      case .startCapture:
        self.isCapturing = true
        self.capturesStarted += 1
        self.capturePosition = 0
      case .stopCapture: self.stopsRequested += 1
      case .abandonCapture: self.isCapturing = false
      case .holdCapture(let isHeld): self.isHeld = isHeld
      case .terminate: self.isTerminated = true
      }
    }
    return result
  }

  // MARK: Device

  mutating func start(options: [String: [String]] = [:]) {
    self.feed(.startRequested(appId: nil, options: options))
  }

  mutating func captureStarted() { self.feed(.captureStarted) }

  /// A tenth of a second of audio unless told otherwise; every sample has the given value.
  mutating func audio(_ value: Int16 = 1, samples: Int = 1600) {
    let pair = withUnsafeBytes(of: value.littleEndian) { Array($0) }
    var bytes = Data(capacity: samples * 2)
    for _ in 0..<samples { bytes.append(contentsOf: pair) }
    let position = self.capturePosition
    self.capturePosition += Int64(samples)
    self.feed(.audioCaptured(position: position, bytes))
  }

  mutating func skipAudio(samples: Int) { self.capturePosition += Int64(samples) }

  mutating func captureEnded() {
    self.isCapturing = false
    self.feed(.captureEnded)
  }

  /// Stops, and lets the device deliver its end after the post-roll.
  mutating func stopAndDrain() {
    self.feed(.stopRequested)
    self.fire(.postRoll)
    self.captureEnded()
  }

  // MARK: Time

  /// Advances to a timer's deadline and lets it fire; nothing happens if it is not set.
  mutating func fire(_ timer: SessionMachine.Timer) {
    guard let deadline = self.timers.removeValue(forKey: timer) else { return }
    self.now = max(self.now, deadline)
    self.feed(.timerFired(timer))
  }

  mutating func pass(_ duration: Duration) { self.now = self.now.advanced(by: duration) }

  // MARK: Login and server

  mutating func token() { self.feed(.tokenObtained(.forTests)) }

  /// Lets the transport accept everything that was sent, and what is sent thereupon.
  mutating func acceptAll() {
    var rounds = 0
    while let stream = self.stream, let state = self.machine.connection.stream, state.inFlight > 0,
      rounds < 10_000
    {
      rounds += 1
      self.feed(.requestAccepted(stream: stream))
    }
  }

  mutating func respond(
    _ context: String = "ctx", segment: Int = 0, _ fill: (inout Speechly_Slu_V1_SLUResponse) -> Void
  ) {
    guard let stream = self.stream else { return }
    self.feed(
      .responseReceived(
        stream: stream,
        .with {
          $0.audioContext = context
          $0.segmentID = Int32(segment)
          fill(&$0)
        }))
  }

  mutating func started(_ context: String = "ctx") { self.respond(context) { $0.started = .init() } }
  mutating func finished(_ context: String = "ctx") { self.respond(context) { $0.finished = .init() } }

  mutating func word(_ text: String, _ index: Int, segment: Int = 0, end: Int = 0, _ context: String = "ctx")
  {
    self.respond(context, segment: segment) {
      $0.transcript = .with {
        $0.word = text
        $0.index = Int32(index)
        $0.startTime = Int32(max(0, end - 100))
        $0.endTime = Int32(end)
      }
    }
  }

  mutating func tentative(_ words: [String], segment: Int = 0, from index: Int = 0, _ context: String = "ctx")
  {
    self.respond(context, segment: segment) {
      $0.tentativeTranscript.tentativeTranscript = words.joined(separator: " ")
      $0.tentativeTranscript.tentativeWords = words.enumerated().map { offset, word in
        .with {
          $0.word = word
          $0.index = Int32(index + offset)
        }
      }
    }
  }

  mutating func segmentEnd(
    segment: Int = 0, nextSample: Int64 = 0, token: String = "", repeated: Int32 = 0, intent: String = "",
    _ context: String = "ctx"
  ) {
    self.respond(context, segment: segment) { $0.intent.intent = intent }
    self.respond(context, segment: segment) {
      $0.segmentEnd = .with {
        $0.nextSample = nextSample
        $0.resumeToken = Data(token.utf8)
        $0.repeatedSegments = repeated
      }
    }
  }

  mutating func cut(_ failure: VoiceFailure? = VoiceFailure(.connectionLost), pushBack: Duration? = nil) {
    guard let stream = self.stream else { return }
    self.stream = nil
    self.feed(.streamEnded(stream: stream, SpeechStreamEnd(failure: failure, pushBack: pushBack)))
  }

  /// Starts a context that the server has acknowledged.
  mutating func connect(_ context: String = "ctx") {
    self.start()
    self.captureStarted()
    self.token()
    self.acceptAll()
    self.started(context)
  }

  /// Lets the client connect again after a cut, up to the requests of the new stream.
  mutating func reconnect() {
    self.fire(.retry)
    self.token()
    self.acceptAll()
  }

  // MARK: Looking

  var failures: [VoiceFailure] {
    self.events.compactMap { if case .failed(let failure) = $0 { failure } else { nil } }
  }
  var codes: [VoiceFailure.Code] { self.failures.map(\.code) }
  var finishedContexts: [SpeechContext?] {
    self.events.compactMap { if case .finished(let context) = $0 { .some(context) } else { nil } }
  }
  var startedContexts: [String] {
    self.events.compactMap { if case .started(let id) = $0 { id } else { nil } }
  }
  var segments: [SpeechSegment] {
    self.events.compactMap { if case .segmentUpdated(let s) = $0 { s } else { nil } }
  }
  var recoveries: [SpeechRecovery] {
    self.events.compactMap { if case .recovered(let r) = $0 { r } else { nil } }
  }

  var degradations: [SpeechDegradation] {
    self.events.compactMap { if case .degraded(let d) = $0 { d } else { nil } }
  }

  /// The kinds of the requests of the current stream.
  var kinds: [String] {
    self.sent.map { request in
      switch request.streamingRequest {
      case .config: "config"
      case .start: "start"
      case .audio: "audio"
      case .stop: "stop"
      case .rttResponse: "rtt"
      case .event: "event"
      case nil: "nothing"
      }
    }
  }

  /// The samples sent on the current stream, as runs: `1x1600` are 1,600 samples of value 1.
  var sentAudio: String {
    var runs: [(value: Int16, count: Int)] = []
    for request in self.sent {
      guard case .audio(let data) = request.streamingRequest else { continue }
      let bytes = [UInt8](data)
      for index in stride(from: 0, to: bytes.count - 1, by: 2) {
        let value = Int16(bitPattern: UInt16(bytes[index]) | UInt16(bytes[index + 1]) << 8)
        if runs.last?.value == value {
          runs[runs.count - 1].count += 1
        } else {
          runs.append((value, 1))
        }
      }
    }
    return runs.map { "\($0.value)x\($0.count)" }.joined(separator: " ")
  }

  var lastStartOptions: [String: [String]] {
    for request in self.sent.reversed() {
      if case .start(let start) = request.streamingRequest {
        return Dictionary(start.options.map { ($0.key, $0.value) }, uniquingKeysWith: { $1 })
      }
    }
    return [:]
  }
}

extension SessionMachine.Configuration {
  static var forTests: SessionMachine.Configuration {
    var configuration = SessionMachine.Configuration()
    configuration.appId = "app"
    return configuration
  }
}

/// Jitter at its largest, so that waits in tests are the bounds themselves.
struct LargestJitter: RandomNumberGenerator, Sendable {
  mutating func next() -> UInt64 { .max }
}

extension ApiAccessToken {
  static let forTests = ApiAccessToken(
    appId: UUID(uuid: (1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1)),
    deviceId: UUID(uuid: (2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2)),
    expiresAt: Date(timeIntervalSince1970: 4_000_000_000), scopes: [.SLU],
    tokenString: "header.payload.signature")
}

extension SpeechClient.State {
  var isReconnecting: Bool { if case .reconnecting = self { true } else { false } }
}
