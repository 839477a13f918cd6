import CPocketSphinx
import CPocketSphinxShim
import Foundation
import VoiceCore

/// What the library reported before it failed; for developers.
public struct PocketSphinxMessages: Error, Hashable, Sendable, CustomStringConvertible {
  /// The library's lines.
  public let lines: [String]

  public var description: String { self.lines.joined(separator: " | ") }
}

/// The library's log, which is one for the process.
enum PocketSphinxLog {
  private static let isSilent: Bool = {
    vps_silence_log()
    return true
  }()

  /// Silences the log; the first call does it.
  static func silence() {
    _ = self.isSilent
  }

  /// The warnings and errors since the last call on this thread, or `nil` if there were none.
  static func takeMessages() -> PocketSphinxMessages? {
    var buffer = [CChar](repeating: 0, count: 4096)
    let count = vps_take_messages(&buffer, buffer.count)
    let text = String(decoding: buffer.prefix(count).map(UInt8.init(bitPattern:)), as: UTF8.self)
    let lines = text.split(whereSeparator: \.isNewline).map { $0.trimmingCharacters(in: .whitespaces) }
    return lines.isEmpty ? nil : PocketSphinxMessages(lines: lines)
  }
}

extension PocketSphinxRecognizer {
  /// Loads the model, or says why that is impossible.
  static func makeDecoder(_ configuration: PocketSphinxEngine.Configuration) throws(VoiceFailure)
    -> OpaquePointer
  {
    let model = configuration.model
    for file in ["\(model.acousticModel)/mdef", model.languageModel, model.dictionary]
    where !FileManager.default.isReadableFile(atPath: file) {
      throw VoiceFailure(
        .modelMissing,
        message: "The PocketSphinx model lacks \(file). Install one (`apt-get install pocketsphinx-en-us`) "
          + "or name its folder in \(PocketSphinxModel.folderVariable).")
    }
    _ = PocketSphinxLog.takeMessages()
    let arguments = Self.arguments(configuration)
    var pointers = arguments.map { strdup($0) }
    defer { pointers.forEach { free($0) } }
    guard let decoder = vps_create(Int32(pointers.count), &pointers) else {
      throw VoiceFailure(
        .modelInvalid, message: "The PocketSphinx model in \(model.acousticModel) cannot be used.",
        cause: PocketSphinxLog.takeMessages())
    }
    return decoder
  }

  private static func arguments(_ configuration: PocketSphinxEngine.Configuration) -> [String] {
    let model = configuration.model
    return [
      "swift-voice",
      "-hmm", model.acousticModel,
      "-lm", model.languageModel,
      "-dict", model.dictionary,
      "-samprate", "16000",
      "-maxhmmpf", String(configuration.maximumActiveStates),
      "-maxwpf", String(configuration.maximumWordEnds),
      "-fwdflat", configuration.searchesTwice ? "yes" : "no",
      "-bestpath", configuration.usesBestPath ? "yes" : "no",
      // The same audio must always give the same words.
      "-dither", "no",
      "-remove_silence", "yes",
      "-vad_prespeech", String(Self.framesBeforeSpeech),
      "-vad_postspeech", String(Self.framesAfterSpeech),
    ]
  }
}
