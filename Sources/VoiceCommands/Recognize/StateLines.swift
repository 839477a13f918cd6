import SpeechStreaming
import VoiceCore

/// The lines that tell a person what happens to the connection; one each, with what comes next.
struct StateLines: Hashable, Sendable {
  let symbols: Console.Symbols

  /// The server is lost and the client tries again by itself.
  func lost(_ failure: VoiceFailure, _ retry: RetryState) -> StyledText {
    var line = StyledText("\(self.symbols.retry) ", [.yellow, .bold])
    line.append(Self.withoutFullStop(failure.message), .yellow)
    line.append(": trying again \(Self.when(retry)); audio is kept", .yellow)
    line.append(" [\(failure.code)]", .dim)
    return line
  }

  /// Further tries, in a line that replaces itself.
  func trying(_ retry: RetryState) -> StyledText {
    StyledText("\(self.symbols.retry) reconnecting: try \(retry.attempt) \(Self.when(retry))", .yellow)
  }

  func recovered(_ recovery: SpeechRecovery) -> StyledText {
    var line = StyledText("\(self.symbols.good) ", [.green, .bold])
    line.append("Recovered after \(Phrases.duration(recovery.outage))", .green)
    line.append(": the last \(Phrases.duration(recovery.replayed)) of audio were sent again", .green)
    return line
  }

  /// This process has taken over.
  func degraded(_ degradation: SpeechDegradation) -> StyledText {
    var line = StyledText("\(self.symbols.retry) ", [.yellow, .bold])
    line.append(Self.withoutFullStop(degradation.failure.message), .yellow)
    line.append(": going on in this process", .yellow)
    if degradation.replayed > .zero {
      line.append(", with the last \(Phrases.duration(degradation.replayed)) of audio", .yellow)
    }
    line.append(" [\(degradation.failure.code)]", .dim)
    return line
  }

  private static func when(_ retry: RetryState) -> String {
    retry.delay < .milliseconds(50) ? "now" : "in \(Phrases.duration(retry.delay))"
  }

  private static func withoutFullStop(_ text: String) -> String {
    text.hasSuffix(".") ? String(text.dropLast()) : text
  }
}
