public import VoiceCore

extension SpeechClient: TalkControl {
  public func beginTalking() { self.start() }

  public func endTalking() { self.stop() }
}
