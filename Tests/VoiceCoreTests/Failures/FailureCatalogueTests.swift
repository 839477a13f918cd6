import Foundation
import Testing
import VoiceCore

@Suite struct FailureCatalogueTests {
  static let definitions = FailureCatalogue.areas.flatMap(\.definitions)

  static let packageRoot = URL(filePath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent()

  /// The text of every Swift file under a folder of the package, by path relative to the package.
  static func sources(under folder: String) throws -> [String: String] {
    let root = packageRoot.appending(path: folder)
    let enumerator = try #require(FileManager.default.enumerator(at: root, includingPropertiesForKeys: nil))
    var sources: [String: String] = [:]
    for case let file as URL in enumerator where file.pathExtension == "swift" {
      sources[String(file.path.dropFirst(packageRoot.path.count + 1))] = try String(
        contentsOf: file, encoding: .utf8)
    }
    return sources
  }

  @Test func everyDeclaredCodeIsInTheCatalogueOnce() throws {
    var declared: [String] = []
    for text in try Self.sources(under: "Sources/VoiceCore/Failures").values {
      declared += text.matches(of: /static let \w+\s*=\s*Self\(\s*"([^"]*)"/).map { String($0.1) }
    }
    #expect(declared.count > 40, "the scan of the sources finds the declarations")
    #expect(Set(declared).count == declared.count, "no code has two names")
    let listed = Self.definitions.map(\.code.rawValue)
    #expect(listed.sorted() == declared.sorted())
  }

  @Test func noCodeIsMadeOutsideTheCatalogue() throws {
    let pattern = /(?:VoiceFailure\.)?\bCode\(\s*"/
    for (path, text) in try Self.sources(under: "Sources") {
      #expect(
        text.firstMatch(of: pattern) == nil,
        "\(path) makes a failure code; declare it in Sources/VoiceCore/Failures and list it in the catalogue")
    }
  }

  @Test(arguments: definitions.map(\.code)) func codesAreWellFormed(code: VoiceFailure.Code) {
    let word = "[a-z][a-z0-9]*(-[a-z0-9]+)*"
    let matches = code.rawValue.range(of: "^\(word)(\\.\(word)){1,2}$", options: .regularExpression) != nil
    #expect(matches, "lower-case words joined by dots and hyphens")
  }

  @Test(arguments: definitions.map(\.code)) func everyTextIsASentence(code: VoiceFailure.Code) throws {
    let definition = try #require(FailureCatalogue.definition(of: code))
    #expect(definition.code == code)
    for text in [definition.happens, definition.response, definition.advice] {
      #expect(text.hasSuffix("."), "\(text)")
      #expect(text.first?.isUppercase == true, "\(text)")
      #expect(!text.contains("\n"), "\(text)")
    }
    #expect(!definition.reproduce.isEmpty)
    if case .changeConfiguration(let what) = definition.recovery { #expect(!what.isEmpty) }
  }

  @Test func anUnknownCodeHasNoRow() {
    #expect(FailureCatalogue.definition(of: VoiceFailure.Code("no.such")) == nil)
    #expect(FailureCatalogue.definition(of: VoiceFailure.Code("")) == nil)
  }

  @Test func everyRowIsInTheText() {
    let text = FailureCatalogue.markdown()
    for definition in Self.definitions {
      #expect(text.contains("### `\(definition.code)`\n\n\(definition.happens)\n"))
    }
    for area in FailureCatalogue.areas {
      #expect(text.contains("## \(area.title)\n"))
      #expect(!area.definitions.isEmpty)
    }
  }

  /// `make docs` runs this test with `VOICE_UPDATE_DOCS=1`, which writes the page before it is compared.
  @Test func thePageIsUpToDate() throws {
    let page = Self.packageRoot.appending(path: "docs/failures.md")
    let current = FailureCatalogue.markdown()
    if ProcessInfo.processInfo.environment["VOICE_UPDATE_DOCS"] == "1" {
      try FileManager.default.createDirectory(
        at: page.deletingLastPathComponent(), withIntermediateDirectories: true)
      try Data(current.utf8).write(to: page, options: .atomic)
    }
    let isUpToDate = (try? Data(contentsOf: page)) == Data(current.utf8)
    #expect(isUpToDate, "docs/failures.md is not what the catalogue says: run make docs")
  }
}
