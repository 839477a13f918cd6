import Foundation
import JWTKit
import Testing
import VoiceCore
import VoiceTesting

@testable import VoiceServer

/// The recipe of the protocol document (2.3): tokens that every published client accepts.
@Suite struct TokenAuthorityTests {
  static let now: Int64 = 1_700_000_000

  static func parts(_ token: String) -> [String] {
    token.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
  }

  /// Decodes as the first Swift client does: plain base64 with the wrong padding, no other alphabet.
  static func decodedByTheOldSwiftClient(_ part: String) -> [String: Any]? {
    let padded = part + String(repeating: "=", count: part.count % 4)
    return Data(base64Encoded: padded).flatMap {
      try? JSONSerialization.jsonObject(with: $0) as? [String: Any]
    }
  }

  static func claims(_ token: String) throws -> [String: Any] {
    let parts = Self.parts(token)
    try #require(parts.count == 3)
    return try #require(Self.decodedByTheOldSwiftClient(parts[1]))
  }

  @Test func anApplicationTokenHasNoProject() async throws {
    let token = try await Fixture.authority().issue(.application(Fixture.appID), deviceID: Fixture.deviceID)
    let claims = try Self.claims(token.text)
    #expect(claims["appId"] as? String == Fixture.appID)
    #expect(claims.keys.contains("projectId") == false)
  }

  @Test func aProjectTokenHasNoApplication() async throws {
    let token = try await Fixture.authority().issue(.project(Fixture.projectID), deviceID: Fixture.deviceID)
    let claims = try Self.claims(token.text)
    #expect(claims["projectId"] as? String == Fixture.projectID)
    #expect(claims.keys.contains("appId") == false)
  }

  @Test(arguments: [
    Fixture.appID, "AAAAAAAA-0000-4000-8000-00000000BBBB", "aAaAaAaA-0000-4000-8000-00000000bBbB",
  ])
  func identifiersComeBackExactlyAsSent(_ id: String) async throws {
    let token = try await Fixture.authority().issue(.application(id), deviceID: id)
    let claims = try Self.claims(token.text)
    #expect(claims["appId"] as? String == id)
    #expect(claims["deviceId"] as? String == id)
  }

  @Test func theLifetimeIsADayAndTheExpiryAWholeNumber() async throws {
    let authority = await Fixture.authority(now: Self.now)
    let token = try await authority.issue(.application(Fixture.appID), deviceID: Fixture.deviceID)
    #expect(token.expiresAt == Self.now + 86_400)
    #expect(token.validFor == 86_400)
    let payload = try #require(Data(base64Encoded: Self.padded(Self.parts(token.text)[1])))
    let text = String(decoding: payload, as: UTF8.self)
    #expect(text.contains("\"exp\":\(Self.now + 86_400),") || text.contains("\"exp\":\(Self.now + 86_400)}"))
  }

  static func padded(_ part: String) -> String {
    part + String(repeating: "=", count: (4 - part.count % 4) % 4)
  }

  /// Expiry times of different length and optional claims give payloads of every length.
  @Test(arguments: 0..<60)
  func everyClientCanDecodeThePayload(_ variant: Int) async throws {
    let now = [1, 1_000, 1_700_000_000, 99_999_999_999, 7][variant % 5] + Int64(variant)
    let config = variant % 3 == 0 ? nil : String(repeating: "c", count: variant)
    let authority = await Fixture.authority(now: now)
    let token = try await authority.issue(
      variant % 2 == 0 ? .application(Fixture.appID) : .project(Fixture.projectID),
      deviceID: Fixture.deviceID, configID: config)
    let parts = Self.parts(token.text)
    try #require(parts.count == 3)
    #expect([0, 2].contains(parts[1].utf8.count % 4))
    #expect(!parts[1].contains("-") && !parts[1].contains("_"))
    #expect(!token.text.contains("="))
    #expect(Self.decodedByTheOldSwiftClient(parts[1]) != nil)
    #expect(try await authority.verify(token.text).configId == config)
  }

  @Test func theAudienceIsOneString() async throws {
    let token = try await Fixture.authority().issue(.application(Fixture.appID), deviceID: Fixture.deviceID)
    let claims = try Self.claims(token.text)
    #expect(claims["aud"] as? String == "swift-voice")
    #expect(claims["iss"] as? String == "swift-voice")
    #expect(claims["scope"] as? String == "slu wlu")
  }

  @Test func theAlgorithmIsOneThatTheGoClientKnows() async throws {
    let token = try await Fixture.authority().issue(.application(Fixture.appID), deviceID: Fixture.deviceID)
    let header = try #require(Data(base64Encoded: Self.padded(Self.parts(token.text)[0])))
    let fields = try #require(try JSONSerialization.jsonObject(with: header) as? [String: Any])
    #expect(fields["alg"] as? String == "HS256")
    #expect(fields["typ"] as? String == "JWT")
  }

