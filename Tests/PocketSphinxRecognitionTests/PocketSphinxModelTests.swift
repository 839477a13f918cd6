import Foundation
import Testing
import VoiceCore

@testable import PocketSphinxRecognition

struct PocketSphinxModelTests {
  private func failure(language: String? = nil, in folder: String?) -> VoiceFailure? {
    do throws(VoiceFailure) {
      _ = try PocketSphinxModel.find(language: language, in: folder)
      return nil
    } catch {
      return error
    }
  }

  /// Runs `body` with a folder that is removed afterwards.
  private func withFolder(_ body: (String) throws -> Void) throws {
    let folder = NSTemporaryDirectory() + "model-\(UUID().uuidString)"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    try body(folder)
  }

  @Test func aMissingFolderSaysWhatToInstall() {
    let failure = failure(in: "/none-such")
    #expect(failure?.code == .modelMissing)
    #expect(failure?.message.contains("apt-get install pocketsphinx-en-us") == true)
    #expect(failure?.message.contains("/none-such") == true)
  }

  @Test func aFolderWithoutAModelIsInvalid() throws {
    try withFolder { #expect(failure(in: $0)?.code == .modelInvalid) }
    #expect(failure(in: "/etc/hostname")?.code == .modelMissing)
  }

  @Test func anUnknownLanguageNamesThoseThatAreThere() {
    let failure = failure(language: "fi-FI", in: PocketSphinxModel.systemFolder)
    #expect(failure?.code == .engineLanguageMissing)
    #expect(failure?.message.contains("en-US") == true)
  }

  @Test(arguments: ["en-US", "en-us", "en", nil])
  func findsTheInstalledModel(language: String?) throws {
    let model = try PocketSphinxModel.find(language: language, in: PocketSphinxModel.systemFolder)
    #expect(model.language == "en-US")
    #expect(model.languageModel.hasSuffix("en-us.lm.bin"))
    let direct = try PocketSphinxModel.find(in: PocketSphinxModel.systemFolder + "/en-us")
    #expect(direct == model)
  }

  @Test func listsWhatIsInstalled() {
    #expect(PocketSphinxModel.installed(in: PocketSphinxModel.systemFolder).map(\.language) == ["en-US"])
    #expect(PocketSphinxModel.installed(in: "/none-such").isEmpty)
  }

  private func loadFailure(_ model: PocketSphinxModel) -> VoiceFailure? {
    do throws(VoiceFailure) {
      _ = try PocketSphinxEngine(configuration: .init(model: model)).makeRecognizer()
      return nil
    } catch {
      return error
    }
  }

  @Test func aMissingFileIsNamed() throws {
    var model = try PocketSphinxModel.find(in: PocketSphinxModel.systemFolder)
    model.dictionary = "/none-such/words.dict"
    #expect(loadFailure(model)?.code == .modelMissing)
    #expect(loadFailure(model)?.message.contains("/none-such/words.dict") == true)
  }

  @Test(arguments: ["mdef", "means", "sendump", "transition_matrices", "feat.params"])
  func aDamagedAcousticModelFailsWithTheLibrarysReason(file: String) throws {
    try withFolder { folder in
      let good = try PocketSphinxModel.find(in: PocketSphinxModel.systemFolder)
      try FileManager.default.copyItem(atPath: good.acousticModel, toPath: "\(folder)/model")
      // Some of these make the library want to end the process.
      let garbage = file == "feat.params" ? Data("-nosuch option\n".utf8) : Data("garbage\n".utf8)
      try FileManager.default.removeItem(atPath: "\(folder)/model/\(file)")
      #expect(FileManager.default.createFile(atPath: "\(folder)/model/\(file)", contents: garbage))
      var model = good
      model.acousticModel = "\(folder)/model"
      let failure = loadFailure(model)
      #expect(failure?.code == .modelInvalid)
      #expect(failure?.cause is PocketSphinxMessages)
    }
  }

  @Test func damagedWordsFail() throws {
    try withFolder { folder in
      let good = try PocketSphinxModel.find(in: PocketSphinxModel.systemFolder)
      #expect(
        FileManager.default.createFile(atPath: "\(folder)/bad.lm.bin", contents: Data("garbage\n".utf8)))
      var model = good
      model.languageModel = "\(folder)/bad.lm.bin"
      #expect(loadFailure(model)?.code == .modelInvalid)
    }
  }
}
