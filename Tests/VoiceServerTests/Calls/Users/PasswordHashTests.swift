import CallSignaling
import Testing
import VoiceCore
import VoiceTesting

@testable import VoiceServer

@Suite struct PasswordHashTests {
  private static let cheap = PasswordHash.Cost(logRounds: 4, blockSize: 8, parallelism: 1)

  @Test func knowsItsPasswordAndNoOther() throws {
    var generator = SeededGenerator(seed: 1)
    let hash = try PasswordHash(of: "correct horse", cost: Self.cheap, using: &generator)
    #expect(hash.matches("correct horse"))
    #expect(!hash.matches("correct hors"))
    #expect(!hash.matches(""))
    let other = try PasswordHash(of: "correct horse", cost: Self.cheap, using: &generator)
    #expect(other.text != hash.text, "every hash has a salt of its own")
    #expect(PasswordHash(hash.text) == hash)
    #expect(!"\(hash)".contains(hash.text.suffix(10)))
  }

  /// RFC 7914 section 12, the second vector, cut to 32 bytes: "password", "NaCl", N=1024, r=8, p=16.
  @Test func derivesWhatTheStandardSays() throws {
    let expected = "fdbabe1c9d3472007856e7190d01e9fe7c6ad7cbc8237830e77376634b373162"
    let bytes = stride(from: 0, to: expected.count, by: 2).compactMap { index -> UInt8? in
      let start = expected.index(expected.startIndex, offsetBy: index)
      return UInt8(expected[start..<expected.index(start, offsetBy: 2)], radix: 16)
    }
    #expect(bytes.count == 32)
    // "NaCl" is shorter than the salts that are taken; the text form is only for those.
    let salted = try PasswordHash.derive(
      "password", salt: Array("NaCl".utf8), cost: .init(logRounds: 10, parallelism: 16))
    #expect(salted == bytes)
  }

  @Test(arguments: [
    "", "plain", "$scrypt$", "$scrypt$ln=14,r=8,p=1$c2FsdHNhbHQ$",
    "$argon2id$v=19$m=1,t=1,p=1$c2FsdHNhbHQ$aGFzaA",
    "$scrypt$ln=63,r=8,p=1$c2FsdHNhbHRzYWx0$aGFzaGhhc2hoYXNoaGFzaGhhc2hoYXNoaGFzaGhhc2g",
    "$scrypt$ln=14,r=1073741824,p=1$c2FsdHNhbHRzYWx0$aGFzaGhhc2hoYXNoaGFzaGhhc2hoYXNoaGFzaGhhc2g",
    "$scrypt$ln=-1,r=8,p=1$c2FsdHNhbHRzYWx0$aGFzaGhhc2hoYXNoaGFzaGhhc2hoYXNoaGFzaGhhc2g",
    "$scrypt$ln=20,r=32,p=16$c2FsdHNhbHRzYWx0$aGFzaGhhc2hoYXNoaGFzaGhhc2hoYXNoaGFzaGhhc2g",
    "$scrypt$ln=x,r=8,p=1$!$!",
  ])
  func refusesWhatIsNoHashOrTooMuchWork(_ text: String) {
    #expect(PasswordHash(text) == nil)
  }

  @Test func comparesSecretsOfAnyLength() {
    #expect(ConstantTime.equal(Secret("same"), Secret("same")))
    #expect(!ConstantTime.equal(Secret("same"), Secret("other and longer")))
    #expect(!ConstantTime.equal([1, 2, 3], [1, 2]))
    #expect(!ConstantTime.equal([1, 2, 3], [1, 2, 4]))
  }
}
