import Testing
import VoiceCore

@testable import PocketSphinxRecognition

struct PronouncerTests {
  private let pronouncer: Pronouncer

  init() throws {
    self.pronouncer = try Pronouncer(model: PocketSphinxModel.find(language: "en-US"))
  }

  private func all(_ word: String) throws -> [String] {
    try self.pronouncer.pronunciations(of: [word]).pronunciations[word]?.map(\.description) ?? []
  }

  // MARK: Bad input

  @Test(arguments: ["東京", "😀", "привет", "a(2)", "<s>", "[NOISE]", "", "!", "--", "...", "a\u{0}b", "'"])
  func whatCannotBeSaidIsReportedByName(word: String) throws {
    let findings = try self.pronouncer.pronunciations(of: ["lights", word])
    #expect(findings.unpronounceable == [word])
    #expect(findings.pronunciations.keys.sorted() == ["lights"])
    #expect(findings.failure?.code == .wordUnpronounceable)
    #expect(findings.failure?.message.contains("“\(word)”") == true)
  }

  @Test func manyWordsThatCannotBeSaidAreNamedBriefly() throws {
    let words = (0..<30).map { "中\($0)" }
    let failure = try #require(try self.pronouncer.pronunciations(of: words).failure)
    #expect(failure.message.contains("“中0”"))
    #expect(failure.message.contains("and 20 more"))
    #expect(failure.message.contains("they sound"))
  }

  @Test func endlessWordsAreRefused() throws {
    let words = [
      String(repeating: "a", count: 10_000), String(repeating: "1", count: 10_000),
      String(repeating: "x", count: 100),
      String(repeating: "aé", count: 60),
    ]
    #expect(try self.pronouncer.pronunciations(of: words).unpronounceable.count == words.count)
  }

  @Test func phonesThatTheModelLacksAreRefused() throws {
    let model = try PocketSphinxModel.find(language: "en-US")
    let poor = Pronouncer(
      dictionary: PronunciationDictionary(path: model.dictionary),
      phones: PhoneSet(["K", "AA", "T", "L", "AE"]))
    let findings = try poor.pronunciations(of: ["kotlin", "cat", "jquery"])
    #expect(findings.pronunciations.mapValues { $0.map(\.description) } == ["cat": ["K AE T"]])
    #expect(findings.unpronounceable == ["jquery", "kotlin"])
  }

  @Test func otherLanguagesHaveTheirDictionaryAlone() throws {
    var model = try PocketSphinxModel.find(language: "en-US")
    model.language = "fr-FR"
    let findings = try Pronouncer(model: model).pronunciations(of: ["lights", "kotlin"])
    #expect(findings.unpronounceable == ["kotlin"])
    #expect(findings.derived.isEmpty)
  }

  @Test func aMissingDictionaryIsAFailure() throws {
    var model = try PocketSphinxModel.find(language: "en-US")
    model.dictionary = "/none-such/words.dict"
    let pronouncer = try Pronouncer(model: model)
    #expect(throws: VoiceFailure.self) { try pronouncer.pronunciations(of: ["lights"]) }
    model.acousticModel = "/none-such"
    #expect(throws: VoiceFailure.self) { try Pronouncer(model: model) }
  }

  // MARK: Words of the dictionary

  @Test(arguments: [
    ("lights", ["L AY T S"]), ("Lights", ["L AY T S"]), ("a", ["AH", "EY"]), ("usb", ["Y UW EH S B IY"]),
    ("o'brien", ["OW B R AY IH N"]), ("O’Brien", ["OW B R AY IH N"]), ("co-op", ["K OW AA P"]),
    ("p.m.", ["P IY EH M"]), ("café", ["K AH F EY", "K AE F EY"]), ("CAFÉ", ["K AH F EY", "K AE F EY"]),
  ])
  func wordsOfTheDictionaryAreTakenFromIt(word: String, phones: [String]) throws {
    let findings = try self.pronouncer.pronunciations(of: [word])
    #expect(findings.pronunciations[word]?.map(\.description) == phones)
    #expect(findings.derived.isEmpty)
  }

