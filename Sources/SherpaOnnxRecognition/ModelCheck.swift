import Foundation
import VoiceCore

/// What is known of a model after its files were looked at.
///
/// The recognition library ends the process, or reads beyond its memory, if metadata are missing or do not fit: what it takes
/// on trust is checked here.
struct ModelCheck: Hashable, Sendable {
  /// How the encoder is built, as its metadata say.
  let type: String
  /// How many frames of 10 ms the encoder takes at a time.
  let chunkLength: Int
  /// By how many frames it goes on.
  let chunkShift: Int
  /// How many bands of frequencies it hears.
  let featureCount: Int
  let tokens: TokenTable

  /// Looks at the files.
  ///
  /// - Throws: ``VoiceFailure`` with code `speech.engine.model-missing` or `speech.engine.model-invalid`; the message names
  ///   the file.
  init(_ model: SherpaOnnxModel) throws(VoiceFailure) {
    let encoder = try ModelPart(model.encoder)
    let decoder = try ModelPart(model.decoder)
    let joiner = try ModelPart(model.joiner)
    guard !decoder.isNeMo else {
      throw decoder.invalid(
        "belongs to a NeMo model, which this engine does not load: give a transducer of icefall")
    }
    let vocabularySize = try decoder.number("vocab_size", in: 2...1_000_000)
    let contextSize = try decoder.number("context_size", in: 1...16)
    try decoder.check(inputs: [.int64], outputs: [.float], rank: 2)
    try joiner.check(inputs: [.float, .float], outputs: [.float], rank: 2)
    try decoder.check("takes", decoder.inputLength(0, at: 1), contextSize, "tokens of context")
    try joiner.check("gives", joiner.outputLength(0, at: 1), vocabularySize, "scores")
    try joiner.check(
      "takes", joiner.inputLength(1, at: 1), decoder.outputLength(0, at: 1), "numbers of the decoder")

    self.type = try encoder.text("model_type")
    guard let architecture = EncoderArchitecture(rawValue: self.type) else {
      let known = EncoderArchitecture.allCases.map(\.rawValue).joined(separator: ", ")
      throw encoder.invalid("is of the type “\(self.type.prefix(40))”; this engine loads \(known)")
    }
    self.chunkLength = try encoder.number("T", in: 1...10_000)
    self.chunkShift = try encoder.number("decode_chunk_len", in: 1...self.chunkLength)
    try architecture.check(encoder)
    try encoder.check("takes", encoder.inputLength(0, at: 1), self.chunkLength, "frames")
    try joiner.check(
      "takes", joiner.inputLength(0, at: 1), encoder.outputLength(0, at: 2), "numbers of the encoder")
    self.featureCount = encoder.inputLength(0, at: 2) ?? 80
    guard (20...256).contains(self.featureCount) else {
      throw encoder.invalid("hears \(self.featureCount) bands of frequencies; 20 to 256 are possible")
    }
    self.tokens = try Self.tokens(model.tokens, count: vocabularySize)
    if let file = model.pieceScores { try Self.checkScores(file) }
  }

  private static func tokens(_ path: String, count: Int) throws(VoiceFailure) -> TokenTable {
    let data = try ModelPart.contents(of: path)
    let table: TokenTable
    do throws(TokenTable.Problem) {
      table = try TokenTable(data)
    } catch {
      switch error {
      case .notText: throw ModelPart.invalid(path, "is not a text in UTF-8")
      case .line(let line):
        throw ModelPart.invalid(
          path, "must have a token and its number on each line, but line \(line) has not")
      case .doubled(let number): throw ModelPart.invalid(path, "has two tokens with the number \(number)")
      }
    }
    if let missing = table.firstMissing(below: count) {
      throw ModelPart.invalid(path, "has no token \(missing), but the model has \(count) tokens, from 0")
    }
    guard !table.isByteLevel else {
      throw ModelPart.invalid(
        path, "has bytes as tokens (BBPE), which this engine cannot put together to words")
    }
    return table
  }

  /// Checks the lines of `bpe.vocab`: a piece and its score on each.
  private static func checkScores(_ path: String) throws(VoiceFailure) {
    guard let text = String(data: try ModelPart.contents(of: path), encoding: .utf8) else {
      throw ModelPart.invalid(path, "is not a text in UTF-8")
    }
    let lines = text.unicodeScalars.split(separator: "\n", omittingEmptySubsequences: false)
    for (index, line) in lines.enumerated() where !(line.isEmpty && index == lines.count - 1) {
      let fields = line.split { $0 == " " || ("\t"..."\r").contains($0) }
      guard fields.count == 2, let score = Float(String(fields[1])), score.isFinite else {
        throw ModelPart.invalid(
          path, "must have a piece and its score on each line, but line \(index + 1) has not")
      }
    }
  }
}

