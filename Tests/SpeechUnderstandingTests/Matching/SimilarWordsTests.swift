import Foundation
import Testing

@testable import SpeechUnderstanding

struct SimilarWordsTests {
  private func distance(_ heard: String, _ meant: String) -> Float? {
    SimilarWords(vocabulary: ["zzyzx", meant], language: EnglishPack()).matches(heard).first { $0.word == 1 }?
      .distance
  }

  // MARK: Bad input

  @Test(arguments: ["", "'", "東京", "\u{0}", "😀😀", String(repeating: "lights", count: 1000)])
  func whatIsNoWordIsLikeNone(heard: String) {
    #expect(SimilarWords(vocabulary: ["lights", "a", "two"], language: EnglishPack()).matches(heard).isEmpty)
  }

  @Test func anEmptyVocabularyHasNothingSimilar() {
    #expect(SimilarWords(vocabulary: [], language: EnglishPack()).matches("lights").isEmpty)
    #expect(SimilarWords(vocabulary: ["", "東京"], language: EnglishPack()).matches("lights").isEmpty)
  }

  // MARK: Sounds

  @Test(arguments: [
    ("to", "two"), ("too", "two"), ("to", "too"), ("write", "right"), ("flower", "flour"), ("male", "mail"),
    ("knight", "night"), ("their", "there"), ("for", "four"), ("ate", "eight"), ("here", "hear"),
    ("wait", "weight"),
    ("plane", "plain"), ("sale", "sail"), ("won", "one"), ("sun", "son"), ("meet", "meat"),
    ("brake", "break"),
    ("hole", "whole"), ("rode", "road"), ("blew", "blue"), ("2", "two"), ("hour", "our"), ("piece", "peace"),
  ])
  func wordsThatSoundAlikeAreNear(heard: String, meant: String) throws {
    let distance = try #require(self.distance(heard, meant))
    #expect(distance <= 0.35)
    #expect(distance >= 0.1, "it is still another word")
  }

  @Test(arguments: [
    ("temperature", "temprature", "temper"), ("bedroom", "badroom", "bathroom"),
    ("volume", "valium", "value"),
    ("lamp", "lump", "limb"),
  ])
  func worseMistakesAreFarther(meant: String, near: String, far: String) throws {
    let first = try #require(self.distance(near, meant))
    #expect(first < self.distance(far, meant) ?? 2)
  }

  @Test func kitchenIsLessLikeChickenThanMaleIsLikeMail() throws {
    let chicken = try #require(self.distance("chicken", "kitchen"))
    #expect(chicken > 0.45)
    #expect(try #require(self.distance("male", "mail")) < chicken)
  }

  @Test(arguments: [
    ("on", "off"), ("kitchen", "garden"), ("open", "close"), ("red", "blue"), ("lights", "music"),
    ("a", "the"),
  ])
  func otherWordsAreNotFound(heard: String, meant: String) {
    #expect(self.distance(heard, meant) == nil)
  }

  @Test(arguments: [("kitchne", "kitchen"), ("tempurature", "temperature"), ("lihgts", "lights")])
  func mistypedWordsAreFound(heard: String, meant: String) throws {
    #expect(try #require(self.distance(heard, meant)) < 0.8)
  }

  @Test func lettersAloneAreComparedWithoutALanguage() {
    let words = SimilarWords(vocabulary: ["lights", "right"])
    #expect(words.matches("lihgts").map(\.word) == [0])
    #expect(words.matches("write").isEmpty)
  }

  @Test func theNearestComeFirst() {
    let words = SimilarWords(
      vocabulary: ["bright", "rite", "night", "wrote", "right"], language: EnglishPack())
    let found = words.matches("write")
    #expect(Set(found.prefix(2).map(\.word)) == [1, 4])
    #expect(found.map(\.distance) == found.map(\.distance).sorted())
    #expect(words.matches("write") == found)
  }

  @Test func manyNeighboursAreCutToTheNearest() {
    let words = (0..<26).map { "ligh\(UnicodeScalar(UInt8(97 + $0)))s" }
    #expect(SimilarWords(vocabulary: words, language: EnglishPack()).matches("lights").count == 8)
  }
}