  // MARK: Words from their spelling

  @Test(arguments: [
    ("kotlin", "K AA T L IH N"), ("kubernetes", "K AH B ER N IY T S"), ("kotlin's", "K AA T L IH N Z"),
    ("jquery", "JH K ER IY"), ("3d", "TH R IY D IY"), ("mqtt", "EH M K Y UW T IY T IY"),
    ("x.q.w.", "EH K S K Y UW D AH B AH L Y UW"), ("kotlin-cat", "K AA T L IH N K AE T"),
    ("o'kotlin", "OW K AA T L IH N"), ("kótlin", "K AA T L IH N"), ("at&kotlin", "AE T AH N D K AA T L IH N"),
    ("10x", "T EH N EH K S"), ("007", "Z IH R OW Z IH R OW S EH V AH N"), ("kotlin_", "K AA T L IH N"),
    ("xbox's", "EH K S B AA K S IH Z"), ("50%", "F IH F T IY P ER S EH N T"),
    ("node.js", "N OW D JH EY EH S"),
  ])
  func otherWordsAreSaidAsTheyAreSpelled(word: String, phones: String) throws {
    let findings = try self.pronouncer.pronunciations(of: [word])
    #expect(findings.pronunciations[word]?.first?.description == phones)
    #expect(findings.derived == [word])
    #expect(findings.failure == nil)
  }

  @Test func shortWordsMayBeAbbreviations() throws {
    #expect(try self.all("gpu").contains("JH IY P IY Y UW"))
    #expect(try self.all("kotlin").count == 1)
  }

  @Test func numbersAreSaidInSeveralWays() throws {
    let ways = try self.all("747")
    #expect(ways.contains("S EH V AH N F AO R S EH V AH N"))
    #expect(ways.count >= 2)
    #expect(ways.count <= 6)
  }

  @Test func whatTheRulesGiveNoSoundsToIsSpelled() throws {
    #expect(try self.all("dde") == ["D IY D IY IY"])
    #expect(try self.pronouncer.pronunciations(of: ["jssygskhés3ddé"]).unpronounceable.isEmpty)
  }

  @Test func everyPhoneIsOneOfTheModel() throws {
    let phones = try PhoneSet(model: PocketSphinxModel.find(language: "en-US")).phones
    #expect(phones.count == 39)
    var generator = SystemRandomNumberGenerator()
    let words = (0..<2000).map { _ in
      String(
        (0..<Int.random(in: 1...14, using: &generator)).map { _ in
          "abcdefghijklmnopqrstuvwxyz'-.0123456789é".randomElement()!
        })
    }
    let findings = try self.pronouncer.pronunciations(of: words)
    for (word, ways) in findings.pronunciations {
      #expect(
        !ways.isEmpty && ways.allSatisfy { !$0.phones.isEmpty && phones.isSuperset(of: $0.phones) }, "\(word)"
      )
    }
    let unsaid = findings.unpronounceable.filter { $0.contains { $0.isLetter || $0.isNumber } }
    #expect(unsaid.isEmpty)
  }

  @Test func spellingIsReadOnManyThreadsAtOnce() async throws {
    let words = ["kotlin", "jquery", "kubernetes", "spotify", "netflix", "xyzzy", "tchaikovsky"]
    let expected = words.map { EnglishLetters.phones(of: $0) }
    await withTaskGroup(of: [[String]?].self) { group in
      for _ in 0..<16 {
        group.addTask { (0..<200).flatMap { _ in words.map { EnglishLetters.phones(of: $0) } } }
      }
      for await found in group {
        #expect(
          Set(stride(from: 0, to: found.count, by: words.count).map { Array(found[$0..<$0 + words.count]) })
            == [expected])
      }
    }
  }
}
