import CSndFile
import Foundation
import PocketSphinxRecognition
import SherpaOnnxRecognition
import SpeechPipeline
import SpeechStreaming
import VoiceAudio
import VoiceCore
import VoicePlatform
import VoiceServer

/// The checks of `voice doctor`, in the order in which they are shown.
struct DoctorChecks: Sendable {
  var environment: [String: String]

  static let nameWidth = 11

  var all: [@Sendable () async -> [Diagnosis]] {
    [
      { await self.recogniser() }, { [self.noise()] }, { [await self.sherpa()] },
      { self.formats() },
      { await self.microphones() }, { await self.speakers() }, { await self.server() },
      { [await self.httpPort()] }, { self.folders() }, { [self.recordings()] },
    ]
  }

  // MARK: Recognition

  func recogniser() async -> [Diagnosis] {
    let folder = self.environment[PocketSphinxModel.folderVariable].flatMap { $0.isEmpty ? nil : $0 }
    let engine: PocketSphinxEngine
    do throws(VoiceFailure) {
      var configuration = try PocketSphinxEngine(modelFolder: folder).configuration
      // It has a check of its own.
      configuration.noiseLibrary = nil
      engine = PocketSphinxEngine(configuration: configuration)
    } catch {
      return [
        .broken(
          "Recogniser", error.message, fix: "`sudo apt-get install pocketsphinx-en-us`, or `make setup`")
      ]
    }
    let place = folder ?? PocketSphinxModel.systemFolder
    let models = PocketSphinxModel.installed(in: folder).map(\.language).joined(separator: ", ")
    let pool = RecognizerPool(engine: engine, size: 1)
    let clock = MonotonicClock()
    let start = clock.now
    do throws(VoiceFailure) {
      try await pool.load()
    } catch {
      return [
        .broken(
          "Recogniser", error.message,
          fix: "Install the model again: `sudo apt-get install --reinstall pocketsphinx-en-us`")
      ]
    }
    let time = Phrases.duration(start.duration(to: clock.now))
    await pool.shutdown()
    return [
      .good("Recogniser", "PocketSphinx with the model for \(models) in \(place), loaded in \(time)"),
      Self.pronunciation(engine.configuration.model),
    ]
  }

  /// Whether words beyond the dictionary can be recognised.
  private static func pronunciation(_ model: PocketSphinxModel) -> Diagnosis {
    let word = "kotlin"
    do throws(VoiceFailure) {
      let findings = try Pronouncer(model: model).pronunciations(of: [word])
      if let sound = findings.pronunciations[word]?.first {
        return .good(
          "New words", "words that the dictionary lacks are said as they are spelled: “\(word)” as \(sound)")
      }
      return .warning(
        "New words", "words that the dictionary for \(model.language) lacks cannot be recognised",
        fix: "Use words of \(model.dictionary) in templates, or add them to it.")
    } catch {
      return .broken(
        "New words", error.message,
        fix: "Install the model again: `sudo apt-get install --reinstall pocketsphinx-en-us`")
    }
  }

  /// The library that takes noise out of commands; nothing is wrong without one.
  func noise() -> Diagnosis {
    let variable = PocketSphinxEngine.noiseLibraryVariable
    guard let library = self.environment[variable], !library.isEmpty else {
      return .good(
        "Noise", "commands are recognised as they sound; \(variable) names a library that takes noise out")
    }
    do throws(VoiceFailure) {
      try PocketSphinxEngine.checkNoiseLibrary(library)
      return .good("Noise", "RNNoise in \(library) takes noise out of commands")
    } catch {
      return .broken("Noise", error.message, fix: "`make setup-noise`, or unset \(variable)")
    }
  }

