import Foundation
import SpeechPipeline
import Testing
import VoiceTesting

@testable import VoiceServer

@Suite struct ResumeTokensTests {
  static func bytes(_ count: Int) -> [UInt8] {
    var generator = SeededGenerator(seed: 5)
    return (0..<count).map { _ in UInt8.random(in: 0...255, using: &generator) }
  }

  @Test func anotherServersTokenDoesNotOpen() async throws {
    let mine = try await ResumeTokens(key: Fixture.key(seed: 1))
    let other = try await ResumeTokens(key: Fixture.key(seed: 2))
    let token = try #require(other.seal(RecognizerAdaptation(bytes: Self.bytes(20))))
    #expect(mine.open(token) == nil)
    #expect(other.open(token) != nil)
  }

  @Test func everyChangedByteIsNoticed() async throws {
    let tokens = try await ResumeTokens(key: Fixture.key())
    var token = try #require(tokens.seal(RecognizerAdaptation(bytes: Self.bytes(20))))
    for index in token.indices {
      token[index] ^= 1
      #expect(tokens.open(token) == nil)
      token[index] ^= 1
    }
    #expect(tokens.open(Array(token.dropLast())) == nil)
    #expect(tokens.open(token + [0]) == nil)
  }

  @Test(arguments: [
    "", "yes", "====", "not base64!", "AQ==", String(repeating: "A", count: 1_000_000),
    String(repeating: "A", count: 44),
  ])
  func garbageDoesNotOpen(_ text: String) async throws {
    #expect(try await ResumeTokens(key: Fixture.key()).open(text: text) == nil)
  }

  @Test(arguments: [1, 20, 4096])
  func whatWasSealedComesBack(_ count: Int) async throws {
    let tokens = try await ResumeTokens(key: Fixture.key())
    let adaptation = RecognizerAdaptation(bytes: Self.bytes(count))
    let token = try #require(tokens.seal(adaptation))
    #expect(tokens.open(token) == adaptation)
    #expect(tokens.open(text: Data(token).base64EncodedString()) == adaptation)
  }

  @Test func nothingLearnedIsATokenToo() async throws {
    let tokens = try await ResumeTokens(key: Fixture.key())
    let token = try #require(tokens.seal(nil))
    #expect(tokens.open(token) == RecognizerAdaptation(bytes: []))
  }

  @Test func whatIsTooLargeIsNotSealed() async throws {
    let tokens = try await ResumeTokens(key: Fixture.key())
    #expect(tokens.seal(RecognizerAdaptation(bytes: Self.bytes(4097))) == nil)
  }

  /// An access token's key must not make resume tokens.
  @Test func theKeyIsDerived() async throws {
    let tokens = try await ResumeTokens(key: Fixture.key())
    let token = try #require(tokens.seal(nil))
    let access = try await Fixture.authority().issue(.application(Fixture.appID), deviceID: Fixture.deviceID)
    #expect(!Data(token).base64EncodedString().contains(access.text.suffix(43)))
  }
}
