import COnnxRuntime
import Foundation
public import VoiceAudio
public import VoiceCore

/// Tells speech from silence with the Silero model, also where other people talk.
///
/// ONNX Runtime is loaded when the first detector is made; nothing links to it. Library and model come from the
/// app or from the environment variables ``libraryVariable`` and ``modelVariable``. A detector costs about 3 ms of
/// processor time for a second of audio.
///
/// ```swift
/// let pool = RecognizerPool(engine: engine, size: 4) { () throws(VoiceFailure) in try SileroActivityDetector() }
/// ```
public final class SileroActivityDetector: VoiceActivityDetector {
  /// What counts as speech.
  public struct Settings: Hashable, Sendable {
    /// From which probability speech begins.
    public var onset: Double
    /// Below which probability a frame is silent.
    public var offset: Double
    /// How long speech goes on after the last frame that is not silent; rounded up to frames of 32 ms.
    public var hangover: Duration

    /// Creates settings.
    public init(onset: Double = 0.5, offset: Double = 0.35, hangover: Duration = .milliseconds(320)) {
      self.onset = onset
      self.offset = offset
      self.hangover = hangover
    }
  }

  /// The environment variable that names the library, such as `/opt/onnxruntime/lib/libonnxruntime.so`.
  public static let libraryVariable = "VOICE_ONNXRUNTIME"

  /// The environment variable that names the model, `silero_vad.onnx` of version 5 or later.
  public static let modelVariable = "VOICE_SILERO_MODEL"

  private let detector: OpaquePointer
  private let frameLength = Int(vort_frame_length)
  private var hysteresis: SpeechHysteresis
  private var frame: [Float] = []
  private var message = [CChar](repeating: 0, count: 256)

  /// Loads library and model; takes some 50 ms and blocks.
  ///
  /// - Parameters:
  ///   - library: The path of ONNX Runtime's shared library; by default what ``libraryVariable`` names.
  ///   - model: The path of the model; by default what ``modelVariable`` names.
  ///   - settings: What counts as speech.
  /// - Throws: ``VoiceFailure`` with code `speech.engine.library-missing`, `speech.engine.model-missing` or
  ///   `speech.engine.model-invalid`.
  public init(
    library: String? = nil, model: String? = nil, settings: Settings = Settings()
  ) throws(VoiceFailure) {
    let environment = ProcessInfo.processInfo.environment
    guard let library = library ?? environment[Self.libraryVariable] else {
      throw VoiceFailure(
        .engineLibraryMissing, message: "Name the shared library of ONNX Runtime in \(Self.libraryVariable).")
    }
    guard let model = model ?? environment[Self.modelVariable] else {
      throw VoiceFailure(
        .modelMissing, message: "Name the file of the Silero model in \(Self.modelVariable).")
    }
    guard FileManager.default.isReadableFile(atPath: library) else {
      throw VoiceFailure(
        .engineLibraryMissing,
        message: "There is no library at \(library). Give the path of ONNX Runtime's shared library, "
          + "or set \(Self.libraryVariable).")
    }
    guard FileManager.default.isReadableFile(atPath: model) else {
      throw VoiceFailure(
        .modelMissing,
        message:
          "There is no model at \(model). Give the path of silero_vad.onnx, or set \(Self.modelVariable).")
    }
    var message = [CChar](repeating: 0, count: 1024)
    var detector: OpaquePointer?
    let result = vort_create(library, model, &detector, &message, message.count)
    guard let detector else {
      let reason = Reason(text: Self.text(message))
      throw result == VORT_BAD_MODEL.rawValue
        ? VoiceFailure(.modelInvalid, message: "The Silero model \(model) cannot be used.", cause: reason)
        : VoiceFailure(
          .engineLibraryMissing, message: "The library \(library) cannot be used: \(reason.text).",
          cause: reason)
    }
    self.detector = detector
    let frames = Int((settings.hangover / Self.frameDuration).rounded(.up))
    self.hysteresis = SpeechHysteresis(
      onset: settings.onset, offset: settings.offset, hangover: max(1, frames))
    self.frame.reserveCapacity(self.frameLength)
  }

  deinit { vort_free(self.detector) }

  public var hangover: Duration { Self.frameDuration * self.hysteresis.hangover }

  public func reset() {
    vort_reset(self.detector)
    self.frame.removeAll(keepingCapacity: true)
    self.hysteresis.reset()
  }

  public func process(_ samples: UnsafeBufferPointer<Int16>) throws(VoiceFailure) -> Bool {
    for sample in samples {
      self.frame.append(Float(sample) / 32_768)
      if self.frame.count == self.frameLength { try self.hearFrame() }
    }
    return self.hysteresis.isSpeaking
  }

  private static let frameDuration = Duration.milliseconds(32)

  private func hearFrame() throws(VoiceFailure) {
    let probability = vort_hear(self.detector, self.frame, &self.message, self.message.count)
    self.frame.removeAll(keepingCapacity: true)
    guard probability >= 0 else {
      throw VoiceFailure(
        .engineFailed, message: "The detector of voice activity failed.",
        cause: Reason(text: Self.text(self.message)))
    }
    self.hysteresis.heard(Double(probability))
  }

  private struct Reason: Error, CustomStringConvertible {
    let text: String
    var description: String { self.text }
  }

  private static func text(_ message: [CChar]) -> String {
    String(decoding: message.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
  }
}

/// Turns probabilities into speech and silence: speech begins at one bound and ends once a number of frames stayed
/// below another.
struct SpeechHysteresis: Hashable, Sendable {
  let onset: Double
  let offset: Double
  /// How many silent frames end speech.
  let hangover: Int
  private(set) var isSpeaking = false
  private var silentFrames = 0

  init(onset: Double, offset: Double, hangover: Int) {
    self.onset = onset
    self.offset = offset
    self.hangover = hangover
  }

  /// Takes the probability of the next frame.
  mutating func heard(_ probability: Double) {
    if probability >= self.onset { self.isSpeaking = true }
    if probability >= self.offset {
      self.silentFrames = 0
    } else {
      self.silentFrames += 1
      if self.silentFrames >= self.hangover { self.isSpeaking = false }
    }
  }

  /// Forgets what was heard.
  mutating func reset() {
    self = SpeechHysteresis(onset: self.onset, offset: self.offset, hangover: self.hangover)
  }
}
