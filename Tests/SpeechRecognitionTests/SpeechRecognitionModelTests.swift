import Observation
import Testing
import VoiceAudio
import VoiceCore
import VoicePlatform
import VoiceTesting

@testable import SpeechRecognition

@Suite(.timeLimit(.minutes(4)))
@MainActor struct SpeechRecognitionModelTests {
  private let source = ManualAudioSource()

  /// Waits until a value of the model is as wanted, each time that it changes.
  private func wait(until isTrue: @escaping @MainActor () -> Bool) async {
    while !isTrue() {
      await withCheckedContinuation { continuation in
        withObservationTracking {
          _ = isTrue()
        } onChange: {
          // The value changes after this has returned.
          Task { @MainActor in continuation.resume() }
        }
      }
    }
  }

  private func model(_ text: String, authorization: SpeechAuthorization = .authorized)
    -> SpeechRecognitionModel
  {
    SpeechRecognitionModel(
      configuration: .test(
        ScriptedEngine(words: ScriptedEngine.Word.sentence(text, at: .zero)), self.source,
        authorization: authorization))
  }

  @Test func showsWhatIsSpokenAndWhatIsComplete() async {
    let model = self.model("one two three")
    let task = Task { await model.run() }
    await self.wait { model.authorization == .authorized }
    model.toggle()
    await self.wait { model.isListening }
    self.source.send(silence(.milliseconds(300)))
    await self.wait { model.text == "one two" }
    self.source.send(silence(.seconds(3)))
    await self.wait { model.texts == ["one two three"] }
    #expect(model.text == "")
    #expect(model.transcript == "one two three")
    #expect(model.result?.isFinal == true)
    model.toggle()
    await self.wait { !model.isListening }
    model.clear()
    #expect(model.transcript == "")
    task.cancel()
    await task.value
  }

  @Test func showsWhatForbidsListening() async {
    let model = self.model("one", authorization: .denied)
    let task = Task { await model.run() }
    await self.wait { model.authorization == .denied }
    model.toggle()
    await self.wait { model.failure?.code == .recognitionDenied }
    #expect(!model.isListening)
    task.cancel()
    await task.value
  }

  @Test func listeningEndsWithTheTaskThatRunsIt() async {
    let model = self.model("one two three")
    let task = Task { await model.run() }
    await self.wait { model.authorization == .authorized }
    model.start()
    await self.wait { model.isListening }
    task.cancel()
    await task.value
    #expect(!model.isListening)
    await self.source.captureStopped()
  }
}
