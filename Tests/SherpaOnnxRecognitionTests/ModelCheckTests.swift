import Foundation
import SpeechPipeline
import Testing
import VoiceCore
import VoiceTesting

@testable import SherpaOnnxRecognition

/// Models that are broken in some way. Most of them end a process that gives them to the library as they are.
struct ModelCheckTests {
  /// Something that is wrong with a file, and what the failure must say of it.
  struct Defect: Sendable, CustomTestStringConvertible {
    var file: String
    var says: String
    var change: @Sendable (Data) -> Data
    var name: String

    var testDescription: String { "\(self.file): \(self.name)" }

    static func metadata(_ file: String, _ key: String, _ value: String?, says: String? = nil) -> Defect {
      Defect(
        file: "\(file).onnx", says: says ?? "“\(key)”", change: { ModelFile.setting(key, to: value, in: $0) },
        name: "\(key) = \(value ?? "nothing")")
    }

    static func text(_ file: String, _ text: String, says: String) -> Defect {
      Defect(file: file, says: says, change: { _ in Data(text.utf8) }, name: says)
    }
  }

  static let metadata: [Defect] = [
    .metadata("encoder", "model_type", nil), .metadata("encoder", "model_type", ""),
    .metadata("encoder", "model_type", "whisper", says: "this engine loads conformer"),
    .metadata("encoder", "model_type", "zipformer2", says: "“encoder_dims”"),
    .metadata("encoder", "model_type", "zipformer", says: "“encoder_dims”"),
    .metadata("encoder", "model_type", "conformer", says: "“pad_length”"),
    .metadata("encoder", "model_type", "ebranchformer", says: "“num_hidden_layers”"),
    .metadata("encoder", "T", nil), .metadata("encoder", "T", "abc"), .metadata("encoder", "T", "0"),
    .metadata("encoder", "T", "2000000000"), .metadata("encoder", "T", "17", says: "17"),
    .metadata("encoder", "decode_chunk_len", "0"), .metadata("encoder", "decode_chunk_len", "-1"),
    .metadata("encoder", "decode_chunk_len", "17"), .metadata("encoder", "decode_chunk_len", nil),
    .metadata("encoder", "num_encoder_layers", nil), .metadata("encoder", "rnn_hidden_size", nil),
    .metadata("encoder", "d_model", "2000000000"),
    .metadata("encoder", "num_encoder_layers", "99999", says: "cannot be"),
    .metadata("encoder", "d_model", "9", says: "cannot be used"),
    .metadata("decoder", "vocab_size", nil), .metadata("decoder", "vocab_size", "200000000"),
    .metadata("decoder", "vocab_size", "1000000", says: "do not belong together"),
    .metadata("decoder", "vocab_size", "5", says: "do not belong together"),
    .metadata("decoder", "context_size", "0"),
    .metadata("decoder", "context_size", "1", says: "do not belong together"),
    .metadata("decoder", "streaming_model_type", "nemo_parakeet_unified_streaming", says: "NeMo"),
  ]

  static let tokens: [Defect] = [
    .text("tokens.txt", "", says: "no token 0"), .text("tokens.txt", "<blk> 0\n", says: "no token 1"),
    .text("tokens.txt", "<blk> 0\na b 1\n", says: "line 2"), .text("tokens.txt", "<blk> x\n", says: "line 1"),
    .text("tokens.txt", "<blk> 0\nA -1\n", says: "line 2"),
    .text("tokens.txt", "<blk> 0\nA 99999999999999999999\n", says: "line 2"),
    .text("tokens.txt", "<blk> 0\nA 0\n", says: "number 0"),
    .text("tokens.txt", "<blk>\0 0\n", says: "UTF-8"),
    Defect(
      file: "tokens.txt", says: "UTF-8", change: { _ in Data([0x80, 0xff, 0x20, 0x30]) }, name: "no text"),
    .text("tokens.txt", (0..<10).map { "\($0 == 9 ? "\u{18f}" : "a\($0)") \($0)\n" }.joined(), says: "BBPE"),
    .text("bpe.vocab", "A\n", says: "line 1"), .text("bpe.vocab", "A 0\nB x\n", says: "line 2"),
    .text("bpe.vocab", "A 0\n\nB 1\n", says: "line 2"),
  ]

  static let files: [Defect] = ["encoder.onnx", "decoder.onnx", "joiner.onnx"].flatMap { file in
    [
      Defect.text(file, "", says: "not an ONNX file"),
      .text(file, String(repeating: "hello world", count: 50), says: "not an ONNX file"),
      Defect(file: file, says: "not an ONNX file", change: { $0.prefix($0.count / 2) }, name: "cut off"),
    ]
  }

