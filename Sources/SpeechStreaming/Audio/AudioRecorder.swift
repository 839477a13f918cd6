public import Dispatch
import Foundation
import Synchronization
import VoiceAudio
import VoiceCore
import VoicePlatform

/// The sample formats that the documented recorder can be asked for.
///
/// The names are those of Apple's `AVAudioCommonFormat`, so that code which names a case compiles everywhere.
public enum AudioCommonFormat: Hashable, Sendable {
  case otherFormat
  case pcmFormatFloat32
  case pcmFormatFloat64
  case pcmFormatInt16
  case pcmFormatInt32
}

/// Records from the microphone, with the documented interface. (Source: protocol §1.6.)
///
/// The delegate gets signed 16-bit little-endian samples, 16 kHz mono, about ten times a second on `delegateQueue`.
public final class AudioRecorder: AudioRecorderProtocol {
  /// What can be wrong with the wanted format.
  public enum AudioRecorderError: Error, Hashable, Sendable {
    /// The recorder cannot deliver this format.
    case outputFormatError
  }

  /// Hears more of one recording than the documented delegate can: that a notice is no failure, and where audio is missing.
  typealias Listener = @Sendable (CaptureEvent) -> Void

  private struct State {
    weak var delegate: (any AudioRecorderDelegate)?
    /// The recording that is running, or was ordered and will begin.
    var run: (run: any CaptureRun, task: Task<Void, Never>)?
    /// Whether the running recording was asked to stop.
    var isStopping = false
    /// Whether another recording was asked for meanwhile.
    var startsAgain = false
    /// Who hears of the recording that is running, and of the next one, beside the delegate.
    var listener: Listener?
    var nextListener: Listener?
    var isSuspended = false
  }

  public let sampleRate: Double
  public let channels: UInt32
  private let source: any AudioSource
  private let capture: SourceCapture
  private let audioQueue: DispatchQueue
  private let delegateQueue: DispatchQueue
  private let state = Mutex(State())

  /// Creates a recorder on the default microphone.
  ///
  /// - Parameters:
  ///   - sampleRate: 16,000; recognisers take nothing else.
  ///   - channels: 1.
  ///   - format: Signed 16-bit.
  ///   - audioQueue: Where recordings are started and stopped.
  ///   - delegateQueue: The serial queue on which the delegate is called.
  ///   - prepareOnInit: Ignored: the microphone is opened by ``start()``, which keeps the privacy light off until then.
  /// - Throws: ``AudioRecorderError/outputFormatError`` for another format.
  public convenience init(
    sampleRate: Double,
    channels: UInt32,
    format: AudioCommonFormat = .pcmFormatInt16,
    audioQueue: DispatchQueue = DispatchQueue(label: "com.speechly.iosclient.AudioRecorder.audioQueue"),
    delegateQueue: DispatchQueue = DispatchQueue(label: "com.speechly.iosclient.AudioRecorder.delegateQueue"),
    prepareOnInit: Bool = true
  ) throws {
    guard sampleRate == Double(AudioFormat.recognition.sampleRate), channels == 1, format == .pcmFormatInt16
    else {
      throw AudioRecorderError.outputFormatError
    }
    self.init(source: Microphone(), audioQueue: audioQueue, delegateQueue: delegateQueue)
  }

  init(source: any AudioSource, audioQueue: DispatchQueue, delegateQueue: DispatchQueue) {
    self.sampleRate = Double(AudioFormat.recognition.sampleRate)
    self.channels = 1
    self.source = source
    self.capture = SourceCapture(source: source)
    self.audioQueue = audioQueue
    self.delegateQueue = delegateQueue
  }

  deinit {
    self.state.withLock { $0.run?.task }?.cancel()
  }

  public var delegate: (any AudioRecorderDelegate)? {
    get { self.state.withLock { $0.delegate } }
    set { self.state.withLock { $0.delegate = newValue } }
  }

  func check() async throws(VoiceFailure) {
    try await self.source.check()
  }

  /// Starts recording; a device that cannot be opened is reported to the delegate.
  ///
  /// Starting while the recorder still stops records again once it has stopped.
  ///
  /// - Throws: ``VoiceFailure`` `client.usage` while suspended. Starting twice does nothing.
  public func start() throws {
    try self.start(listener: nil)
  }

  func start(listener: Listener?) throws {
    let canStart = self.state.withLock { state in
      guard !state.isSuspended else { return false }
      if state.run == nil {
        self.begin(listener, &state)
      } else if state.isStopping {
        state.startsAgain = true
        state.nextListener = listener ?? state.nextListener
      } else {
        state.listener = listener ?? state.listener
      }
      return true
    }
    if !canStart {
      throw VoiceFailure(.usage, message: "The recorder is suspended: call resume() before start().")
    }
  }

  /// Stops recording, also if the device is not open yet; `audioRecorderDidStop` follows once everything has been delivered.
  public func stop() {
    let (run, waiting) = self.state.withLock { state in
      defer {
        state.isStopping = true
        state.startsAgain = false
        state.nextListener = nil
      }
      return (state.run?.run, state.nextListener)
    }
    run?.stop()
    if let waiting { self.delegateQueue.async { waiting(.ended) } }
  }

  public func suspend() throws {
    self.state.withLock { $0.isSuspended = true }
    self.stop()
  }

  public func resume() throws {
    self.state.withLock { $0.isSuspended = false }
  }

  private func begin(_ listener: Listener?, _ state: inout State) {
    let run = self.capture.order()
    state.isStopping = false
    state.startsAgain = false
    state.listener = listener
    state.nextListener = nil
    // The documented interface has no run loop; the task ends with the recording, and `stop()` and `deinit` end that.
    let task = Task { [weak self] in await run.run { [weak self] event in self?.tell(event) } }
    state.run = (run, task)
  }

  private func tell(_ event: CaptureEvent) {
    // Under the lock, so that the delegate, which may start again as soon as it hears of the end, hears of the next recording
    // after that.
    self.state.withLock { state in
      self.deliver(event, to: state.listener)
      switch event {
      case .started, .audio, .noticed:
        break
      case .ended, .failed:
        state.run = nil
        state.listener = nil
        if state.startsAgain { self.begin(state.nextListener, &state) }
      }
    }
  }

  private func deliver(_ event: CaptureEvent, to listener: Listener?) {
    self.delegateQueue.async { [weak self] in
      listener?(event)
      guard let self, let delegate = self.delegate else { return }
      switch event {
      case .started: break
      case .audio(_, let data): delegate.audioRecorderDidReceiveData(self, audioData: data)
      case .noticed(let failure): delegate.audioRecorderDidCatchError(self, error: failure)
      case .ended: delegate.audioRecorderDidStop(self)
      case .failed(let failure):
        delegate.audioRecorderDidCatchError(self, error: failure)
        delegate.audioRecorderDidStop(self)
      }
    }
  }
}
