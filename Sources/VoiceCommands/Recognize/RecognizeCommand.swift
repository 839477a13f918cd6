import ArgumentParser
import Foundation
import PocketSphinxRecognition
import SpeechPipeline
import SpeechStreaming
import SpeechUnderstanding
import VoiceAudio
import VoiceCore
import VoiceServer

/// `voice recognize`: words from files, a microphone, or standard input.
struct RecognizeCommand: ContextCommand {
  static let configuration = CommandConfiguration(
    commandName: "recognize",
    abstract: "Turns recordings, a microphone or standard input into words.",
    usage: """
      voice recognize FILE… [options]
      voice recognize --mic [options]
      … | voice recognize - [options]
      """,
    discussion: """
      Without --server, --local and --config it uses the server named by VOICE_SERVER, else the one on this machine \
      (voice serve), else it recognises in this process.

      With --config it understands too: each segment shows its intent, and the values in it with their entities. A \
      server does so for the apps whose configuration it has.

      Words appear while they are heard; dim ones may still change. Ctrl-C stops listening and waits for the last \
      words, a second Ctrl-C ends at once.
      """)

  @Argument(
    help: ArgumentHelp("Recordings (wav, flac, ogg, opus, mp3), or - for standard input.", valueName: "file"))
  var files: [String] = []

  @Flag(help: "Listen to the microphone.")
  var mic = false

  @Option(help: ArgumentHelp("The microphone, as `voice doctor` lists it.", valueName: "name"))
  var device: String?

  @Option(
    help: ArgumentHelp(
      "Use the server at this address: host, host:port, grpc://host:port or grpc+tls://host:port.",
      valueName: "addr"))
  var server: String?

  @Flag(help: "Recognise in this process, without a server.")
  var local = false

  @Flag(
    help: ArgumentHelp("With a server: go on in this process if the server is lost or cannot be reached."))
  var orLocal = false

  @Option(
    help: ArgumentHelp(
      "Understand in this process, with this configuration: a folder, or a .yaml or .sal file.",
      valueName: "file"))
  var config: String?

  @Option(
    help: ArgumentHelp("The app whose voice interface is used (default: the demo app).", valueName: "uuid"))
  var app: String?

  @Option(help: ArgumentHelp("The language that is spoken (default: that of the app).", valueName: "tag"))
  var language: String?

  @Flag(help: "Send recordings as fast as they were spoken, as if live.")
  var realtime = false

  @Option(
    help: ArgumentHelp(
      "End a segment after this much silence (default: that of the app, else only at the end).",
      valueName: "ms"))
  var silence: Int?

  @Flag(help: "The input has no header: samples as described by --rate, --channels and --encoding.")
  var raw = false

  @Option(help: ArgumentHelp("With --raw: samples per second (default: 16000).", valueName: "hz"))
  var rate: Int?

  @Option(help: ArgumentHelp("With --raw: the number of channels (default: 1).", valueName: "n"))
  var channels: Int?

  @Option(
    help: ArgumentHelp(
      "With --raw: how a sample is written: \(SampleEncoding.allCases.map(\.rawValue).joined(separator: ", ")).",
      valueName: "name"),
    transform: Self.encoding)
  var encoding: SampleEncoding?

  @Option(help: ArgumentHelp("With --local or --config: the folder of the model.", valueName: "dir"))
  var model: String?

  @OptionGroup var engineChoice: EngineOptions

  @Option(
    name: .customLong("tls-ca"),
    help: ArgumentHelp("A PEM file with authorities to trust instead of the system's.", valueName: "file"))
  var trustedCertificates: String?

  @OptionGroup var common: CommonOptions

