public import VoiceCore

extension SpeechRecognitionModel: TalkControl {
  public func beginTalking() { self.start() }

  public func endTalking() { self.finish() }

  public func cancelTalking() { self.cancel() }
}
