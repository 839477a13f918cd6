extension VoiceFailure.Code {
  /// There is no input device, or not the one asked for.
  public static let noInputDevice = Self("audio.input.no-device")
  /// Another program holds the input device.
  public static let inputDeviceBusy = Self("audio.input.busy")
  /// The microphone may not be used.
  public static let microphoneDenied = Self("audio.input.permission-denied")
  /// The input device was unplugged while it was recording.
  public static let inputDeviceLost = Self("audio.input.unplugged")
  /// The device produced audio faster than it was read, and some is missing.
  public static let inputOverrun = Self("audio.input.overrun")
  /// The microphone was taken away, for a while or for good: by a phone call, or by a change of the device.
  public static let inputInterrupted = Self("audio.input.interrupted")
  /// The device failed in a way that has no name of its own.
  public static let inputDeviceFailed = Self("audio.input.failed")

  /// There is no output device, or not the one asked for.
  public static let noOutputDevice = Self("audio.output.no-device")
  /// Another program holds the output device.
  public static let outputDeviceBusy = Self("audio.output.busy")
  /// The output device was unplugged, or taken away, while it was playing.
  public static let outputDeviceLost = Self("audio.output.lost")
  /// The output device failed in a way that has no name of its own.
  public static let outputDeviceFailed = Self("audio.output.failed")

  /// There is no file at the path.
  public static let fileNotFound = Self("audio.file.not-found")
  /// The file may not be read.
  public static let fileNotReadable = Self("audio.file.not-readable")
  /// The file cannot be written.
  public static let fileNotWritable = Self("audio.file.not-writable")
  /// The path is a folder.
  public static let fileIsDirectory = Self("audio.file.is-directory")
  /// The file holds no audio that can be decoded.
  public static let fileNotAudio = Self("audio.file.not-audio")
  /// The file or stream holds no samples.
  public static let audioEmpty = Self("audio.file.empty")
  /// The file ends before the length that it declares.
  public static let fileTruncated = Self("audio.file.truncated")
  /// Samples that are not numbers were replaced by silence.
  public static let samplesNotFinite = Self("audio.samples.not-finite")
  /// The format cannot be converted to what the recogniser needs.
  public static let formatNotSupported = Self("audio.format.not-supported")
}

extension FailureCatalogue {
  static let audioInput: [Definition] = [
    Definition(
      .noInputDevice, .client, .changeConfiguration("the input device"),
      happens: "There is no microphone, or not the one asked for.",
      response: "Does not start; nothing is sent.",
      advice: "Plug in a microphone or name another device (`voice doctor` lists them).",
      reproduce: "`voice recognize --mic --device none-such`"),
    Definition(
      .inputDeviceBusy, .client, .retry,
      happens: "Another program is using the microphone.",
      response: "Does not start.",
      advice: "Close the other program, or use a device that can be shared (`default`).",
      reproduce: "`arecord -D hw:0 /dev/null &` then `voice recognize --mic --device hw:0`"),
    Definition(
      .microphoneDenied, .client, .grantPermission(.microphone),
      happens: "The microphone may not be used.",
      response: "Does not start.",
      advice: "Allow the microphone in the system's settings; on Linux add the user to the group `audio`.",
      reproduce: "Run as a user outside the group `audio`: `voice recognize --mic --device hw:0`"),
    Definition(
      .inputDeviceLost, .utterance, .retry,
      happens: "The microphone was unplugged.",
      response: "Sends what was recorded, ends the utterance with its result and reports the loss.",
      advice: "Ask for another microphone, then start again.",
      reproduce: "Unplug a USB microphone during `voice recognize --mic`"),
    Definition(
      .inputOverrun, .utterance, .none,
      happens: "The machine was too slow and some audio of the microphone is missing.",
      response: "Goes on; the gap keeps its place in time and its length is in the message.",
      advice: "Give the process more CPU time.",
      reproduce:
        "Stop the process for ten seconds with `kill -STOP` while it records from `hw:0`; a sound server buffers more"
    ),
    Definition(
      .inputInterrupted, .utterance, .none,
      happens: "The microphone was taken away, as by a phone call or a change of the device.",
      response:
        "Records again as soon as it may; the gap keeps its place in time and its length is in the message. If the "
        + "system does not give the microphone back, ends the utterance with its result.",
      advice: "Nothing if it goes on. If it ended, let the person start again.",
      reproduce: "Let an iPhone ring while `Microphone` records"),
    Definition(
      .inputDeviceFailed, .client, .retry,
      happens: "The microphone failed.",
      response: "Ends the utterance with what was recorded.",
      advice: "Try again, or use another device. The cause is in the failure's debug description.",
      reproduce: "A scripted `AudioSource` that throws"),
  ]

