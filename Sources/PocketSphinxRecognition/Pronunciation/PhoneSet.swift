import Foundation
import VoiceCore

/// The phones that an acoustic model knows, as its definition file lists them.
struct PhoneSet: Hashable, Sendable {
  /// The phones of words; the model's noises, such as `+SPN+` and `SIL`, are none.
  let phones: Set<String>

  init(_ phones: Set<String>) {
    self.phones = phones
  }

  /// Reads the definition file of a model, in its binary or its text form.
  ///
  /// - Throws: ``VoiceFailure`` with code `speech.engine.model-missing` or `speech.engine.model-invalid`.
  init(model: PocketSphinxModel) throws(VoiceFailure) {
    let path = "\(model.acousticModel)/mdef"
    guard let file = FileManager.default.contents(atPath: path) else {
      throw VoiceFailure(.modelMissing, message: "The PocketSphinx model lacks \(path).")
    }
    guard let names = Self.binary(file) ?? Self.text(file) else {
      throw VoiceFailure(.modelInvalid, message: "\(path) lists no phones: it is no model definition.")
    }
    self.phones = Set(names.filter { $0.first?.isLetter == true && $0 != "SIL" })
    guard !self.phones.isEmpty else {
      throw VoiceFailure(.modelInvalid, message: "\(path) lists no phones.")
    }
  }

  /// No language has as many.
  private static let mostPhones = 1024

  /// `BMDF`, a version, a description with its length, ten numbers of which the first counts the phones, and their names.
  private static func binary(_ file: Data) -> [String]? {
    let bytes = [UInt8](file.prefix(1 << 16))
    guard bytes.prefix(4).elementsEqual("BMDF".utf8) || bytes.prefix(4).elementsEqual("FDMB".utf8) else {
      return nil
    }
    let isSwapped = bytes.first == UInt8(ascii: "F")
    func number(at offset: Int) -> Int? {
      guard offset >= 0, offset <= bytes.count - 4 else { return nil }
      let four = bytes[offset..<offset + 4]
      return (isSwapped ? Array(four) : four.reversed()).reduce(0) { $0 << 8 | Int($1) }
    }
    guard let description = number(at: 8), description < bytes.count else { return nil }
    let numbers = 12 + description
    guard let count = number(at: numbers), (1...Self.mostPhones).contains(count), numbers + 40 <= bytes.count
    else { return nil }
    let names = bytes[(numbers + 40)...].split(
      separator: 0, maxSplits: count, omittingEmptySubsequences: false)
    guard names.count > count else { return nil }
    return names.prefix(count).map { String(decoding: $0, as: UTF8.self) }
  }

  /// In a text, a phone without neighbours has dashes in their place: `AA - - - n/a …`.
  private static func text(_ file: Data) -> [String]? {
    guard let text = String(bytes: file.prefix(1 << 20), encoding: .utf8) else { return nil }
    let names = text.split(whereSeparator: \.isNewline).compactMap { line -> String? in
      let fields = line.split(separator: " ", maxSplits: 4)
      guard fields.count > 4, fields[1...3].allSatisfy({ $0 == "-" }) else { return nil }
      return String(fields[0])
    }
    return names.isEmpty ? nil : names
  }
}
