import CSherpaOnnx
import Foundation
import Synchronization
import VoiceCore

/// A model in memory, for any number of recognisers.
// @unchecked: a C handle that is only read after it was made; the library computes with several streams of a model at a time.
final class LoadedModel: @unchecked Sendable {
  let handle: OpaquePointer
  /// How many samples of silence bring out the last word: a whole chunk behind the last one that has speech, and what the
  /// search may lag behind.
  let tailLength: Int
  let tokens: TokenTable
  let prefersPhrases: Bool

  /// - Throws: ``VoiceFailure`` with a code of ``SherpaOnnxEngine/makeRecognizer()``.
  init(_ configuration: SherpaOnnxEngine.Configuration) throws(VoiceFailure) {
    let library = try SherpaOnnxLibrary.load(configuration.library)
    let model = configuration.model
    let check = try ModelCheck(model)
    let usesPieces = configuration.prefersPhrases
    var handle: OpaquePointer?
    let text = check.tokens.text
    let reason = CText.reason { message, capacity in
      Self.withCStrings([
        model.encoder, model.decoder, model.joiner, text, check.type, "bpe", model.pieceScores ?? "",
      ]) { texts in
        var options = vso_options()
        options.encoder = texts[0]
        options.decoder = texts[1]
        options.joiner = texts[2]
        options.tokens = texts[3]
        options.tokens_length = Int32(clamping: text.utf8.count)
        options.model_type = texts[4]
        options.modeling_unit = usesPieces ? texts[5] : nil
        options.bpe_vocabulary = usesPieces ? texts[6] : nil
        options.sample_rate = Int32(SherpaOnnxEngine.sampleRate)
        options.feature_count = Int32(clamping: check.featureCount)
        options.threads = Int32(clamping: min(64, max(1, configuration.threadCount)))
        options.beam_width = Int32(clamping: configuration.beamWidth)
        Self.loading.lock()
        defer { Self.loading.unlock() }
        handle = vso_model_create(library.handle, &options, message, capacity)
      }
    }
    guard let handle else { throw Self.invalid(model, reason) }
    self.handle = handle
    self.tokens = check.tokens
    self.prefersPhrases = usesPieces
    let samplesPerFrame = SherpaOnnxEngine.sampleRate / 100
    self.tailLength = (check.chunkLength + check.chunkShift + Self.lagFrames) * samplesPerFrame
    // What does not fit together shows when it is computed.
    var stream: OpaquePointer?
    let complaint = CText.reason { message, capacity in
      stream = vso_stream_create(handle, nil, message, capacity)
      if let stream { _ = vso_stream_hear_silence(stream, self.tailLength, message, capacity) }
    }
    vso_stream_free(stream)
    guard complaint.isEmpty else { throw Self.invalid(model, complaint) }
  }

  deinit {
    Self.loading.lock()
    defer { Self.loading.unlock() }
    vso_model_free(self.handle)
  }

  /// Each model sets up ONNX Runtime and takes it down; nobody promises that two may do so at once.
  private static let loading = NSLock()

  /// How many frames of 10 ms a model may say a word after it was spoken.
  private static let lagFrames = 30

  private static func invalid(_ model: SherpaOnnxModel, _ reason: String) -> VoiceFailure {
    let folder = URL(fileURLWithPath: model.encoder).deletingLastPathComponent().path
    return VoiceFailure(
      .modelInvalid,
      message: "The model in \(folder) cannot be used: its networks cannot be loaded or computed.",
      cause: CText.Reason(text: reason))
  }

  /// Calls a body with copies of texts that are valid until it returns.
  private static func withCStrings(_ texts: [String], _ body: ([UnsafePointer<CChar>?]) -> Void) {
    let copies = texts.map { strdup($0) }
    defer { for copy in copies { free(copy) } }
    body(copies.map { $0.map { UnsafePointer($0) } })
  }
}

/// Hands out the loaded model of an engine, as long as somebody uses it the same.
final class LoadedModels: Sendable {
  private struct Entry: Sendable {
    weak var model: LoadedModel?
  }

  private let entry = Mutex(Entry())

  /// Loads the model unless it is loaded; others wait meanwhile.
  func model(_ configuration: SherpaOnnxEngine.Configuration) throws(VoiceFailure) -> LoadedModel {
    let result = self.entry.withLock { entry in
      Result { () throws(VoiceFailure) in
        if let model = entry.model { return model }
        let model = try LoadedModel(configuration)
        entry.model = model
        return model
      }
    }
    return try result.get()
  }
}