  func validate() throws {
    if self.files.isEmpty, !self.mic {
      throw ValidationError("Say what to recognise: one or more files, --mic, or - for standard input.")
    }
    if !self.files.isEmpty, self.mic {
      throw ValidationError("Give either files or --mic, not both.")
    }
    if self.files.count(where: { $0 == "-" }) > 1 {
      throw ValidationError("Standard input (-) can be read only once.")
    }
    if self.server != nil, self.local {
      throw ValidationError("--local works without a server: give either --local or --server.")
    }
    if self.config != nil, self.server != nil, !self.orLocal {
      throw ValidationError(
        "--config is for recognition in this process; a server has the configurations of its apps: give --app, "
          + "or --or-local to have it for when the server is lost."
      )
    }
    if self.orLocal, self.local {
      throw ValidationError("--or-local is for use with a server: give either --local or --or-local.")
    }
    if self.orLocal, self.server == nil, self.config != nil {
      throw ValidationError("With --or-local and --config, name the server: --server.")
    }
    if self.device != nil, !self.mic {
      throw ValidationError("--device names a microphone: give --mic as well.")
    }
    if !self.raw, self.rate != nil || self.channels != nil || self.encoding != nil {
      throw ValidationError(
        "--rate, --channels and --encoding describe input without a header: give --raw as well.")
    }
    if self.mic, self.raw || self.realtime {
      throw ValidationError("--raw and --realtime are for recordings, not for --mic.")
    }
    if let silence, !(1...60_000).contains(silence) {
      throw ValidationError("--silence is a time in milliseconds, from 1 to 60000.")
    }
    if self.local || self.config != nil, self.trustedCertificates != nil, !self.orLocal {
      throw ValidationError("--tls-ca is for a server, not for recognition in this process.")
    }
    if self.model != nil, !self.local, self.config == nil, !self.orLocal {
      throw ValidationError("--model is for recognition in this process: give --local as well.")
    }
    if self.engineChoice.isGiven, !self.local, self.config == nil, !self.orLocal {
      throw ValidationError("--engine is for recognition in this process: give --local as well.")
    }
  }

  func run(in context: CommandContext) async -> CommandStatus {
    do throws(VoiceFailure) {
      let inputs = try self.inputs(in: context)
      let backend = try await self.backend(in: context)
      return await self.recognize(inputs, with: backend, in: context)
    } catch {
      return context.fail(error, json: self.common.json)
    }
  }

  private func recognize(
    _ inputs: [RecognitionInput], with backend: any RecognitionBackend, in context: CommandContext
  ) async -> CommandStatus {
    let console = context.console
    let namesSources = inputs.count > 1
    let signals = context.stopSignals
    if self.common.json {
      var run = RecognitionRun(
        backend: backend, inputs: inputs, presenter: JSONPresenter(console: console), stopSignals: signals)
      return await run.run()
    }
    if console.error.isTerminal { console.error.line(StyledText(backend.summary, .dim)) }
    if console.output.movesCursor {
      let presenter = LivePresenter(
        console: console, namesSources: namesSources, margin: namesSources ? 2 : 0,
        hasLiveInput: inputs.contains { $0.isOpenEnded })
      var run = RecognitionRun(backend: backend, inputs: inputs, presenter: presenter, stopSignals: signals)
      return await run.run()
    }
    let presenter = PlainPresenter(console: console, prefix: namesSources ? .source : .none)
    var run = RecognitionRun(backend: backend, inputs: inputs, presenter: presenter, stopSignals: signals)
    return await run.run()
  }

  private static func encoding(named name: String) throws -> SampleEncoding {
    guard let encoding = SampleEncoding(rawValue: name.lowercased()) else {
      throw ValidationError("there is no encoding of this name")
    }
    return encoding
  }

  // MARK: Input

  private func inputs(in context: CommandContext) throws(VoiceFailure) -> [RecognitionInput] {
    if self.mic { return [.microphone(device: self.device, clock: context.clock)] }
    let raw: RawAudioFormat? =
      self.raw
      ? RawAudioFormat(
        sampleRate: self.rate ?? 16_000, channels: self.channels ?? 1, encoding: self.encoding ?? .s16le)
      : nil
    let pacing: Pacing = self.realtime ? .realTime : .unpaced
    var inputs: [RecognitionInput] = []
    for file in self.files {
      guard file == "-" else {
        inputs.append(.file(file, raw: raw, pacing: pacing, clock: context.clock))
        continue
      }
      guard !context.inputIsTerminal else {
        throw VoiceFailure(
          .usage,
          message:
            "Standard input is the keyboard. Pipe audio into it (`… | voice recognize -`), or use --mic.")
      }
      inputs.append(.standardInput(raw: raw, pacing: pacing, clock: context.clock))
    }
    return inputs
  }

  // MARK: Who recognises

