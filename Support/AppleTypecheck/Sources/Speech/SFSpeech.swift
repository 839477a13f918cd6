public import AVFoundation
public import Foundation
import Synchronization

public enum SFSpeechRecognizerAuthorizationStatus: Int, Sendable {
  case notDetermined, denied, restricted, authorized
}

public enum SFSpeechRecognitionTaskHint: Int, Sendable {
  case unspecified, dictation, search, confirmation
}

public class SFTranscriptionSegment: NSObject {
  public let substring: String
  public let timestamp: TimeInterval
  public let duration: TimeInterval
  public let confidence: Float

  package init(_ substring: String, timestamp: TimeInterval, duration: TimeInterval, confidence: Float) {
    self.substring = substring
    self.timestamp = timestamp
    self.duration = duration
    self.confidence = confidence
  }
}

public class SFTranscription: NSObject {
  public let segments: [SFTranscriptionSegment]

  package init(_ segments: [SFTranscriptionSegment]) {
    self.segments = segments
  }
}

public class SFSpeechRecognitionResult: NSObject {
  public let transcriptions: [SFTranscription]
  public let isFinal: Bool

  package init(_ transcriptions: [SFTranscription], isFinal: Bool) {
    self.transcriptions = transcriptions
    self.isFinal = isFinal
  }
}

public class SFSpeechRecognitionRequest: NSObject {
  public var taskHint = SFSpeechRecognitionTaskHint.unspecified
  public var shouldReportPartialResults = true
  public var contextualStrings: [String] = []
  public var requiresOnDeviceRecognition = false
  public var addsPunctuation = false
}

public class SFSpeechAudioBufferRecognitionRequest: SFSpeechRecognitionRequest {
  package private(set) var frameCount = 0
  package private(set) var hasEnded = false

  public override init() {}

  public func append(_ audioPCMBuffer: AVAudioPCMBuffer) {
    self.frameCount += Int(audioPCMBuffer.frameLength)
  }

  public func endAudio() {
    self.hasEnded = true
    StubSpeech.shared.ended()
  }
}

public class SFSpeechRecognitionTask: NSObject {
  package private(set) var isCancelled = false

  public func cancel() { self.isCancelled = true }
}

public protocol SFSpeechRecognizerDelegate: NSObjectProtocol {
  func speechRecognizer(_ speechRecognizer: SFSpeechRecognizer, availabilityDidChange available: Bool)
}

public class SFSpeechRecognizer: NSObject {
  public var queue = OperationQueue.main
  public weak var delegate: (any SFSpeechRecognizerDelegate)?
  private let language: String

  public init?(locale: Locale) {
    guard !locale.identifier.hasPrefix("xx") else { return nil }
    self.language = locale.identifier
    super.init()
    StubSpeech.shared.made(self)
  }

  public var supportsOnDeviceRecognition: Bool { self.language.hasPrefix("en") }
  public var isAvailable: Bool { StubSpeech.shared.isAvailable }

  public func recognitionTask(
    with request: SFSpeechRecognitionRequest,
    resultHandler: @escaping @Sendable (SFSpeechRecognitionResult?, (any Error)?) -> Void
  ) -> SFSpeechRecognitionTask {
    let task = SFSpeechRecognitionTask()
    StubSpeech.shared.began(StubSpeech.Running(task: task, request: request, handler: resultHandler))
    return task
  }

  public class func authorizationStatus() -> SFSpeechRecognizerAuthorizationStatus {
    StubSpeech.shared.status
  }

  public class func requestAuthorization(
    _ handler: @escaping @Sendable (SFSpeechRecognizerAuthorizationStatus) -> Void
  ) {
    let status = StubSpeech.shared.answer()
    DispatchQueue.global().async { handler(status) }
  }
}

/// What tests make the declared recogniser do, and see of it. One test at a time.
// @unchecked: everything is behind the lock.
package final class StubSpeech: @unchecked Sendable {
  package struct Running {
    package let task: SFSpeechRecognitionTask
    package let request: SFSpeechRecognitionRequest
    package let handler: @Sendable (SFSpeechRecognitionResult?, (any Error)?) -> Void
  }

  package static let shared = StubSpeech()

  private let lock = NSRecursiveLock()
  private var theStatus = SFSpeechRecognizerAuthorizationStatus.authorized
  private var theAnswer = SFSpeechRecognizerAuthorizationStatus.authorized
  private var available = true
  private var tasks: [Running] = []
  private var recognizers: [SFSpeechRecognizer] = []
  private var whenEnded: (@Sendable () -> Void)?

  private func locked<Value>(_ body: () -> Value) -> Value {
    self.lock.lock()
    defer { self.lock.unlock() }
    return body()
  }

  package func reset(
    status: SFSpeechRecognizerAuthorizationStatus = .authorized,
    answer: SFSpeechRecognizerAuthorizationStatus = .authorized, isAvailable: Bool = true
  ) {
    self.locked {
      (self.theStatus, self.theAnswer, self.available) = (status, answer, isAvailable)
      (self.tasks, self.recognizers, self.whenEnded) = ([], [], nil)
    }
  }

  package var running: [Running] { self.locked { self.tasks } }

  package var newestRecognizer: SFSpeechRecognizer? { self.locked { self.recognizers.last } }

  /// Is called when a request gets no more audio.
  package func onEnd(_ body: @escaping @Sendable () -> Void) { self.locked { self.whenEnded = body } }

  var status: SFSpeechRecognizerAuthorizationStatus { self.locked { self.theStatus } }
  var isAvailable: Bool { self.locked { self.available } }

  func answer() -> SFSpeechRecognizerAuthorizationStatus {
    self.locked {
      if self.theStatus == .notDetermined { self.theStatus = self.theAnswer }
      return self.theStatus
    }
  }

  func made(_ recognizer: SFSpeechRecognizer) { self.locked { self.recognizers.append(recognizer) } }

  func began(_ running: Running) { self.locked { self.tasks.append(running) } }

  func ended() { self.locked { self.whenEnded }?() }
}
