import Foundation
import Testing
import VoiceCore
import VoiceTesting

@testable import SpeechUnderstanding

struct GrammarCacheTests {
  private static func program(_ name: String = "lights", values: Int = 50) -> SALProgram {
    let list = SALItem.Kind.list(
      (0..<values).map { SALAlternative(SAL.words("\(name) \($0)"), weight: Double($0 + 1)) })
    let template =
      SAL.intent("turn_on") + SAL.words("turn on") + SAL.entity("device", SALExpression([SAL.item(list)]))
      + SAL.optional(SAL.words("in the") + SAL.entity("room", SAL.variable("room")), 0.3)
      + SAL.permutation(
        SAL.words("now"), SAL.words("please"), SAL.words("at") + SALExpression([SAL.item(.numbers(1...40))]))
    return SALProgram(
      templates: [SALTemplate(template, at: SAL.place)],
      variables: ["room": SAL.list(SAL.words("kitchen"), SAL.words("living room"))])
  }

  private static func compile(_ program: SALProgram) throws(GrammarFailure) -> Grammar {
    var builder = GrammarBuilder(program: program, language: SAL.Digits())
    return try builder.build()
  }

  private func get(
    _ program: SALProgram = Self.program(), from cache: GrammarCache
  ) throws -> (grammar: Grammar, outcome: GrammarCache.Outcome) {
    let (grammar, outcome) = try cache.grammar(for: program, language: SAL.Digits()) {
      () throws(GrammarFailure) in
      try Self.compile(program)
    }
    return (grammar, outcome)
  }

