import Foundation
import SpeechPipeline
import Testing
import VoiceCore

@testable import SherpaOnnxRecognition

/// The kinds of encoders, each with the metadata and the state that published models of its kind have.
struct EncoderArchitectureTests {
  private static let others = EncoderArchitecture.allCases.filter { $0 != .lstm }

  private func withModel(
    of form: EncoderArchitecture, _ change: (Data) -> Data = { $0 }, _ body: (SherpaOnnxEngine) throws -> Void
  ) async throws {
    try await TinyModel.withCopy { folder in
      let encoder = try Data(
        contentsOf: URL(fileURLWithPath: "\(TinyModel.folder)/encoders/\(form.rawValue).onnx"))
      try change(encoder).write(to: folder.appending(path: "encoder.onnx"))
      try body(try TinyModel.engine(folder: folder.path))
    }
  }

  @Test(arguments: others)
  func hearsTheSameWithEachKind(form: EncoderArchitecture) async throws {
    let samples = TinyModel.speech(["one", "three", "two", "four", "five"])
    let expected = try TinyModel.engine().makeRecognizer().recognize(samples)
    try await withModel(of: form) { engine in
      let words = try engine.makeRecognizer().recognize(samples)
      #expect(words == expected)
    }
  }

  @Test(arguments: others)
  func eachMissingEntryIsNamed(form: EncoderArchitecture) async throws {
    let path = "\(TinyModel.folder)/encoders/\(form.rawValue).onnx"
    let keys = try ONNXHeader(path: path).metadata.keys.filter { $0 != "version" && $0 != "model_author" }
    #expect(keys.count >= 8)
    for key in keys {
      try await withModel(of: form, { ModelFile.setting(key, to: nil, in: $0) }) { engine in
        let failure = failure { _ = try engine.makeRecognizer() }
        #expect(failure?.code == .modelInvalid)
        #expect(failure?.message.contains("“\(key)”") == true)
      }
    }
  }

  @Test(arguments: [
    (EncoderArchitecture.zipformer2, "num_encoder_layers", "2"), (.zipformer2, "num_heads", "1,1"),
    (.zipformer2, "encoder_dims", "4,"), (.zipformer2, "left_context_len", "-2"),
    (.zipformer2, "query_head_dims", "9"),
    (.zipformer2, "left_context_len", "99999"), (.zipformer, "encoder_dims", "4,4"),
    (.zipformer, "attention_dims", "9"),
    (.zipformer, "num_encoder_layers", "x"), (.conformer, "left_context", "9"),
    (.conformer, "encoder_dim", "99999"),
    (.ebranchformer, "num_hidden_layers", "2"), (.ebranchformer, "num_heads", "0"),
  ])
  func metadataThatDoNotFitAreRefused(form: EncoderArchitecture, key: String, value: String) async throws {
    try await withModel(of: form, { ModelFile.setting(key, to: value, in: $0) }) { engine in
      #expect(failure { _ = try engine.makeRecognizer() }?.code == .modelInvalid)
    }
  }

  @Test(arguments: EncoderArchitecture.allCases, EncoderArchitecture.allCases)
  func anEncoderOfAnotherKindIsRefused(form: EncoderArchitecture, said: EncoderArchitecture) async throws {
    guard form != said, form != .lstm else { return }
    try await withModel(of: form, { ModelFile.setting("model_type", to: said.rawValue, in: $0) }) { engine in
      #expect(failure { _ = try engine.makeRecognizer() }?.code == .modelInvalid)
    }
  }
}
