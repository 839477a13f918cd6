import Foundation
import PocketSphinxRecognition
import SpeechPipeline
import VoiceAudio
import VoiceCore

/// Recognises in this process.
struct LocalBackend: RecognitionBackend {
  private let pool: RecognizerPool
  private let options: ContextOptions
  let summary: String

  /// Creates a backend; `reason` begins the summary.
  init(
    engine: any RecognitionEngine, options: ContextOptions = ContextOptions(), clock: any VoiceClock,
    reason: String = ""
  ) {
    self.pool = RecognizerPool(engine: engine, size: 1, clock: clock)
    self.options = options
    self.summary = "\(reason)using \(engine.name) in this process"
  }

  func prepare() async throws(VoiceFailure) {
    try await self.pool.load()
  }

  func recognize(
    _ source: any AudioSource, until stop: StopRequest,
    report: @escaping @Sendable (RecognitionUpdate) -> Void
  ) async {
    let contextId = UUID().uuidString.lowercased()
    var assembler = TranscriptAssembler(contextId: contextId)
    var hasBegun = false
    do throws(VoiceFailure) {
      let capture = try await source.capture()
      stop.whenMade { capture.stop() }
      defer { stop.whenMade(nil) }
      report(.recordingStarted)
      let context = try await self.pool.beginContext(self.options, patience: .seconds(30))
      defer { context.cancel() }
      var end: VoiceFailure?
      do throws(VoiceFailure) {
        for try await event in capture {
          switch event {
          case .chunk(let chunk):
            if !hasBegun {
              hasBegun = true
              report(.started(contextId: contextId))
            }
            for segment in assembler.take(try await context.append(chunk.samples)) {
              report(.segment(segment))
            }
          case .notice(let notice):
            report(.failed(notice))
          }
        }
      } catch {
        end = error
      }
      if context.failure == nil {
        for segment in assembler.take(try await context.finish()) { report(.segment(segment)) }
      }
      if let failure = end ?? context.failure { throw failure }
    } catch {
      report(.failed(error))
    }
    report(.finished(contextId: hasBegun ? contextId : nil))
  }
}
