import ArgumentParser
import CallMedia
import Calls
import Foundation
import PocketSphinxRecognition
import SpeechPipeline
import SpeechUnderstanding
import VoiceAudio
import VoiceCore

/// What is said and heard in a call, and how its audio finds its way.
struct CallAudioOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "Say this recording in place of the microphone, then hang up.", valueName: "file"))
  var play: String?

  @Option(
    help: ArgumentHelp(
      "With --play: hang up so long after the recording was sent (default: 2).", valueName: "seconds"))
  var stay: Double?

  @Option(help: ArgumentHelp("Write what the other side says to a WAV file (48 kHz).", valueName: "file"))
  var record: String?

  @Flag(help: "Show what the other side says; it is recognised in this process.")
  var transcribe = false

  @Option(
    help: ArgumentHelp(
      "With --transcribe: understand it too, with this configuration: a folder, or a .yaml or .sal file.",
      valueName: "file"))
  var config: String?

  @Option(
    help: ArgumentHelp(
      "With --transcribe: the language that is spoken (default: that of --config).", valueName: "tag"))
  var language: String?

  @Option(help: ArgumentHelp("With --transcribe: the folder of the model.", valueName: "dir"))
  var model: String?

  @OptionGroup var engineChoice: EngineOptions

  @Option(help: ArgumentHelp("The microphone, as `voice doctor` lists it.", valueName: "name"))
  var device: String?

  @Flag(help: "Use neither microphone nor loudspeaker.")
  var noDevices = false

  @OptionGroup var ice: IceOptions

  func validate() throws {
    if self.stay != nil, self.play == nil {
      throw ValidationError("--stay says how long the call stays after a recording: give --play as well.")
    }
    if let stay, !(stay >= 0 && stay <= 86_400) {
      throw ValidationError("--stay is a time in seconds, from 0 to 86400.")
    }
    if self.device != nil, self.play != nil || self.noDevices {
      throw ValidationError("--device names a microphone: leave out --play and --no-devices.")
    }
    if !self.transcribe,
      self.config != nil || self.language != nil || self.model != nil || self.engineChoice.isGiven
    {
      throw ValidationError(
        "--config, --language, --model and --engine are for --transcribe: give it as well.")
    }
  }

  /// Opens and loads what the call needs, so that what is wrong is said before anybody's telephone rings.
  ///
  /// - Throws: ``VoiceFailure`` of a file, a configuration or a model.
  func prepare(in context: CommandContext, json: Bool) async throws(VoiceFailure) -> CallPlan {
    var plan = CallPlan()
    if let play {
      let source = AudioFileSource(path: play, clock: context.clock)
      try await source.capture().stop()
      plan.play = source
      plan.stay = .seconds(self.stay ?? 2)
    }
    if self.transcribe { plan.transcription = try await self.transcription(in: context, json: json) }
    if let record {
      let sink = WAVFileSink(path: record, sampleRate: CallAudioFrame.sampleRate)
      // Creates the file.
      try await sink.write(AudioChunk(position: 0, samples: [], sampleRate: CallAudioFrame.sampleRate))
      plan.recording = sink
    }
    if self.play == nil, !self.noDevices { plan.devices = CallDevices(microphone: self.device) }
    return plan
  }

  private func transcription(
    in context: CommandContext, json: Bool
  ) async throws(VoiceFailure) -> LocalBackend {
    let understanding = try self.config.map { path throws(VoiceFailure) in
      try InterfaceFile(path: path).understanding(in: context, json: json)
    }
    let engine = try self.engineChoice.engine(
      language: self.language ?? understanding?.interface.language, modelFolder: self.model,
      environment: context.environment)
    let grammar = understanding.map { RecognitionGrammar($0) }
    for problem in grammar.map(engine.problems) ?? [] { context.warn(problem, json: json) }
    let given = understanding?.interface.options.silenceTriggeredSegmentation
    let backend = LocalBackend(
      engine: engine,
      options: ContextOptions(
        // In a conversation sentences are complete when somebody pauses, not when the call is over.
        silence: given == .zero ? nil : given ?? .milliseconds(800),
        understanding: understanding.map { ContextUnderstanding($0, values: .current, grammar: grammar) }),
      clock: context.clock)
    try await backend.prepare()
    return backend
  }
}

/// What happens with the audio of one call.
struct CallPlan: Sendable {
  /// What is said, if not what a microphone hears.
  var play: AudioFileSource?
  /// How long the call stays after that.
  var stay = Duration.zero
  /// Where what is heard is written.
  var recording: WAVFileSink?
  /// Who recognises what is heard.
  var transcription: LocalBackend?
  /// The microphone and the loudspeaker, if they are used.
  var devices: CallDevices?
}