  private func backend(in context: CommandContext) async throws(VoiceFailure) -> any RecognitionBackend {
    if let server { return try self.serverBackend(at: server, in: context) }
    if self.local || self.config != nil { return try await self.localBackend(in: context) }
    if let address = context.environment["VOICE_SERVER"], !address.isEmpty {
      return try self.serverBackend(at: address, in: context)
    }
    let defaults = GRPCAddress(
      host: "127.0.0.1", port: ServerConfiguration.defaultGRPCPort, secure: false)
    let place = "\(defaults.host):\(defaults.port)"
    // Who names an app, or trusts a certificate, wants a server: its absence is then a failure.
    let needsServer = self.app != nil || self.trustedCertificates != nil
    switch await ServerProbe(address: defaults, patience: .seconds(1)).ask() {
    case .ready, .notReady:
      return try self.serverBackend(at: place, in: context)
    case .other where needsServer, .nobody where needsServer:
      return try self.serverBackend(at: place, in: context)
    case .other, .nobody:
      return try await self.localBackend(in: context, because: "no server at \(place): ")
    }
  }

  private func localBackend(
    in context: CommandContext, because reason: String = ""
  ) async throws(VoiceFailure) -> LocalBackend {
    let (engine, understanding) = try self.engine(in: context)
    let interface = understanding?.interface
    let grammar = understanding.map { RecognitionGrammar($0) }
    for problem in grammar.map(engine.problems) ?? [] {
      context.warn(problem, json: self.common.json)
    }
    let silence = self.silence.map { .milliseconds($0) } ?? interface?.options.silenceTriggeredSegmentation
    let backend = LocalBackend(
      engine: engine,
      options: ContextOptions(
        silence: silence == .zero ? nil : silence,
        understanding: understanding.map {
          ContextUnderstanding($0, values: .current, grammar: grammar)
        }),
      clock: context.clock, reason: reason)
    try await backend.prepare()
    return backend
  }

  private func engine(
    in context: CommandContext
  ) throws(VoiceFailure) -> (engine: any RecognitionEngine, understanding: Understanding?) {
    let understanding = try self.config.map { path throws(VoiceFailure) in
      try InterfaceFile(path: path).understanding(in: context, json: self.common.json)
    }
    let engine = try self.engineChoice.engine(
      language: self.language ?? understanding?.interface.language, modelFolder: self.model,
      environment: context.environment)
    return (engine, understanding)
  }

  private func serverBackend(
    at text: String, in context: CommandContext
  ) throws(VoiceFailure) -> ServerBackend {
    var configuration = SpeechClient.Configuration(
      app: .app(try Self.identifier(self.app)),
      language: SpeechClient.LanguageCode(rawValue: self.language ?? ""))
    let address = Self.address(text)
    configuration.identityAddress = address
    configuration.speechAddress = address
    configuration.trustedCertificates = self.trustedCertificates
    configuration.store = context.store
    if self.orLocal {
      let (engine, understanding) = try self.engine(in: context)
      configuration.onDevice = OnDeviceRecognition(engine: engine, understanding: understanding)
    }
    return ServerBackend(
      configuration: configuration,
      options: self.silence.map { ["silence_triggered_segmentation": [String($0)]] } ?? [:])
  }

  /// An address as people type it: without a scheme it is one of `voice serve`, without TLS and with its port.
  ///
  /// With a scheme the port is the scheme's, if none is given: 80 or 443.
  static func address(_ text: String) -> String {
    guard !text.contains("://") else { return text }
    let isBareIPv6 =
      text.filter { $0 == ":" }.count > 1
      && text.prefix { $0 != "%" }.allSatisfy { $0.isHexDigit || ":.".contains($0) }
    let host = isBareIPv6 ? "[\(text)]" : text
    // After the bracket of an IPv6 address, a colon begins the port.
    let hasPort = host[(host.lastIndex(of: "]") ?? host.startIndex)...].contains(":")
    return "grpc://\(host)\(hasPort || host.isEmpty ? "" : ":\(ServerConfiguration.defaultGRPCPort)")"
  }

  private static func identifier(_ text: String?) throws(VoiceFailure) -> UUID {
    guard let text else { return ServerConfiguration.App.demo.id }
    guard let id = UUID(uuidString: text) else {
      throw VoiceFailure(
        .loginInvalid,
        message:
          "“\(text)” is not the id of an app: an id is a UUID such as \(ServerConfiguration.App.demo.id.uuidString.lowercased())."
      )
    }
    return id
  }
}