  /// The engine for models that the user brings; nothing is wrong without one.
  func sherpa() async -> Diagnosis {
    func variable(_ name: String) -> String? { self.environment[name].flatMap { $0.isEmpty ? nil : $0 } }
    let library = variable(SherpaOnnxEngine.libraryVariable)
    let folder = variable(SherpaOnnxModel.folderVariable)
    guard library != nil || folder != nil else {
      return .good(
        "sherpa-onnx",
        "not set up; \(SherpaOnnxEngine.libraryVariable) and \(SherpaOnnxModel.folderVariable) name a library and a model"
      )
    }
    do throws(VoiceFailure) {
      guard let library else {
        throw VoiceFailure(
          .engineLibraryMissing, message: "\(SherpaOnnxEngine.libraryVariable) does not name the library.")
      }
      guard let folder else {
        throw VoiceFailure(.modelMissing, message: "\(SherpaOnnxModel.folderVariable) does not name a model.")
      }
      let clock = MonotonicClock()
      let start = clock.now
      let pool = RecognizerPool(engine: try SherpaOnnxEngine(library: library, modelFolder: folder), size: 1)
      try await pool.load()
      let time = Phrases.duration(start.duration(to: clock.now))
      await pool.shutdown()
      return .good("sherpa-onnx", "the model in \(folder), loaded in \(time)")
    } catch {
      return .broken("sherpa-onnx", error.message, fix: FailureCatalogue.definition(of: error.code)?.advice)
    }
  }

  // MARK: Audio

  func formats() -> [Diagnosis] {
    let library = String(cString: sf_version_string())
    let wanted: [(name: String, format: Int)] = [
      ("wav", Int(SF_FORMAT_WAV) | Int(SF_FORMAT_PCM_16)),
      ("flac", Int(SF_FORMAT_FLAC) | Int(SF_FORMAT_PCM_16)),
      ("ogg", Int(SF_FORMAT_OGG) | Int(SF_FORMAT_VORBIS)), ("opus", Int(SF_FORMAT_OGG) | Int(SF_FORMAT_OPUS)),
      ("mp3", Int(SF_FORMAT_MPEG) | Int(SF_FORMAT_MPEG_LAYER_III)),
    ]
    let missing = wanted.filter { entry in
      var info = SF_INFO()
      info.samplerate = 48_000
      info.channels = 1
      info.format = Int32(truncatingIfNeeded: entry.format)
      return sf_format_check(&info) == 0
    }
    let readable = wanted.map(\.name).filter { name in !missing.contains { $0.name == name } }
    guard missing.isEmpty else {
      let names = missing.map(\.name).joined(separator: ", ")
      return [
        .warning(
          "Audio files", "\(library) reads \(readable.joined(separator: ", ")), but not \(names)",
          fix: "Install libsndfile 1.1 or newer: `sudo apt-get install libsndfile1`")
      ]
    }
    return [.good("Audio files", "\(library) reads \(readable.joined(separator: ", "))")]
  }

  /// What ALSA lists beside devices: the default itself, and converters that no sound comes from.
  private static let notDevices: Set = [
    Microphone.defaultDevice, "lavrate", "samplerate", "speexrate", "speex", "upmix", "vdownmix", "jack",
    "oss",
  ]

  func microphones() async -> [Diagnosis] {
    let state = await SystemMicrophonePermission().state()
    guard state != .notDetermined else {
      return [.good("Microphone", "nobody has been asked yet whether it may be used; recognize --mic asks")]
    }
    if let failure = state.failure { return [Self.microphoneWarning(failure)] }
    let devices = await Microphone.devices().filter { device in
      device.label != device.name && !Self.notDevices.contains(device.name)
    }
    let names = devices.prefix(3).map { "\($0.name) (\($0.label))" }
    let others = names.isEmpty ? "" : "; others: " + names.joined(separator: ", ")
    do throws(VoiceFailure) {
      // A device may be listed and still not open: only opening it tells.
      let capture = try await Microphone().capture()
      capture.stop()
      return [.good("Microphone", "the device “\(Microphone.defaultDevice)” can be opened\(others)")]
    } catch {
      return [Self.microphoneWarning(error)]
    }
  }

  private static func microphoneWarning(_ failure: VoiceFailure) -> Diagnosis {
    .warning(
      "Microphone", "\(failure.message) Recordings and pipes work without one.",
      fix: FailureCatalogue.definition(of: failure.code)?.advice)
  }

