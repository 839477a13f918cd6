import Foundation
import SpeechPipeline
import SpeechUnderstanding

extension AppInterfaces {
  /// How a context of an app that begins now understands; `nil` for an app that recognises free text.
  ///
  /// - Parameter now: The time in seconds since 1970-01-01T00:00:00 UTC, which "tomorrow" is relative to.
  func understanding(of app: UUID, at now: Int64) -> ContextUnderstanding? {
    self.current(of: app).map { deployed in
      ContextUnderstanding(
        deployed.understanding,
        values: ValueContext(now: Date(timeIntervalSince1970: TimeInterval(now)), timeZone: .current),
        grammar: deployed.recognitionGrammar)
    }
  }
}
