#if canImport(Speech) && !os(tvOS)
  import AVFoundation
  import CoreMedia
  import Foundation
  import Speech
  public import SpeechPipeline
  import Synchronization
  import VoiceAudio
  public import VoiceCore

  /// The engine over Apple's `SpeechAnalyzer` with `SpeechTranscriber`: always on the device, without a limit of length.
  ///
  /// The language must be installed: ``install(language:)``. A task's vocabulary is handed over, but Apple documents it for
  /// another transcriber only, and ``problems(ofVocabulary:)`` says so.
  @available(macOS 26.0, iOS 26.0, macCatalyst 26.0, visionOS 26.0, *)
  public struct SpeechAnalyzerEngine: RecognitionEngine {
    private let language: String
    public let capabilities: RecognitionCapabilities

    /// Creates an engine; loads nothing, and looks for the language only when a recogniser is made.
    public init(language: String = "en-US") {
      self.language = language
      self.capabilities = RecognitionCapabilities(
        languages: [language], revisesAtEnd: true, reportsConfidence: true,
        maximumAlternatives: SpeechServiceRecognizer.alternativeLimit + 1, detectsVoiceActivity: true)
    }

    public var name: String { "Apple SpeechAnalyzer \(self.language)" }

    /// Downloads what the language needs, if it is not there.
    ///
    /// - Throws: ``VoiceFailure`` with the code `speech.engine.language-missing` or `speech.engine.model-missing`.
    public static func install(language: String) async throws(VoiceFailure) {
      let transcriber = try await SpeechAnalyzerService.transcriber(language: language)
      do {
        try await AssetInventory.assetInstallationRequest(supporting: [transcriber])?.downloadAndInstall()
      } catch {
        throw VoiceFailure(.modelMissing, message: "The language could not be installed.", cause: error)
      }
    }

    /// Makes a recogniser; blocks until it is known whether the language is installed.
    ///
    /// - Throws: ``VoiceFailure`` with the code `speech.engine.language-missing`, `speech.engine.model-missing` or
    ///   `audio.format.not-supported`.
    public func makeRecognizer() throws(VoiceFailure) -> any Recognizer {
      let language = self.language
      let encoding = try Blocking.run { () async throws(VoiceFailure) in
        try await SpeechAnalyzerService.encoding(language: language)
      }
      return SpeechServiceRecognizer(
        service: try SpeechAnalyzerService(language: language, encoding: encoding))
    }

    public func problems(ofVocabulary vocabulary: [String]) -> [VoiceFailure] {
      guard vocabulary.contains(where: { !$0.isEmpty }) else { return [] }
      return [
        VoiceFailure(
          .vocabularyUnknown,
          message:
            "SpeechTranscriber is not documented to prefer phrases; use SFSpeechEngine where that matters.")
      ]
    }
  }

  /// Tasks of `SpeechAnalyzer`: each has an analyser of its own.
  @available(macOS 26.0, iOS 26.0, macCatalyst 26.0, visionOS 26.0, *)
  final class SpeechAnalyzerService: SpeechService {
    private let language: String
    private let format: AVAudioFormat
    private var input: AsyncStream<AnalyzerInput>.Continuation?
    // The service's interface is asynchronous, the recogniser's is not; the task ends with the input or is cancelled.
    private var work: Task<Void, Never>?

    init(language: String, encoding: AVAudioCommonFormat) throws(VoiceFailure) {
      guard
        let format = AVAudioFormat(
          commonFormat: encoding, sampleRate: Double(AudioFormat.recognition.sampleRate), channels: 1,
          interleaved: false)
      else { throw VoiceFailure(.formatNotSupported) }
      self.language = language
      self.format = format
    }

    static func transcriber(language: String) async throws(VoiceFailure) -> SpeechTranscriber {
      guard let locale = await SpeechTranscriber.supportedLocale(equivalentTo: Locale(identifier: language))
      else {
        throw VoiceFailure(
          .engineLanguageMissing, message: "SpeechTranscriber does not know “\(language.prefix(40))”.")
      }
      return SpeechTranscriber(
        locale: locale, transcriptionOptions: [],
        reportingOptions: [.volatileResults, .alternativeTranscriptions],
        attributeOptions: [.audioTimeRange, .transcriptionConfidence])
    }

    /// The encoding that the samples must have, if the language is installed.
    static func encoding(language: String) async throws(VoiceFailure) -> AVAudioCommonFormat {
      let transcriber = try await self.transcriber(language: language)
      guard let format = await SpeechAnalyzer.bestAvailableAudioFormat(compatibleWith: [transcriber]) else {
        throw VoiceFailure(
          .modelMissing,
          message: "“\(language.prefix(40))” is not installed: call SpeechAnalyzerEngine.install.")
      }
      guard format.sampleRate == Double(AudioFormat.recognition.sampleRate), format.channelCount == 1,
        format.commonFormat == .pcmFormatInt16 || format.commonFormat == .pcmFormatFloat32
      else {
        throw VoiceFailure(
          .formatNotSupported,
          message: "SpeechTranscriber wants audio in another format: \(format.sampleRate) Hz.")
      }
      return format.commonFormat
    }

    func start(
      _ request: SpeechServiceRequest, tell: @escaping @Sendable (SpeechRequestMachine.TaskEvent) -> Void
    ) throws(VoiceFailure) {
      let (stream, input) = AsyncStream.makeStream(of: AnalyzerInput.self)
      self.input = input
      let language = self.language
      let phrases = request.contextualStrings
      self.work = Task {
        do {
          tell(
            .final(
              try await SpeechAnalyzerService.recognize(stream, language: language, phrases: phrases, tell)))
        } catch {
          tell(.ended(SpeechAnalyzerService.meaning(of: error)))
        }
      }
    }

    func append(_ samples: UnsafeBufferPointer<Int16>) {
      guard let buffer = AVAudioPCMBuffer(copying: samples, format: self.format) else { return }
      self.input?.yield(AnalyzerInput(buffer: buffer))
    }

    func endAudio() {
      self.input?.finish()
    }

    func cancel() {
      self.input?.finish()
      self.work?.cancel()
      (self.input, self.work) = (nil, nil)
    }

    private static func meaning(of error: any Error) -> SpeechServiceError.Meaning {
      if let failure = error as? VoiceFailure { return .failed(failure) }
      let number = error as NSError
      return SpeechServiceError(domain: number.domain, code: number.code).meaning(cause: error)
    }

    /// Recognises audio until it ends, and tells hypotheses; returns all transcriptions of everything.
    private static func recognize(
      _ stream: AsyncStream<AnalyzerInput>, language: String, phrases: [String],
      _ tell: @escaping @Sendable (SpeechRequestMachine.TaskEvent) -> Void
    ) async throws -> [HeardTranscription] {
      let transcriber = try await self.transcriber(language: language)
      let analyzer = SpeechAnalyzer(modules: [transcriber])
      if !phrases.isEmpty {
        let context = AnalysisContext()
        context.contextualStrings = [.general: phrases]
        try await analyzer.setContext(context)
      }
      async let analysis: Void = self.analyze(stream, with: analyzer)
      let transcriptions = try await self.tellResults(of: transcriber, tell)
      try await analysis
      return transcriptions
    }

    /// Analyses audio until it ends; then the results end too.
    private static func analyze(_ stream: AsyncStream<AnalyzerInput>, with analyzer: SpeechAnalyzer)
      async throws
    {
      do {
        if let end = try await analyzer.analyzeSequence(stream) {
          try await analyzer.finalizeAndFinish(through: end)
        } else {
          await analyzer.cancelAndFinishNow()
        }
      } catch {
        // Or else whoever reads the results would wait for more.
        await analyzer.cancelAndFinishNow()
        throw error
      }
    }

    /// Tells hypotheses until the results end; returns all transcriptions of everything.
    private static func tellResults(
      of transcriber: SpeechTranscriber, _ tell: @Sendable (SpeechRequestMachine.TaskEvent) -> Void
    ) async throws -> [HeardTranscription] {
      var assembler = PhraseAssembler()
      for try await result in transcriber.results {
        tell(
          .hypothesis(
            assembler.heard(result.alternatives.map { HeardTranscription($0) }, isFinal: result.isFinal)))
      }
      return assembler.transcriptions
    }
  }

  @available(macOS 26.0, iOS 26.0, macCatalyst 26.0, visionOS 26.0, *)
  extension HeardTranscription {
    fileprivate init(_ text: AttributedString) {
      self.init(
        segments: text.runs.compactMap { run in
          let range = run[AttributeScopes.SpeechAttributes.TimeRangeAttribute.self]
          let part = String(text[run.range].characters)
          guard part.contains(where: { !$0.isWhitespace }) else { return nil }
          return Segment(
            text: part, start: range?.start.seconds ?? 0, duration: range?.duration.seconds ?? 0,
            confidence: run[AttributeScopes.SpeechAttributes.ConfidenceAttribute.self] ?? 0)
        })
    }
  }

  /// Waits on a thread that may block for what is asynchronous.
  private enum Blocking {
    static func run<Value: Sendable>(
      _ body: @escaping @Sendable () async throws(VoiceFailure) -> Value
    ) throws(VoiceFailure) -> Value {
      let done = DispatchSemaphore(value: 0)
      let result = Answer<Value>()
      Task {
        do throws(VoiceFailure) {
          result.set(.success(try await body()))
        } catch {
          result.set(.failure(error))
        }
        done.signal()
      }
      done.wait()
      guard let result = result.value else { throw VoiceFailure(.engineFailed) }
      return try result.get()
    }

    private final class Answer<Value: Sendable>: Sendable {
      private let kept = Mutex<Result<Value, VoiceFailure>?>(nil)

      var value: Result<Value, VoiceFailure>? { self.kept.withLock { $0 } }

      func set(_ value: Result<Value, VoiceFailure>) { self.kept.withLock { $0 = value } }
    }
  }
#endif