  func speakers() async -> [Diagnosis] {
    let devices = await Speaker.devices().filter { device in
      device.label != device.name && !Self.notDevices.contains(device.name)
    }
    let names = devices.prefix(3).map { "\($0.name) (\($0.label))" }
    let others = names.isEmpty ? "" : "; others: " + names.joined(separator: ", ")
    do throws(VoiceFailure) {
      try await Speaker().check()
      return [.good("Loudspeaker", "the device “\(Speaker.defaultDevice)” can be opened\(others)")]
    } catch {
      return [
        .warning(
          "Loudspeaker", "\(error.message) Calls are not heard without one.",
          fix: FailureCatalogue.definition(of: error.code)?.advice)
      ]
    }
  }

  // MARK: Network

  func server() async -> [Diagnosis] {
    let text = self.environment["VOICE_SERVER"].flatMap { $0.isEmpty ? nil : $0 } ?? "grpc://127.0.0.1:50051"
    let isNamed = !(self.environment["VOICE_SERVER"] ?? "").isEmpty
    let address: GRPCAddress
    do {
      address = try GRPCAddress(addr: RecognizeCommand.address(text))
    } catch {
      return [
        .broken(
          "Server", "VOICE_SERVER is “\(GRPCAddress.withoutUserInfo(text))”, which is not an address",
          fix: "Write grpc://host:port or grpc+tls://host:port, or remove the variable.")
      ]
    }
    let place = "\(address.host):\(address.port)"
    switch await ServerProbe(address: address).ask() {
    case .ready:
      return [.good("Server", "a speech server answers at \(place)")]
    case .notReady:
      return [
        .warning("Server", "the server at \(place) is loading or stopping", fix: "Try again in a moment.")
      ]
    case .other where isNamed:
      return [
        .broken(
          "Server", "no speech server answers at \(place), which VOICE_SERVER names",
          fix: "Check the address and that the server runs.")
      ]
    case .nobody where isNamed:
      return [
        .broken(
          "Server", "nothing listens at \(place), which VOICE_SERVER names",
          fix: "Start the server, or correct the variable.")
      ]
    case .other:
      return [
        .warning(
          "Server", "another program listens at \(place)", fix: "`voice serve --port 0` takes a free port.")
      ]
    case .nobody:
      return [
        .good("Server", "none is running; port \(address.port) is free for voice serve")
      ]
    }
  }

  func httpPort() async -> Diagnosis {
    switch await PortProbe.ask(port: 8080) {
    case .free: .good("HTTP port", "8080 is free")
    case .ours: .good("HTTP port", "8080 belongs to voice serve")
    case .other:
      .warning(
        "HTTP port", "another program listens at 8080", fix: "`voice serve --http-port 0` takes a free port.")
    case .notUsable(let reason):
      .warning("HTTP port", "8080 cannot be used: \(reason)", fix: "`voice serve --http-port N`")
    }
  }

  // MARK: Files

  func folders() -> [Diagnosis] {
    let folder = StateDirectory(
      path: StateDirectory.standardPath(environment: self.environment), codes: .client)
    let shown = Paths.abbreviated(folder.path, environment: self.environment)
    do throws(VoiceFailure) {
      try folder.prepare()
    } catch {
      return [
        .broken("State", error.message, fix: "Make it writable, or set XDG_STATE_HOME to a folder that is.")
      ]
    }
    let attributes = try? FileManager.default.attributesOfItem(atPath: folder.path)
    let mode = (attributes?[.posixPermissions] as? NSNumber)?.intValue ?? 0
    let octal = String(mode, radix: 8)
    guard mode & 0o077 == 0 else {
      return [
        .warning(
          "State", "\(shown) is writable, but others can look into it (mode \(octal))",
          fix: "`chmod 700 \(folder.path)`")
      ]
    }
    return [.good("State", "\(shown) is writable and private (mode \(octal))")]
  }

  func recordings() -> Diagnosis {
    guard [DemoRecording.command, .sentence].allSatisfy(\.isInstalled) else {
      return .warning(
        "Demo", "the recordings for voice demo are not installed",
        fix: "`sudo apt-get install pocketsphinx-testdata`, or `make setup`")
    }
    return .good("Demo", "the recordings for voice demo are installed")
  }
}
