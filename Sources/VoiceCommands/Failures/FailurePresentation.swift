import VoiceCore

/// A failure as a person sees it: what happened, what to do now, and the code to look it up.
struct FailurePresentation: Hashable, Sendable {
  let headline: StyledText
  let nextStep: StyledText?

  init(_ failure: VoiceFailure, symbols: Console.Symbols) {
    let isNotice = failure.isNotice
    let color: TextStyle = isNotice ? .yellow : .red
    var headline = StyledText(isNotice ? symbols.warning : symbols.bad, [color, .bold])
    headline.append(" ")
    headline.append(failure.message, isNotice ? color : [color, .bold])
    headline.append(" [\(failure.code)]", .dim)
    self.headline = headline
    self.nextStep = Self.advice(failure).map { advice in
      StyledText("  \(symbols.arrow) ", .dim) + Self.withCode(advice)
    }
  }

  func write(to stream: Console.Stream) {
    stream.line(self.headline, indent: 2)
    if let nextStep { stream.line(nextStep, indent: 4) }
  }

  var lines: [StyledText] { [self.headline] + (self.nextStep.map { [$0] } ?? []) }

  /// What the person can do, or `nil` if the message says it already or there is nothing to do.
  private static func advice(_ failure: VoiceFailure) -> String? {
    // Its messages say what to write instead.
    guard failure.code != .usage, let definition = FailureCatalogue.definition(of: failure.code) else { return nil }
    let advice = definition.advice
    guard !advice.hasPrefix("Nothing") else { return nil }
    let firstClause = advice.prefix { $0 != "." && $0 != "," && $0 != "(" }.lowercased()
    return failure.message.lowercased().contains(firstClause) ? nil : advice
  }

  /// Text of the catalogue with what stands in backticks made bold.
  static func withCode(_ text: String) -> StyledText {
    var result = StyledText()
    for (index, part) in text.split(separator: "`", omittingEmptySubsequences: false).enumerated() {
      result.append(String(part), index % 2 == 1 ? .bold : [])
    }
    return result
  }
}