/// One of the networks of a model, with what its file says of it.
struct ModelPart: Sendable {
  let path: String
  let header: ONNXHeader

  init(_ path: String) throws(VoiceFailure) {
    self.path = path
    guard FileManager.default.isReadableFile(atPath: path) else { throw Self.missing(path) }
    do throws(ONNXHeader.Problem) {
      self.header = try ONNXHeader(path: path)
    } catch {
      switch error {
      case .notReadable: throw Self.missing(path)
      case .notONNX: throw Self.invalid(path, "is cut off, or not an ONNX file")
      }
    }
  }

  static func contents(of path: String) throws(VoiceFailure) -> Data {
    guard let data = FileManager.default.contents(atPath: path) else { throw self.missing(path) }
    return data
  }

  static func missing(_ path: String) -> VoiceFailure {
    VoiceFailure(.modelMissing, message: "The file \(path) of the model is missing, or may not be read.")
  }

  static func invalid(_ path: String, _ reason: String) -> VoiceFailure {
    VoiceFailure(.modelInvalid, message: "\(path) \(reason).")
  }

  func invalid(_ reason: String) -> VoiceFailure { Self.invalid(self.path, reason) }

  /// Whether it comes from NeMo, whose decoders have a state of their own.
  var isNeMo: Bool { self.header.outputs.count > 1 || self.header.metadata["streaming_model_type"] != nil }

  func text(_ key: String) throws(VoiceFailure) -> String {
    guard let value = self.header.metadata[key], !value.isEmpty else {
      throw self.invalid(
        "has no “\(key)” in its metadata: it was not exported for streaming with sherpa-onnx")
    }
    return value
  }

  func number(_ key: String, in range: ClosedRange<Int>) throws(VoiceFailure) -> Int {
    let text = try self.text(key)
    guard let number = Int(text), range.contains(number) else {
      throw self.invalid(
        "says “\(text.prefix(40))” for “\(key)” in its metadata; \(range.lowerBound) to \(range.upperBound) is possible"
      )
    }
    return number
  }

  func numbers(_ key: String, in range: ClosedRange<Int>) throws(VoiceFailure) -> [Int] {
    let text = try self.text(key)
    let numbers = text.split(separator: ",", omittingEmptySubsequences: false).map { Int($0) ?? .min }
    guard numbers.count <= 64, numbers.allSatisfy(range.contains) else {
      throw self.invalid(
        "says “\(text.prefix(80))” for “\(key)” in its metadata; numbers from \(range.lowerBound) to "
          + "\(range.upperBound), with commas between them, are possible")
    }
    return numbers
  }

  /// The length of a dimension of an input, `nil` if it is not fixed.
  func inputLength(_ index: Int, at dimension: Int) -> Int? {
    Self.length(self.header.inputs, index, dimension)
  }

  /// The length of a dimension of an output, `nil` if it is not fixed.
  func outputLength(_ index: Int, at dimension: Int) -> Int? {
    Self.length(self.header.outputs, index, dimension)
  }

  private static func length(_ tensors: [ONNXHeader.Tensor], _ index: Int, _ dimension: Int) -> Int? {
    guard tensors.indices.contains(index), let shape = tensors[index].shape, shape.indices.contains(dimension)
    else {
      return nil
    }
    return shape[dimension]
  }

  /// Checks a length against another one, as far as both are known.
  func check(_ verb: String, _ length: Int?, _ expected: Int?, _ noun: String) throws(VoiceFailure) {
    guard let length, let expected, length != expected else { return }
    throw self.invalid(
      "\(verb) \(length) \(noun) instead of \(expected): the files of the model do not belong together")
  }

  /// Checks number and kind of what goes in and comes out, and that it has as many dimensions.
  func check(
    inputs: [ONNXHeader.ElementType], outputs: [ONNXHeader.ElementType], rank: Int
  ) throws(VoiceFailure) {
    let all = self.header.inputs + self.header.outputs
    guard self.header.inputs.map(\.type) == inputs, self.header.outputs.map(\.type) == outputs,
      all.allSatisfy({ $0.shape.map { $0.count == rank } ?? true })
    else {
      throw self.invalid("is not the network of a transducer that its name promises")
    }
  }
}
