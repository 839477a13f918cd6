import SpeechStreaming
import VoiceCore

/// Passes everything on and keeps the result.
struct RecordingPresenter<Base: RecognitionPresenter>: RecognitionPresenter {
  private(set) var base: Base
  private var finals: [Int: TranscriptSegment] = [:]
  private(set) var recoveries: [SpeechRecovery] = []
  private(set) var losses: [VoiceFailure] = []
  private(set) var degradations: [SpeechDegradation] = []

  init(_ base: Base) {
    self.base = base
  }

  /// The segments as they ended.
  var segments: [TranscriptSegment] { self.finals.sorted { $0.key < $1.key }.map(\.value) }

  /// The final words of all segments.
  var words: [String] { self.segments.flatMap { $0.words.map(\.text) } }

  mutating func began(_ input: RecognitionInput) { self.base.began(input) }

  mutating func show(_ update: RecognitionUpdate) {
    switch update {
    case .segment(let segment) where segment.isFinal: self.finals[segment.segmentId] = segment
    case .recovered(let recovery): self.recoveries.append(recovery)
    case .failed(let failure):
      if case .automatic = failure.recovery { self.losses.append(failure) }
    case .degraded(let degradation): self.degradations.append(degradation)
    case .segment, .recordingStarted, .started, .finished: break
    }
    self.base.show(update)
  }

  mutating func stopping() { self.base.stopping() }
  mutating func ended() { self.base.ended() }
}
