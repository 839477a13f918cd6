import Testing
import VoiceCore

@testable import VoiceServer

struct DeploymentWarningsTests {
  @Test func whatIsWrittenIsReadAgain() {
    let problems = [
      VoiceFailure(.wordUnpronounceable, message: "Nobody knows [how] “x” sounds."),
      VoiceFailure(.grammarTooLarge, message: "Too large:\nmore than 10."),
    ]
    let read = DeploymentWarnings.problems(in: DeploymentWarnings.text(of: problems))
    #expect(read.map(\.code) == [.wordUnpronounceable, .grammarTooLarge])
    #expect(read.map(\.message) == ["Nobody knows [how] “x” sounds.", "Too large: more than 10."])
  }

  @Test func textsOfOtherServersAreShownAsTheyAre() {
    #expect(DeploymentWarnings.problems(in: "").isEmpty)
    let read = DeploymentWarnings.problems(in: "all is well\n]\n[]\n[a")
    #expect(read.map(\.message) == ["all is well", "]", "", "[a"])
  }
}