  @Test func acceptsItsOwnToken() async throws {
    let authority = await Fixture.authority()
    let token = try await authority.issue(.application(Fixture.appID), deviceID: Fixture.deviceID)
    let claims = try await authority.verify(token.text)
    #expect(claims.appId == Fixture.appID)
    #expect(claims.deviceId == Fixture.deviceID)
  }

  static func code(of token: String, at now: Int64 = now) async -> VoiceFailure.Code? {
    do {
      _ = try await Fixture.authority(now: now).verify(token)
      return nil
    } catch {
      return error.code
    }
  }

  @Test(
    arguments: [
      (0, nil), (86_399, nil), (86_400 + 29, nil), (86_400 + 30, VoiceFailure.Code.tokenExpired),
      (864_000, .tokenExpired),
    ] as [(Int64, VoiceFailure.Code?)])
  func aTokenExpiresAfterItsLifetimeAndALittleSkew(
    _ age: Int64, _ code: VoiceFailure.Code?
  ) async throws {
    let token = try await Fixture.authority(now: Self.now).issue(
      .application(Fixture.appID), deviceID: Fixture.deviceID)
    #expect(await Self.code(of: token.text, at: Self.now + age) == code)
  }

  @Test func anotherServersTokenIsRejected() async throws {
    let token = try await Fixture.authority(key: Fixture.key(seed: 2)).issue(
      .application(Fixture.appID), deviceID: Fixture.deviceID)
    #expect(await Self.code(of: token.text) == .credentialsRejected)
  }

  @Test func everyChangedCharacterIsNoticed() async throws {
    let token = try await Fixture.authority().issue(.application(Fixture.appID), deviceID: Fixture.deviceID)
    var characters = Array(token.text.utf8)
    // The last character of the signature holds spare bits, so the one before it is the last to try.
    for index in stride(from: 0, to: characters.count - 1, by: 7) {
      let kept = characters[index]
      characters[index] = kept == UInt8(ascii: "A") ? UInt8(ascii: "B") : UInt8(ascii: "A")
      #expect(await Self.code(of: String(decoding: characters, as: UTF8.self)) == .credentialsRejected)
      characters[index] = kept
    }
  }

  @Test(arguments: [
    "", ".", "..", "...", "a.b.c", "e30.e30.", "e30.e30.e30", String(repeating: "x", count: 100_000),
    "Ünïcode.Ünïcode.Ünïcode", "eyJhbGciOiJIUzI1NiJ9..",
  ])
  func garbageIsRejected(_ token: String) async {
    #expect(await Self.code(of: token) == .credentialsRejected)
  }

  static func base64URL(_ text: String) -> String {
    Data(text.utf8).base64EncodedString().replacingOccurrences(of: "+", with: "-")
      .replacingOccurrences(of: "/", with: "_").replacingOccurrences(of: "=", with: "")
  }

  @Test(arguments: ["none", "None", "RS256", "HS512", ""])
  func anotherAlgorithmInTheHeaderIsRejected(_ algorithm: String) async throws {
    let genuine = try await Fixture.authority().issue(.application(Fixture.appID), deviceID: Fixture.deviceID)
    let parts = Self.parts(genuine.text)
    let header = Self.base64URL("{\"alg\":\"\(algorithm)\",\"typ\":\"JWT\"}")
    for signature in ["", parts[2]] {
      #expect(await Self.code(of: "\(header).\(parts[1]).\(signature)") == .credentialsRejected)
    }
    // Even with a signature that our key made over the changed header.
    let key = try await JWTKeyCollection().add(
      hmac: HMACKey(from: Fixture.key().bytes), digestAlgorithm: .sha256
    ).getKey()
    let signature = Data(try key.sign(Array("\(header).\(parts[1])".utf8)))
    let text = signature.base64EncodedString().replacingOccurrences(of: "+", with: "-")
      .replacingOccurrences(of: "/", with: "_").replacingOccurrences(of: "=", with: "")
    #expect(await Self.code(of: "\(header).\(parts[1]).\(text)") == .credentialsRejected)
  }

  @Test func aTokenForBothOrNeitherIsRejected() async throws {
    let keys = await JWTKeyCollection().add(
      hmac: HMACKey(from: Fixture.key().bytes), digestAlgorithm: .sha256)
    var claims = AccessClaims(
      scope: "slu", deviceId: Fixture.deviceID, configId: nil, exp: Self.now + 100, iss: "x", aud: "x")
    #expect(await Self.code(of: try keys.sign(claims)) == .credentialsRejected)
    claims.appId = Fixture.appID
    #expect(await Self.code(of: try keys.sign(claims)) == nil)
    claims.projectId = Fixture.projectID
    #expect(await Self.code(of: try keys.sign(claims)) == .credentialsRejected)
  }
}
