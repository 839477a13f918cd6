public import VoiceAudio
public import VoiceCore
public struct Microphone: AudioSource {
  public init(device: String = "default") {}
  public func capture() async throws(VoiceFailure) -> AudioCapture { throw VoiceFailure(.noInputDevice) }
}
