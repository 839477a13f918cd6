import Testing
import VoiceCore

@testable import VoiceCommands

struct FailurePresentationTests {
  private func lines(_ failure: VoiceFailure) -> [String] {
    FailurePresentation(failure, symbols: .unicode).lines.map(\.plain)
  }

  @Test func saysWhatHappenedTheCodeAndWhatToDo() {
    #expect(
      self.lines(VoiceFailure(.noInputDevice, message: "There is no microphone “x”.")) == [
        "✖ There is no microphone “x”. [audio.input.no-device]",
        "  → Plug in a microphone or name another device (voice doctor lists them).",
      ])
  }

  @Test func aMessageThatSaysWhatToDoIsNotRepeated() {
    #expect(
      self.lines(VoiceFailure(.portInUse, message: "Another program listens at 1.2.3.4:80. Stop it.")) == [
        "✖ Another program listens at 1.2.3.4:80. [server.port.in-use]", "  → Stop it.",
      ])
  }

  @Test func aNoticeIsMarkedAsOne() {
    #expect(self.lines(VoiceFailure(.fileTruncated)).first?.hasPrefix("! ") == true)
  }

  @Test func aCodeThatThisVersionDoesNotKnowIsShownAllTheSame() {
    #expect(self.lines(VoiceFailure(VoiceFailure.Code("new.code"), message: "New.")) == ["✖ New. [new.code]"])
  }

  @Test func sentencesInsideFileNamesAreNotSplit() {
    #expect(FailurePresentation.split("There is no file “A. B.wav”.").rest == nil)
    #expect(FailurePresentation.split("Cannot use 1. x").rest == nil)
    #expect(FailurePresentation.split("").happened == "")
    #expect(FailurePresentation.split("A. B. C.") == ("A.", "B. C."))
  }

  @Test func aMessageCannotWriteToTheTerminal() {
    let text = self.lines(VoiceFailure(.fileNotFound, message: "No \u{1B}]0;owned\u{7} file.")).joined()
    #expect(!text.unicodeScalars.contains { $0.value < 0x20 })
  }

  @Test func everyRowOfTheCatalogueHasAWordForThePerson() {
    for row in FailureCatalogue.areas.flatMap(\.definitions) {
      let shown = self.lines(VoiceFailure(row.code))
      #expect(shown[0].contains(row.code.rawValue))
      #expect(!shown.joined().contains("`"))
    }
  }
}
