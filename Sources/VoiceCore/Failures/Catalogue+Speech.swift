extension VoiceFailure.Code {
  /// Audio was dropped because the window was full.
  public static let audioDropped = Self("speech.stream.audio-dropped")
  /// The messages of a stream came in an order that the protocol forbids.
  public static let orderViolated = Self("speech.stream.order-violated")
  /// A request holds a value that the server cannot use.
  public static let requestInvalid = Self("speech.stream.request-invalid")
  /// One message holds too much audio.
  public static let chunkTooLarge = Self("speech.stream.chunk-too-large")
  /// An utterance is longer than the server allows.
  public static let contextTooLong = Self("speech.stream.context-too-long")
  /// The client split a long utterance.
  public static let contextSplit = Self("speech.stream.context-split")
  /// The server has no capacity left.
  public static let serverOverloaded = Self("speech.stream.server-overloaded")
  /// The server is shutting down.
  public static let serverStopping = Self("speech.stream.server-stopping")
  /// Nothing came over a stream for too long.
  public static let streamIdle = Self("speech.stream.idle")
  /// The server reported an error that has no code of its own.
  public static let serverFailed = Self("speech.stream.server-failed")
  /// The server broke a rule of the protocol.
  public static let protocolViolated = Self("speech.stream.protocol-violated")
  /// After a reconnect the server heard something else than before.
  public static let replayDiverged = Self("speech.stream.replay-diverged")
  /// A segment was never finished by the server.
  public static let segmentUnfinished = Self("speech.stream.segment-unfinished")

  /// The engine's model is not installed.
  public static let modelMissing = Self("speech.engine.model-missing")
  /// The engine's model cannot be used.
  public static let modelInvalid = Self("speech.engine.model-invalid")
  /// No engine recognises the language.
  public static let engineLanguageMissing = Self("speech.engine.language-missing")
  /// The engine failed while it was recognising.
  public static let engineFailed = Self("speech.engine.failed")
  /// A library that the engine loads at run time is missing or too old.
  public static let engineLibraryMissing = Self("speech.engine.library-missing")
  /// A library that the engine loads at run time is of a version that the engine does not know.
  public static let engineLibraryUnsupported = Self("speech.engine.library-unsupported")
}

