import Foundation
import Testing
import VoiceCore
import VoiceTesting

@testable import SherpaOnnxRecognition

struct SherpaOnnxModelTests {
  private func withFolder(of names: [String], _ body: (String) throws -> Void) async throws {
    try await withTemporaryFolder { folder in
      for name in names { try Data().write(to: folder.appending(path: name)) }
      try body(folder.path)
    }
  }

  private func name(_ path: String?) -> String? { path?.split(separator: "/").last.map(String.init) }

  @Test func aMissingFolderIsNamed() {
    for place in ["/none-such", "/etc/hostname"] {
      let failure = failure { _ = try SherpaOnnxModel.find(in: place) }
      #expect(failure?.code == .modelMissing)
      #expect(failure?.message.contains(place) == true)
    }
  }

  @Test(arguments: ["encoder.onnx", "decoder.onnx", "joiner.onnx", "tokens.txt"])
  func aMissingFileIsNamed(file: String) async throws {
    try await withFolder(of: TinyModel.files.filter { $0 != file }) { folder in
      let failure = failure { _ = try SherpaOnnxModel.find(in: folder) }
      #expect(failure?.code == .modelMissing)
      #expect(failure?.message.contains("holds no \(file)") == true)
    }
  }

  @Test func findsTheFilesAsTheyArePublished() async throws {
    let floats = ["encoder", "decoder", "joiner"].map { "\($0)-epoch-99-avg-1.onnx" }
    let names = floats.map { $0.replacingOccurrences(of: ".onnx", with: ".int8.onnx") }
    try await withFolder(of: floats + names + ["tokens.txt", "bpe.model", "README.md"]) { folder in
      let model = try SherpaOnnxModel.find(in: folder)
      #expect([model.encoder, model.decoder, model.joiner].map(name) == floats)
      #expect(name(model.tokens) == "tokens.txt")
      #expect(model.pieceScores == nil)
    }
    try await withFolder(of: names + ["tokens.txt", "bpe.vocab"]) { folder in
      let model = try SherpaOnnxModel.find(in: folder)
      #expect([model.encoder, model.decoder, model.joiner].map(name) == names)
      #expect(name(model.pieceScores) == "bpe.vocab")
    }
  }

  @Test func doesNotChooseAmongSeveral() async throws {
    try await withFolder(of: TinyModel.files + ["encoder-epoch-9.onnx"]) { folder in
      let failure = failure { _ = try SherpaOnnxModel.find(in: folder) }
      #expect(failure?.code == .modelInvalid)
      #expect(failure?.message.contains("encoder-epoch-9.onnx, encoder.onnx") == true)
    }
  }
}
