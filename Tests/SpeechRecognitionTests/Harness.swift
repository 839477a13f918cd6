import Foundation
import SpeechPipeline
import Synchronization
import VoiceAudio
import VoiceCore
import VoicePlatform
import VoiceTesting

@testable import SpeechRecognition

typealias Configuration = SpeechRecognitionUtility.Configuration
typealias State = SpeechRecognitionOperationState

extension Configuration {
  /// Settings that need nobody and nothing of the machine.
  static func test(
    _ engine: any RecognitionEngine, _ source: any AudioSource,
    authorization: SpeechAuthorization = .authorized
  ) -> Configuration {
    var configuration = Configuration()
    configuration.engine = .engine(engine)
    configuration.source = source
    configuration.authorizer = FixedSpeechAuthorizer(authorization)
    configuration.availability = ManualAvailabilityMonitor()
    configuration.callbackQueue = DispatchQueue(label: "test callbacks")
    return configuration
  }
}

/// Reads the events of a utility, in order.
struct Listener {
  private var iterator: EventBroadcaster<SpeechRecognitionEvent>.Subscription.Iterator
  private(set) var all: [SpeechRecognitionEvent] = []

  init(_ utility: SpeechRecognitionUtility) {
    self.iterator = utility.events.makeAsyncIterator()
  }

  /// The events up to the first that matches, which is the last of them; fewer if the utility is gone.
  @discardableResult
  mutating func read(
    until isLast: (SpeechRecognitionEvent) -> Bool
  ) async -> [SpeechRecognitionEvent] {
    var events: [SpeechRecognitionEvent] = []
    while let event = await self.iterator.next() {
      events.append(event)
      self.all.append(event)
      if isLast(event) { break }
    }
    return events
  }

  @discardableResult
  mutating func readToStop() async -> [SpeechRecognitionEvent] {
    await self.read {
      if case .state(.speechRecognitionStopped, _) = $0 { true } else { false }
    }
  }

  @discardableResult
  mutating func read(to state: State) async -> [SpeechRecognitionEvent] {
    await self.read { $0.state == state }
  }
}

extension SpeechRecognitionEvent {
  var state: State? { if case .state(let state, _) = self { state } else { nil } }
  var result: SpeechRecognitionResult? { if case .result(let result) = self { result } else { nil } }
  var failure: VoiceFailure? { if case .failed(let failure) = self { failure } else { nil } }
  var finalText: String? {
    if case .state(.speechRecognised(let text), finalOutput: true) = self { text } else { nil }
  }
}

extension [SpeechRecognitionEvent] {
  var states: [State] { self.compactMap(\.state) }
  var results: [SpeechRecognitionResult] { self.compactMap(\.result) }
  var finalResults: [SpeechRecognitionResult] { self.results.filter(\.isFinal) }
  var failures: [VoiceFailure] { self.compactMap(\.failure) }
  var finalTexts: [String] { self.compactMap(\.finalText) }
}

/// Collects values from any number of threads.
final class Recorder<Value: Sendable>: Sendable {
  private let storage = Mutex<[Value]>([])
  var values: [Value] { self.storage.withLock { $0 } }
  func append(_ value: Value) { self.storage.withLock { $0.append(value) } }
}

/// Silence of a length.
func silence(_ duration: Duration) -> [Int16] {
  [Int16](repeating: 0, count: Int(AudioChunk.sample(at: duration, sampleRate: 16_000)))
}

/// An authoriser that answers when a test says so.
final class ManualAuthorizer: SpeechAuthorizer {
  private struct Asked {
    var answer: SpeechAuthorization?
    var waiters: [CheckedContinuation<SpeechAuthorization, Never>] = []
  }

  private let asked = Mutex(Asked())

  func answer(_ authorization: SpeechAuthorization) {
    let waiters = self.asked.withLock { asked in
      asked.answer = authorization
      defer { asked.waiters = [] }
      return asked.waiters
    }
    for waiter in waiters { waiter.resume(returning: authorization) }
  }

  func state() async -> SpeechAuthorization { self.asked.withLock { $0.answer } ?? .notDetermined }

  func request() async -> SpeechAuthorization {
    await withCheckedContinuation { continuation in
      let answer = self.asked.withLock { asked in
        if asked.answer == nil { asked.waiters.append(continuation) }
        return asked.answer
      }
      if let answer { continuation.resume(returning: answer) }
    }
  }
}
