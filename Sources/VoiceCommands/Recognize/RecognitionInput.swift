import VoiceAudio
import VoiceCore
import VoicePlatform

/// One thing to recognise, with the name that the person gave it.
struct RecognitionInput: Sendable {
  /// As it is printed: the path as it was typed, `-`, or `mic`.
  var name: String
  var source: any AudioSource
  /// Whether it ends when the person says so, and stopping it is therefore the normal end.
  var isOpenEnded: Bool
}

extension RecognitionInput {
  static func microphone(device: String?, clock: any VoiceClock) -> RecognitionInput {
    RecognitionInput(
      name: "mic", source: Microphone(device: device ?? Microphone.defaultDevice, clock: clock),
      isOpenEnded: true)
  }

  static func standardInput(raw: RawAudioFormat?, pacing: Pacing, clock: any VoiceClock) -> RecognitionInput {
    RecognitionInput(
      name: "-", source: PipeSource(rawFormat: raw, pacing: pacing, clock: clock), isOpenEnded: true)
  }

  static func file(_ path: String, raw: RawAudioFormat?, pacing: Pacing, clock: any VoiceClock)
    -> RecognitionInput
  {
    let source: any AudioSource =
      if let raw {
        PipeSource(path: path, rawFormat: raw, pacing: pacing, clock: clock)
      } else {
        AudioFileSource(path: path, pacing: pacing, clock: clock)
      }
    return RecognitionInput(name: path, source: source, isOpenEnded: false)
  }
}