  static let audioOutput: [Definition] = [
    Definition(
      .noOutputDevice, .client, .changeConfiguration("the output device"),
      happens: "There is no loudspeaker or headphone, or not the one asked for.",
      response: "Does not start; nothing is played.",
      advice: "Plug in a loudspeaker or headphones, or name another device (`Speaker.devices()` lists them).",
      reproduce: "`try await Speaker(device: \"none-such\").play()`"),
    Definition(
      .outputDeviceBusy, .client, .retry,
      happens: "Another program is using the loudspeaker.",
      response: "Does not start.",
      advice: "Close the other program, or use a device that can be shared (`default`).",
      reproduce: "`aplay -D hw:0 a.wav &` then `try await Speaker(device: \"hw:0\").play()`"),
    Definition(
      .outputDeviceLost, .call, .retry,
      happens: "The loudspeaker was unplugged, or something else took it.",
      response: "Ends the playback and reports the loss; what is recorded and sent goes on.",
      advice: "Tell the person that nothing is heard, ask for another loudspeaker, and play again.",
      reproduce: "End the sound server, or unplug USB headphones, during `Speaker.play()`"),
    Definition(
      .outputDeviceFailed, .call, .retry,
      happens: "The loudspeaker failed.",
      response: "Ends the playback and reports the failure.",
      advice: "Play again, or use another device. The cause is in the failure's debug description.",
      reproduce:
        "Stop the sound server's process with `kill -STOP` for more than five seconds during `Speaker.play()`"
    ),
  ]

  static let audioData: [Definition] = [
    Definition(
      .fileNotFound, .utterance, .changeConfiguration("the file"),
      happens: "There is no such file.",
      response: "Goes on with the next file.",
      advice: "Check the path.",
      reproduce: "`voice recognize none-such.wav`"),
    Definition(
      .fileNotReadable, .utterance, .grantPermission(.storage),
      happens: "The file may not be read.",
      response: "Goes on with the next file.",
      advice: "Give the user the right to read the file.",
      reproduce: "`chmod 000 a.wav; voice recognize a.wav` as an ordinary user"),
    Definition(
      .fileNotWritable, .utterance, .grantPermission(.storage),
      happens: "The recording cannot be written to the file.",
      response: "Ends the recording; what was written before stays readable.",
      advice: "Check the folder, the right to write in it, and the space on its disk.",
      reproduce: "Write to `WAVFileSink(path: \"/proc/a.wav\")`"),
    Definition(
      .fileIsDirectory, .utterance, .changeConfiguration("the file"),
      happens: "The path is a folder, not an audio file.",
      response: "Goes on with the next file.",
      advice: "Name the files in it, for example with `FOLDER/*.wav`.",
      reproduce: "`voice recognize /tmp`"),
    Definition(
      .fileNotAudio, .utterance, .changeConfiguration("the file"),
      happens: "The file is not audio in a format that can be read.",
      response: "Goes on with the next file.",
      advice: "Use wav, flac, ogg, opus or mp3; for headerless samples give `--raw` with rate and channels.",
      reproduce: "`voice recognize README.md`"),
    Definition(
      .audioEmpty, .utterance, .none,
      happens: "There is no audio in it.",
      response: "Reports it and goes on with the next file.",
      advice: "Check how the file was recorded.",
      reproduce: "`voice recognize - </dev/null`"),
    Definition(
      .fileTruncated, .utterance, .none,
      happens: "The file ends before the length that it declares.",
      response: "Uses all audio that is there and says how much is missing.",
      advice: "Copy the file again if the end matters.",
      reproduce: "`head -c 20000 a.wav > b.wav; voice recognize b.wav`"),
    Definition(
      .samplesNotFinite, .utterance, .none,
      happens: "Some samples are not numbers.",
      response: "Replaces them by silence and says how many there were.",
      advice: "Check what produced the audio.",
      reproduce: "A float WAV file with NaN samples"),
    Definition(
      .formatNotSupported, .utterance, .changeConfiguration("the audio format"),
      happens: "The audio format cannot be converted.",
      response: "Does not start.",
      advice: "Use 1 to 64 channels at 1,000 to 768,000 Hz.",
      reproduce: "`voice recognize --raw --rate 0 FILE`"),
  ]
}