  private func file(in folder: URL) throws -> URL {
    let names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
    return folder.appending(path: try #require(names.first { $0.hasSuffix(".grammar") }))
  }

  // MARK: Bad input

  @Test(arguments: [
    "", "x", "swift-voice grammar\n", "swift-voice grammar\n\u{1}\u{0}\u{0}\u{0}12345678", "<html>", "\u{0}",
  ])
  func aForeignFileIsIgnoredReportedAndReplaced(content: String) async throws {
    try await withTemporaryFolder { folder in
      let cache = GrammarCache(folder: folder.path)
      #expect(try self.get(from: cache).outcome.source == .stored)
      try Data(content.utf8).write(to: try self.file(in: folder))
      let second = try self.get(from: cache)
      #expect(second.outcome.source == .stored)
      #expect(second.outcome.problems.map(\.code) == [.cacheDamaged])
      #expect(second.outcome.problems.first?.message.contains(folder.path) == true)
      #expect(try self.get(from: cache).outcome.source == .loaded)
    }
  }

  @Test func aFileThatIsCutOffAnywhereIsIgnored() async throws {
    try await withTemporaryFolder { folder in
      let cache = GrammarCache(folder: folder.path)
      let expected = try self.get(from: cache).grammar
      let whole = try Data(contentsOf: try self.file(in: folder))
      for length in stride(from: 0, to: whole.count, by: max(1, whole.count / 97)) {
        try whole.prefix(length).write(to: try self.file(in: folder))
        let found = try self.get(from: cache)
        #expect(found.outcome.problems.map(\.code) == [.cacheDamaged])
        #expect(found.grammar.arcs == expected.arcs)
      }
    }
  }

  @Test func aFolderOrAPipeInPlaceOfTheFileIsReported() async throws {
    try await withTemporaryFolder { folder in
      let cache = GrammarCache(folder: folder.path)
      let path = cache.path(of: Self.program().encoded(for: SAL.Digits()))
      try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
      let first = try self.get(from: cache)
      #expect(first.outcome.source == .compiled)
      #expect(Set(first.outcome.problems.map(\.code)) == [.cacheDamaged, .cacheNotWritable])
      try FileManager.default.removeItem(atPath: path)
      #expect(mkfifo(path, 0o600) == 0)
      #expect(try self.get(from: cache).outcome.problems.map(\.code) == [.cacheDamaged])
      #expect(try self.get(from: cache).outcome.source == .loaded)
    }
  }

  @Test(arguments: ["/proc/none-such", "/dev/null/cache"])
  func aFolderThatCannotBeMadeCostsNothingButTime(folder: String) throws {
    let found = try self.get(from: GrammarCache(folder: folder))
    #expect(found.outcome.source == .compiled)
    #expect(found.outcome.problems.map(\.code) == [.cacheNotWritable])
    #expect(found.grammar.utteranceCount > 1000)
  }

  @Test func whatCannotBeCompiledIsNotKept() async throws {
    try await withTemporaryFolder { folder in
      var program = Self.program()
      program.variables = [:]
      #expect(throws: GrammarFailure.self) { try self.get(program, from: GrammarCache(folder: folder.path)) }
      let names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
      #expect(names.isEmpty)
    }
  }

  // MARK: Hits

  @Test func theSecondTimeIsLoadedAndEqual() async throws {
    try await withTemporaryFolder { folder in
      let cache = GrammarCache(folder: folder.appending(path: "deep/er").path)
      let first = try self.get(from: cache)
      let second = try self.get(from: cache)
      #expect(first.outcome.source == .stored)
      #expect(second.outcome.source == .loaded)
      #expect(second.outcome.problems.isEmpty)
      #expect(first.grammar.arcs == second.grammar.arcs)
      #expect(first.grammar.arcStarts == second.grammar.arcStarts)
      #expect(first.grammar.words == second.grammar.words)
      let text = "turn on lights 7 in the living room please at d3 d1 now"
      let found = GrammarMatcher.interpretations(of: text, in: second.grammar)
      #expect(found == GrammarMatcher.interpretations(of: text, in: first.grammar))
      #expect(found.first?.edits == [])
    }
  }

  @Test func aChangeOfProgramOrLanguageIsAnotherGrammar() throws {
    struct Later: LanguagePack {
      var language = "en"
      var version = "2"
      var standardVariables: [String: String] { [:] }
      var fillers: Set<String> { [] }
      func spokenForms(of number: Int) -> [[String]] { [["\(number)"]] }
      func normalForm(of words: [String], as type: EntityType, in context: ValueContext) -> String? { nil }
      func spokenForm(of value: String, as type: EntityType, in context: ValueContext) -> [String]? { nil }
    }
    var all: [[UInt8]] = [
      Self.program().encoded(for: SAL.Digits()), Self.program("lamps").encoded(for: SAL.Digits()),
      Self.program(values: 51).encoded(for: SAL.Digits()), Self.program().encoded(for: Later()),
      Self.program().encoded(for: Later(language: "fi")),
    ]
    var other = Self.program()
    other.variables["room"] = SAL.list(SAL.words("kitchen"), SAL.words("bed room"))
    all.append(other.encoded(for: SAL.Digits()))
    #expect(Set(all).count == all.count)
    let cache = GrammarCache(folder: "/cache")
    let paths = Set(all.map { cache.path(of: $0) })
    #expect(paths.count == all.count)
    var moved = Self.program()
    moved.templates[0].range.line = 77
    #expect(moved.encoded(for: SAL.Digits()) == all[0])
  }

  @Test func theFilesThatWereNotUsedForLongestGoFirst() async throws {
    try await withTemporaryFolder { folder in
      let large = GrammarCache(folder: folder.path)
      let names = ["a", "b", "c"]
      for (age, name) in names.enumerated() {
        #expect(try self.get(Self.program(name), from: large).outcome.source == .stored)
        let path = large.path(of: Self.program(name).encoded(for: SAL.Digits()))
        let used = Date(timeIntervalSince1970: 1_700_000_000 + Double(age))
        try FileManager.default.setAttributes([.modificationDate: used], ofItemAtPath: path)
      }
      try Data("mine".utf8).write(to: folder.appending(path: "other.txt"))
      // Using the oldest makes it the newest.
      #expect(try self.get(Self.program("a"), from: large).outcome.source == .loaded)
      let size = try Data(contentsOf: try self.file(in: folder)).count
      let small = GrammarCache(folder: folder.path, maximumBytes: size * 3 + size / 2)
      #expect(try self.get(Self.program("d"), from: small).outcome.source == .stored)
      #expect(try self.get(Self.program("a"), from: small).outcome.source == .loaded)
      #expect(try self.get(Self.program("c"), from: small).outcome.source == .loaded)
      #expect(try self.get(Self.program("b"), from: small).outcome.source == .stored)
      #expect(FileManager.default.fileExists(atPath: folder.appending(path: "other.txt").path))
    }
  }

  @Test func whatIsTooLargeIsNotKept() async throws {
    try await withTemporaryFolder { folder in
      let cache = GrammarCache(folder: folder.path, maximumBytes: 100)
      #expect(try self.get(from: cache).outcome.source == .compiled)
      let names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
      #expect(names.isEmpty)
    }
  }
}
