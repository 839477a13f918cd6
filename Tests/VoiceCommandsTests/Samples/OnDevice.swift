import Foundation
import PocketSphinxRecognition
import SpeechRecognition
import SpeechStreaming
import SpeechUnderstanding
import VoiceAudio
import VoiceCore

@MainActor final class SearchField {
  private lazy var utility = SpeechRecognitionUtility(
    speechRecognitionAuthorizedBlock: { [weak self] in self?.toggle() },
    stateUpdateBlock: { [weak self] state, finalOutput in self?.update(state, isComplete: finalOutput) },
    timeoutPeriod: 1.5)

  func toggle() {
    do {
      try utility.toggleSpeechRecognitionActivity()
    } catch {
      print("cannot listen:", error)
    }
  }

  private func update(_ state: SpeechRecognitionOperationState, isComplete: Bool) {
    switch state {
    case .authorized: print("may listen")
    case .audioEngineStart: print("listening")
    case .audioEngineStop: print("not listening any more")
    case .speechRecognised(let text):
      print(isComplete ? "search for" : "hearing", text)
      if isComplete { toggle() }
    case .speechNotRecognized: print("not understood")
    case .availabilityChanged(let isAvailable): print(isAvailable ? "can listen again" : "cannot listen now")
    case .recognitionTaskCancelled: print("cancelled")
    case .speechRecognitionStopped(let text): print("the last words were:", text)
    }
  }
}

func dictate(from source: any AudioSource) async throws -> [String] {
  var configuration = SpeechRecognitionUtility.Configuration()
  configuration.source = source
  configuration.mode = .oneUtterance
  configuration.maximumTranscriptions = 3
  let utility = SpeechRecognitionUtility(configuration: configuration)
  try await utility.start()
  let result = await utility.waitUntilStopped()
  return result?.transcriptions.map(\.formattedString) ?? []
}

func lights(_ path: String) async throws -> String? {
  var configuration = SpeechRecognitionUtility.Configuration()
  configuration.source = AudioFileSource(path: path)
  configuration.understanding = try Understanding(
    templates: "*turn_on turn on the [lights | radio](device)")
  let utility = SpeechRecognitionUtility(configuration: configuration)
  try await utility.start()
  return await utility.waitUntilStopped()?.meanings.first?.intent
}

func clientThatGoesOnAlone(appId: UUID) throws -> SpeechClient.Configuration {
  var configuration = SpeechClient.Configuration(app: .app(appId), language: .enUS)
  configuration.onDevice = OnDeviceRecognition(
    engine: try PocketSphinxEngine(),
    understanding: try Understanding(templates: "*turn_on turn on the [lights | radio](device)"))
  return configuration
}

func clientWithoutServer() throws -> SpeechClient.Configuration {
  SpeechClient.Configuration(onDevice: OnDeviceRecognition(engine: try PocketSphinxEngine()))
}
