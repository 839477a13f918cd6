import Testing

@testable import VoiceCommands

struct EvaluationConditionTests {
  @Test(arguments: ["", "Clean", "snr", "snrx", "pink1.5", "snr101", "pink-21", "babble10", "telephone8"])
  func refusesWhatIsNone(text: String) {
    #expect(EvaluationCondition(text) == nil)
  }

  @Test(arguments: [
    ("clean", EvaluationCondition.clean), ("snr24", .noise(decibels: 24)), ("pink-5", .pink(decibels: -5)),
    ("telephone", .telephone),
  ])
  func readsItsName(text: String, condition: EvaluationCondition) {
    #expect(EvaluationCondition(text) == condition)
    #expect(condition.name == text)
    #expect(condition.needsNoise == text.hasPrefix("snr"))
  }
}