extension FailureCatalogue {
  static let streaming: [Definition] = [
    Definition(
      .audioDropped, .utterance, .none,
      happens: "Audio was dropped because the server is too slow or was away for too long.",
      response:
        "Drops the oldest audio that is not recognised yet, keeps time linear and says how much was dropped.",
      advice: "Use a larger window, or a faster server.",
      reproduce: "`SpeechClient` with a window of 1 s and a server that does not read"),
    Definition(
      .orderViolated, .client, .none,
      happens: "The messages of the stream came in an order that the protocol forbids.",
      response: "The server ends the stream; the Swift client does not produce this.",
      advice: "Send config first, then start, audio and stop; no audio outside a context.",
      reproduce: "A gRPC client that sends audio before start"),
    Definition(
      .requestInvalid, .client, .changeConfiguration("the request"),
      happens: "A request holds a value that the server cannot use.",
      response: "The server ends the stream and names the value.",
      advice: "Correct the value that the message names.",
      reproduce: "A gRPC client that configures 0 channels"),
    Definition(
      .chunkTooLarge, .client, .changeConfiguration("the chunk size"),
      happens: "One message holds 1 MB of audio or more.",
      response: "The server ends the stream; the Swift client never sends more than 64 KiB.",
      advice: "Send audio in pieces of about 100 ms.",
      reproduce: "A gRPC client that sends 1,000,000 bytes in one message"),
    Definition(
      .contextTooLong, .utterance, .none,
      happens: "The utterance is longer than the server allows.",
      response: "The server ends the stream; the Swift client splits utterances before that.",
      advice: "Stop and start again before five minutes are over.",
      reproduce: "A gRPC client that sends five minutes and one second between start and stop"),
    Definition(
      .contextSplit, .utterance, .none,
      happens: "A long utterance was split at a pause so that it stays below the server's limit.",
      response: "Goes on in the same utterance with linear time.",
      advice: "Nothing. Switch on segmentation at silence to get splits at segment ends only.",
      reproduce: "`voice recognize` with a recording of more than five minutes"),
    Definition(
      .serverOverloaded, .utterance, .retry,
      happens: "The server has no free recogniser.",
      response: "Keeps the audio and tries again after the time that the server names.",
      advice: "Nothing while the recovery is automatic. Add recognisers (`limits.decoders`) or servers.",
      reproduce: "`voice serve --decoders 1` and two `voice recognize --realtime` at once"),
    Definition(
      .serverStopping, .utterance, .retry,
      happens: "The server is shutting down.",
      response: "Connects again and replays, as after a lost connection.",
      advice: "Nothing while the recovery is automatic.",
      reproduce: "Send SIGTERM to `voice serve` during an utterance that is longer than the drain time"),
    Definition(
      .streamIdle, .utterance, .retry,
      happens: "Nothing came over the stream for so long that the server ended it.",
      response: "The server recognises what it has heard, sends that, and ends the stream.",
      advice: "Stop the utterance when nobody speaks any more; start again to go on.",
      reproduce: "A gRPC client that sends start and then nothing for the time in `limits.idle_seconds`"),
    Definition(
      .serverFailed, .utterance, .retry,
      happens: "The server reported an error.",
      response: "Tries again if the status says that this may help.",
      advice: "Look at the server's log; the message has the status.",
      reproduce: "A scripted server that ends the stream with INTERNAL"),
    Definition(
      .protocolViolated, .utterance, .none,
      happens: "The server sent something that the protocol forbids.",
      response: "Ignores that message, keeps everything before it, and goes on.",
      advice: "Report it to whoever runs the server.",
      reproduce: "A scripted server that repeats a final word"),
    Definition(
      .replayDiverged, .utterance, .none,
      happens: "After a reconnect the server heard other words than those already final.",
      response: "Keeps the words that were final.",
      advice: "Nothing.",
      reproduce: "A scripted server that changes its words after a cut"),
    Definition(
      .segmentUnfinished, .utterance, .none,
      happens: "The utterance ended before one of its segments was finished.",
      response: "Delivers what is known of the segment, marked as not final.",
      advice: "Treat the segment as a guess.",
      reproduce: "A scripted server that sends `finished` without `segment_end`"),
  ]

  static let engines: [Definition] = [
    Definition(
      .modelMissing, .process, .changeConfiguration("the model folder"),
      happens: "The model of the recogniser is not installed.",
      response: "Does not start.",
      advice: "Install it (`make setup`, or `apt-get install pocketsphinx-en-us`) or name its folder.",
      reproduce: "`voice recognize --local --model /none-such FILE`"),
    Definition(
      .modelInvalid, .process, .changeConfiguration("the model folder"),
      happens: "The model of the recogniser cannot be used.",
      response: "Does not start.",
      advice: "Install the model again.",
      reproduce: "`voice recognize --local --model /tmp FILE`"),
    Definition(
      .engineLanguageMissing, .process, .changeConfiguration("the language"),
      happens: "No recogniser for this language is installed.",
      response: "Does not start.",
      advice: "Use a language that has a model; `voice doctor` lists them.",
      reproduce: "`voice recognize --local --language fi-FI FILE`"),
    Definition(
      .engineFailed, .utterance, .retry,
      happens: "The recogniser failed.",
      response: "Ends the utterance with what was recognised and makes a new recogniser.",
      advice: "Try again; the cause is in the failure's debug description.",
      reproduce: "`ScriptedEngine` of `VoiceTesting` with a failing step"),
    Definition(
      .engineLibraryMissing, .process, .changeConfiguration("the library path"),
      happens: "A library that is loaded at run time is missing or too old.",
      response: "Does not start that part; the default keeps working.",
      advice: "Install the library, or name its path.",
      reproduce: "`SileroActivityDetector(library: \"/none-such\", model: …)`"),
    Definition(
      .engineLibraryUnsupported, .process, .changeConfiguration("the library path"),
      happens: "A library that is loaded at run time is of a version that the engine cannot call.",
      response: "Does not start; a wrong guess of how the library is called would end the process.",
      advice: "Install one of the versions that the message names.",
      reproduce: "`voice recognize --local --engine sherpa` with sherpa-onnx 1.12.9 in `VOICE_SHERPA_ONNX`"),
  ]
}