  @Test(arguments: metadata + tokens + files)
  func aDefectIsAFailureThatNamesIt(defect: Defect) async throws {
    try await TinyModel.withCopy { folder in
      let file = folder.appending(path: defect.file)
      try defect.change(try Data(contentsOf: file)).write(to: file)
      let engine = try TinyModel.engine(folder: folder.path, search: .beam(width: 2))
      let failure = failure { _ = try engine.makeRecognizer() }
      #expect(failure?.code == .modelInvalid)
      #expect(failure?.message.contains(defect.says) == true, "\(failure.debugDescription)")
      #expect(failure?.message.contains(folder.path) == true)
      // The library and the process are as good as before.
      let words = try TinyModel.engine().makeRecognizer().recognize(TinyModel.speech(["one"]))
      #expect(words.map(\.text) == ["one"])
    }
  }

  @Test(arguments: [
    ("encoder.onnx", "decoder.onnx"), ("decoder.onnx", "encoder.onnx"), ("joiner.onnx", "decoder.onnx"),
    ("encoder.onnx", "joiner.onnx"), ("decoder.onnx", "joiner.onnx"), ("joiner.onnx", "encoder.onnx"),
  ])
  func aNetworkInThePlaceOfAnotherIsRefused(file: String, other: String) async throws {
    try await TinyModel.withCopy { folder in
      try Data(contentsOf: folder.appending(path: other)).write(to: folder.appending(path: file))
      let engine = try TinyModel.engine(folder: folder.path)
      #expect(failure { _ = try engine.makeRecognizer() }?.code == .modelInvalid)
    }
  }

  @Test(arguments: TinyModel.files.dropLast())
  func aFileThatDisappearedIsNamed(file: String) async throws {
    try await TinyModel.withCopy { folder in
      let engine = try TinyModel.engine(folder: folder.path)
      try FileManager.default.removeItem(at: folder.appending(path: file))
      let failure = failure { _ = try engine.makeRecognizer() }
      #expect(failure?.code == .modelMissing)
      #expect(failure?.message.contains(file) == true)
    }
  }

  @Test func anEngineRecoversWhenItsModelIsRepaired() async throws {
    try await TinyModel.withCopy { folder in
      let engine = try TinyModel.engine(folder: folder.path)
      let file = folder.appending(path: "encoder.onnx")
      let good = try Data(contentsOf: file)
      try Data().write(to: file)
      #expect(failure { _ = try engine.makeRecognizer() }?.code == .modelInvalid)
      try good.write(to: file)
      #expect(try engine.makeRecognizer().recognize(TinyModel.speech(["two"])).map(\.text) == ["two"])
    }
  }

  @Test func tokensWithoutNetworksAreAllowed() async throws {
    try await TinyModel.withCopy { folder in
      let file = folder.appending(path: "tokens.txt")
      let text = try String(contentsOf: file, encoding: .utf8)
      try (text.replacingOccurrences(of: "\n", with: "\r\n") + "#0 10\n#1 11\n\n").write(
        to: file, atomically: true, encoding: .utf8)
      let recognizer = try TinyModel.engine(folder: folder.path).makeRecognizer()
      #expect(try recognizer.recognize(TinyModel.speech(["three"])).map(\.text) == ["three"])
    }
  }
}

struct ONNXHeaderTests {
  private func data(_ file: String) throws -> Data {
    try Data(contentsOf: URL(fileURLWithPath: "\(TinyModel.folder)/\(file)"))
  }

  @Test func readsWhatAFileSaysOfItself() throws {
    let header = try ONNXHeader(try data("encoder.onnx"))
    #expect(header.metadata["model_type"] == "lstm")
    #expect(header.metadata["T"] == "16")
    #expect(header.inputs.map(\.name) == ["x", "h", "c"])
    #expect(header.inputs.first?.shape == [nil, 16, 80])
    #expect(header.outputs.map(\.name) == ["encoder_out", "next_h", "next_c"])
    #expect(header.outputs.allSatisfy { $0.type == .float })
    #expect(try ONNXHeader(try data("decoder.onnx")).inputs.first?.type == .int64)
  }

  @Test func aFileThatIsCutAnywhereIsReadOrRefused() throws {
    let data = try data("encoder.onnx")
    for length in 0..<data.count { _ = try? ONNXHeader(data.prefix(length)) }
    #expect(throws: ONNXHeader.Problem.notONNX) { _ = try ONNXHeader(data.dropLast()) }
  }

  @Test func anyBytesAreReadOrRefused() throws {
    var random = SeededGenerator(seed: 7)
    let data = try data("encoder.onnx")
    for _ in 0..<2000 {
      var broken = data
      for _ in 0..<Int.random(in: 1...8, using: &random) {
        broken[Int.random(in: 0..<broken.count, using: &random)] = UInt8.random(in: 0...255, using: &random)
      }
      _ = try? ONNXHeader(broken)
    }
  }

  @Test func aLengthBeyondTheFileIsRefused() {
    for bytes in [
      [0x3a, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1], [0x3a, 0x80], [0x3a, 5, 1],
    ] as [[UInt8]] {
      #expect(throws: ONNXHeader.Problem.notONNX) { _ = try ONNXHeader(Data(bytes)) }
    }
    #expect(throws: ONNXHeader.Problem.notReadable) { _ = try ONNXHeader(path: "/none-such") }
  }
}
