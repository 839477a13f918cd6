import VoiceCore

/// A failure as a person sees it: what happened, what to do now, and the code to look it up.
struct FailurePresentation: Hashable, Sendable {
  let headline: StyledText
  let nextStep: StyledText?

  init(_ failure: VoiceFailure, symbols: Console.Symbols) {
    let isNotice = failure.isNotice
    let color: TextStyle = isNotice ? .yellow : .red
    let (happened, rest) = Self.split(failure.message)
    var headline = StyledText(isNotice ? symbols.warning : symbols.bad, [color, .bold])
    headline.append(" ")
    headline.append(happened, isNotice ? color : [color, .bold])
    headline.append(" [\(failure.code)]", .dim)
    self.headline = headline
    self.nextStep = (rest ?? Self.advice(failure)).map { text in
      StyledText("  \(symbols.arrow) ", .dim) + Self.withCode(text)
    }
  }

  func write(to stream: Console.Stream) {
    stream.line(self.headline, indent: 2)
    if let nextStep { stream.line(nextStep, indent: 4) }
  }

  var lines: [StyledText] { [self.headline] + (self.nextStep.map { [$0] } ?? []) }

  /// The first sentence of a message, and what follows it: the messages of the toolkit say first what happened, then what to do.
  static func split(_ message: String) -> (happened: String, rest: String?) {
    var quotes = 0
    var previous: Character?
    for index in message.indices {
      let character = message[index]
      if character == "“" { quotes += 1 }
      if character == "”" { quotes = max(0, quotes - 1) }
      if character == " ", previous == ".", quotes == 0 {
        let rest = message[message.index(after: index)...]
        // A capital begins a sentence; `a. b` in a file name or an abbreviation does not.
        if rest.first?.isUppercase == true { return (String(message[..<index]), String(rest)) }
      }
      previous = character
    }
    return (message, nil)
  }

  /// What the catalogue tells the person to do, or `nil` if there is nothing to do.
  private static func advice(_ failure: VoiceFailure) -> String? {
    // Messages about usage say what to write instead.
    guard failure.code != .usage, let definition = FailureCatalogue.definition(of: failure.code) else {
      return nil
    }
    // What follows the first sentence is for people who write apps.
    let advice = self.split(definition.advice).happened
    return advice.hasPrefix("Nothing") ? nil : advice
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
