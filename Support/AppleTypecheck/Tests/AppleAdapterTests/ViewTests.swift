import Foundation
import SwiftUI
import Testing
import VoiceCore
import VoiceViews

@MainActor private final class Talk: TalkControl {
  var calls: [String] = []

  func beginTalking() { self.calls.append("begin") }
  func endTalking() { self.calls.append("end") }
  func cancelTalking() { self.calls.append("cancel") }
}

private struct Words: TranscriptContent {
  var transcriptWords: [TranscriptWord]
  var transcriptEntities: [TranscriptEntity] = []
}

/// Finds what was done to a view.
@MainActor private func found<Value>(_ type: Value.Type, in view: Any) -> Value? {
  for child in Mirror(reflecting: view).children {
    if let value = child.value as? Value { return value }
    if let value = found(type, in: child.value) { return value }
  }
  return nil
}

extension AdapterTests {
  @MainActor struct ViewTests {
    @Test func holdingTheButtonTalksAndLettingGoEnds() throws {
      let talk = Talk()
      let body = MicrophoneButton(talk, diameter: 80).body
      let drag = try #require(found(DragGesture.self, in: body))
      drag.changed(DragGesture.Value(location: CGPoint(x: 40, y: 40)))
      drag.changed(DragGesture.Value(location: CGPoint(x: 42, y: 40)))
      drag.ended(DragGesture.Value(location: CGPoint(x: 42, y: 40)))
      #expect(talk.calls == ["begin", "end"])
    }

    @Test func slidingOffTheButtonDropsWhatWasSaid() throws {
      let talk = Talk()
      let drag = try #require(found(DragGesture.self, in: MicrophoneButton(talk, diameter: 80).body))
      drag.changed(DragGesture.Value(location: CGPoint(x: 40, y: 40)))
      drag.changed(DragGesture.Value(location: CGPoint(x: 400, y: 40)))
      drag.ended(DragGesture.Value(location: CGPoint(x: 400, y: 40)))
      #expect(talk.calls == ["begin", "cancel"])
    }

    @Test func wordsThatMayChangeAreDimAndValuesAreMarked() throws {
      let entity = TranscriptEntity(type: "device", value: "light", words: 1..<2, isFinal: true)
      let view = TranscriptView(
        Words(
          transcriptWords: [
            TranscriptWord(text: "on", isFinal: true), TranscriptWord(text: "lights", isFinal: true),
            TranscriptWord(text: "now", isFinal: false),
          ], transcriptEntities: [entity]))
      let text = try #require(found(Text.self, in: view.body))
      #expect(text.pieces.map(\.text) == ["on", " ", "lights", " ", "now"])
      #expect(text.pieces.map(\.isBold) == [false, false, true, false, false])
      #expect(text.pieces.map { $0.color?.name } == [nil, nil, "blue", nil, "secondary"])
    }

    @Test func aBubbleWithoutWordsIsNotThere() {
      #expect(found(TranscriptView.self, in: SpeechBubble(Words(transcriptWords: [])).body) == nil)
      let words = Words(transcriptWords: [TranscriptWord(text: "yes", isFinal: true)])
      #expect(found(TranscriptView.self, in: SpeechBubble(words).body) != nil)
    }
  }
}
