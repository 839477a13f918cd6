import CPocketSphinx
import CPocketSphinxShim
import VoiceCore

/// The cepstra of an utterance whose noise is suppressed.
///
/// The work is done only when it is asked for, as where it is quiet nobody does. Not `Sendable`: it belongs to a recogniser, on
/// its thread.
final class SuppressedSpeech {
  private static let frameShift = 160
  /// How many frames before speech are kept, by which the suppressor knows the noise: one second.
  private static let mostFramesBeforeSpeech = 100

  private let library: RNNoiseLibrary
  private let frontEnd: OpaquePointer
  private let dimension: Int
  private var suppressor: NoiseSuppressor?
  /// Samples that were heard and not looked at yet.
  private var waiting: [Int16] = []
  /// The frames so far, one after the other.
  private var frames: [Float] = []
  /// The place in the audio of the first frame.
  private var firstFrame = 0

  /// Makes one beside a decoder, which says what its frames are like.
  ///
  /// - Throws: ``VoiceFailure`` with code `speech.engine.library-missing`, `speech.engine.library-unsupported` or
  ///   `speech.engine.model-invalid`.
  init(library path: String, decoder: OpaquePointer, dimension: Int) throws(VoiceFailure) {
    self.library = try RNNoiseLibrary.load(path)
    guard let frontEnd = vps_make_plain_front_end(decoder) else {
      throw VoiceFailure(
        .modelInvalid, message: "The PocketSphinx model has no front end for speech without noise.",
        cause: PocketSphinxLog.takeMessages())
    }
    self.frontEnd = frontEnd
    self.dimension = max(1, dimension)
  }

  deinit { fe_free(self.frontEnd) }

  /// Begins an utterance.
  func begin() {
    self.suppressor = nil
    self.waiting.removeAll(keepingCapacity: true)
    self.frames.removeAll(keepingCapacity: true)
    self.firstFrame = 0
  }

  /// Takes samples of the utterance.
  ///
  /// - Parameter isBeforeSpeech: Whether nobody spoke so far. Of silence that goes on for hours little is kept.
  func heard(_ samples: UnsafeBufferPointer<Int16>, isBeforeSpeech: Bool) {
    self.waiting += samples
    let extra = self.waiting.count / Self.frameShift - Self.mostFramesBeforeSpeech
    // In steps, as what is removed moves all that stays.
    guard isBeforeSpeech, self.suppressor == nil, extra >= Self.mostFramesBeforeSpeech else { return }
    self.waiting.removeFirst(extra * Self.frameShift)
    self.firstFrame += extra
  }

  /// Looks at what was heard so far.
  func catchUp() throws(VoiceFailure) {
    guard !self.waiting.isEmpty else { return }
    if self.suppressor == nil { self.suppressor = try self.started() }
    let ready = self.suppressor?.process(self.waiting) ?? []
    self.waiting.removeAll(keepingCapacity: true)
    try self.append(ready)
  }

  /// Looks at what was heard to the last sample; nothing more may follow.
  func finish() throws(VoiceFailure) {
    try self.catchUp()
    guard let suppressor = self.suppressor else { return }
    self.suppressor = nil
    try self.append(suppressor.finish())
  }

  /// The frames that a decoder got, one after the other, without those at the end that are not known yet.
  func frames(_ times: FrameTimes, count: Int) -> [Float] {
    var chosen: [Float] = []
    chosen.reserveCapacity(count * self.dimension)
    for index in 0..<count {
      let start = (times.audioFrame(of: index) - self.firstFrame) * self.dimension
      guard start >= 0, start + self.dimension <= self.frames.count else { break }
      chosen += self.frames[start..<start + self.dimension]
    }
    return chosen
  }

  private func started() throws(VoiceFailure) -> NoiseSuppressor {
    fe_start_stream(self.frontEnd)
    fe_start_utt(self.frontEnd)
    return try NoiseSuppressor(self.library)
  }

  private func append(_ samples: [Int16]) throws(VoiceFailure) {
    let capacity = 64
    var storage = [Float](repeating: 0, count: capacity * self.dimension)
    let isWhole = storage.withUnsafeMutableBufferPointer { storage in
      guard let base = storage.baseAddress else { return false }
      var rows: [UnsafeMutablePointer<mfcc_t>?] = (0..<capacity).map { base + $0 * self.dimension }
      return samples.withUnsafeBufferPointer { samples in
        var next = samples.baseAddress
        var rest = samples.count
        while rest > 0 {
          let before = rest
          var count = Int32(capacity)
          guard fe_process_frames(self.frontEnd, &next, &rest, &rows, &count, nil) >= 0,
            count > 0 || rest < before
          else { return false }
          self.frames += storage.prefix(Int(max(0, count)) * self.dimension)
        }
        return true
      }
    }
    guard isWhole else {
      throw VoiceFailure(
        .engineFailed, message: "The front end failed.", cause: PocketSphinxLog.takeMessages())
    }
  }
}
