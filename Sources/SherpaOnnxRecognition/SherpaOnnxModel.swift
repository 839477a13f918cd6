import Foundation
public import VoiceCore

/// The files of a streaming transducer model for sherpa-onnx.
public struct SherpaOnnxModel: Hashable, Sendable {
  /// The encoder, an ONNX file.
  public var encoder: String
  /// The decoder, an ONNX file.
  public var decoder: String
  /// The joiner, an ONNX file.
  public var joiner: String
  /// The list of tokens, `tokens.txt`.
  public var tokens: String
  /// The pieces of words with their scores, `bpe.vocab`; without, a vocabulary cannot be preferred.
  public var pieceScores: String?

  /// Creates a model from its files, which are not looked at.
  public init(encoder: String, decoder: String, joiner: String, tokens: String, pieceScores: String? = nil) {
    self.encoder = encoder
    self.decoder = decoder
    self.joiner = joiner
    self.tokens = tokens
    self.pieceScores = pieceScores
  }

  /// The environment variable that names the folder of the model.
  public static let folderVariable = "VOICE_SHERPA_MODEL"

  /// Finds the files of a model in its folder, as published models are laid out.
  ///
  /// The files are `encoder*.onnx`, `decoder*.onnx`, `joiner*.onnx` and `tokens.txt`, and perhaps `bpe.vocab`. Where there is a
  /// file with whole numbers beside it (`*.int8.onnx`), the other is taken.
  ///
  /// - Throws: ``VoiceFailure`` with code `speech.engine.model-missing` if there is no such folder or one of the files is
  ///   missing, which it names; `speech.engine.model-invalid` if it is not clear which file is meant.
  public static func find(in folder: String) throws(VoiceFailure) -> SherpaOnnxModel {
    var isFolder = ObjCBool(false)
    guard FileManager.default.fileExists(atPath: folder, isDirectory: &isFolder), isFolder.boolValue else {
      throw VoiceFailure(
        .modelMissing,
        message:
          "There is no folder \(folder). Name the folder of a streaming transducer model for sherpa-onnx, or set "
          + "\(Self.folderVariable).")
    }
    let names = ((try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []).sorted()
    func file(_ name: String) -> String? { names.contains(name) ? "\(folder)/\(name)" : nil }
    guard let tokens = file("tokens.txt") else { throw Self.missing("tokens.txt", in: folder) }
    return SherpaOnnxModel(
      encoder: "\(folder)/\(try Self.network("encoder", among: names, in: folder))",
      decoder: "\(folder)/\(try Self.network("decoder", among: names, in: folder))",
      joiner: "\(folder)/\(try Self.network("joiner", among: names, in: folder))",
      tokens: tokens, pieceScores: file("bpe.vocab"))
  }

  private static func network(
    _ kind: String, among names: [String], in folder: String
  ) throws(VoiceFailure) -> String {
    let all = names.filter { $0.hasPrefix(kind) && $0.hasSuffix(".onnx") }
    let floats = all.filter { !$0.hasSuffix(".int8.onnx") }
    let candidates = floats.isEmpty ? all : floats
    guard let first = candidates.first else { throw self.missing("\(kind).onnx", in: folder) }
    guard candidates.count == 1 else {
      throw VoiceFailure(
        .modelInvalid,
        message: "\(folder) holds several \(kind)s (\(candidates.joined(separator: ", "))): keep one of them."
      )
    }
    return first
  }

  private static func missing(_ name: String, in folder: String) -> VoiceFailure {
    VoiceFailure(
      .modelMissing,
      message:
        "\(folder) holds no \(name). A streaming transducer model for sherpa-onnx has the files encoder*.onnx, "
        + "decoder*.onnx, joiner*.onnx and tokens.txt.")
  }
}
