import Foundation
public import VoiceCore

/// The files of one language: acoustic model, language model and dictionary.
public struct PocketSphinxModel: Hashable, Sendable {
  /// The language as a BCP 47 tag, such as `en-US`.
  public var language: String
  /// The folder of the acoustic model, which holds `mdef`, `means` and so on.
  public var acousticModel: String
  /// The n-gram language model.
  public var languageModel: String
  /// The pronunciation dictionary.
  public var dictionary: String
  /// The n-gram model of phones, against which grammars are compared; without, speech that a grammar does not cover is
  /// not told from speech that it does.
  public var phoneModel: String?

  /// Creates a model from its files, which are not looked at.
  public init(
    language: String, acousticModel: String, languageModel: String, dictionary: String,
    phoneModel: String? = nil
  ) {
    self.language = language
    self.acousticModel = acousticModel
    self.languageModel = languageModel
    self.dictionary = dictionary
    self.phoneModel = phoneModel
  }

  /// Where Debian's packages install models.
  public static let systemFolder = "/usr/share/pocketsphinx/model"

  /// The environment variable that names another folder.
  public static let folderVariable = "VOICE_POCKETSPHINX_MODEL"

  /// The models of a folder, by language.
  ///
  /// - Parameter folder: A folder as Debian lays it out, with one folder for each language, or the folder of one
  ///   language. By default what `VOICE_POCKETSPHINX_MODEL` names, else ``systemFolder``.
  public static func installed(in folder: String? = nil) -> [PocketSphinxModel] {
    let folder = folder ?? self.defaultFolder
    let files = FileManager.default
    if let model = Self(folderOfLanguage: folder) { return [model] }
    let names = (try? files.contentsOfDirectory(atPath: folder)) ?? []
    return names.sorted().compactMap { Self(folderOfLanguage: "\(folder)/\($0)") }
  }

  /// Finds the model of a language.
  ///
  /// - Parameters:
  ///   - language: A BCP 47 tag; `nil` for the only or first model of the folder. A tag without a region matches
  ///     any region.
  ///   - folder: As for ``installed(in:)``.
  /// - Throws: ``VoiceFailure`` with code `speech.engine.model-missing`, `speech.engine.model-invalid` (the folder
  ///   is there but holds no model), or `speech.engine.language-missing`.
  public static func find(
    language: String? = nil, in folder: String? = nil
  ) throws(VoiceFailure) -> PocketSphinxModel {
    let place = folder ?? self.defaultFolder
    var isFolder = ObjCBool(false)
    guard FileManager.default.fileExists(atPath: place, isDirectory: &isFolder), isFolder.boolValue else {
      throw VoiceFailure(
        .modelMissing,
        message:
          "There is no PocketSphinx model in \(place). Install one (`apt-get install pocketsphinx-en-us`) "
          + "or name its folder in \(Self.folderVariable).")
    }
    let models = self.installed(in: place)
    guard let first = models.first else {
      throw VoiceFailure(
        .modelInvalid,
        message:
          "\(place) holds no PocketSphinx model: a folder with an acoustic model, a language model (`*.lm.bin`) "
          + "and a dictionary (`*.dict`) is expected.")
    }
    guard let language else { return first }
    guard let match = models.first(where: { Self.matches(wanted: language, has: $0.language) }) else {
      let known = models.map(\.language).joined(separator: ", ")
      throw VoiceFailure(
        .engineLanguageMissing,
        message: "PocketSphinx has no model for \(language) in \(place); it has \(known).")
    }
    return match
  }

  private static var defaultFolder: String {
    ProcessInfo.processInfo.environment[self.folderVariable].flatMap { $0.isEmpty ? nil : $0 }
      ?? self.systemFolder
  }

  private init?(folderOfLanguage folder: String) {
    let files = FileManager.default
    let names = ((try? files.contentsOfDirectory(atPath: folder)) ?? []).sorted()
    guard let acoustic = names.first(where: { files.fileExists(atPath: "\(folder)/\($0)/mdef") }) else {
      return nil
    }
    // A phone model beside the word model is for another kind of search.
    let languageModels = names.filter {
      ($0.hasSuffix(".lm.bin") || $0.hasSuffix(".lm")) && !$0.contains("phone")
    }
    guard let languageModel = languageModels.first(where: { $0.hasPrefix(acoustic) }) ?? languageModels.first,
      let dictionary = names.first(where: { $0.hasSuffix(".dict") || $0.hasSuffix(".dic") })
    else { return nil }
    self.init(
      language: Self.tag(acoustic), acousticModel: "\(folder)/\(acoustic)",
      languageModel: "\(folder)/\(languageModel)", dictionary: "\(folder)/\(dictionary)",
      phoneModel: names.first { $0.contains("phone") && $0.hasSuffix(".lm.bin") }.map { "\(folder)/\($0)" })
  }

  /// `en-US` from a folder's `en-us`.
  private static func tag(_ name: String) -> String {
    let parts = name.split(separator: "-", maxSplits: 1)
    guard parts.count == 2, parts[1].count == 2 else { return name.lowercased() }
    return "\(parts[0].lowercased())-\(parts[1].uppercased())"
  }

  private static func matches(wanted: String, has: String) -> Bool {
    let wanted = wanted.lowercased()
    let has = has.lowercased()
    return wanted == has || has.hasPrefix(wanted + "-")
  }
}
